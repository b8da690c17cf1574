#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_exec_race.sh - a program's name is exchanged while it is started, and another thread calls meanwhile.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
cd "$tmp" || exit 1
sources=$root/tests/e2e
compile exec_race gcc -D_GNU_SOURCE -O1 -static -pthread "$sources/exec_race.c" || skip_all 'no static libc'
race=$compiled
mkdir work bin
printf 'int main(void) { return 0; }\n' >allowed.c
printf '#include <fcntl.h>\nint main(void) { return open("ran", 0101, 0600) < 0; }\n' >denied.c
gcc -O1 -static -o bin/allowed allowed.c && gcc -O1 -static -o bin/denied denied.c || skip_all 'no static libc'
cd work || exit 1
tries=${AW_RACE_TRIES:-400}

"$race" "$tmp/bin/allowed" "$tmp/bin/denied" 60 >"$tmp/bare"
is 'allowed ran, denied ran' 'without a watch both run' "$(cat "$tmp/bare")"
rm -f ran

policy() { printf 'version: 1\nmode: enforce\nfilesystem: {default: read-only, write: ["%s"]}\nexec: %s\n' "$PWD" "$1" >"$tmp/policy.yaml"; }
for engine in hybrid kernel; do
	policy "{deny: [\"$tmp/bin/denied\"]}"
	"$AGENTWATCH" run --quiet --log none --engine "$engine" --policy "$tmp/policy.yaml" -- "$race" "$tmp/bin/allowed" "$tmp/bin/denied" "$tries" >"$tmp/out" 2>&1
	is 'allowed ran, denied never ran' "$engine: a program that a rule denies" "$(tail -n 1 "$tmp/out")"
	rm -f ran
	policy "{default: deny, allow: [\"$race\", \"$tmp/bin/allowed\"]}"
	"$AGENTWATCH" run --quiet --log none --engine "$engine" --policy "$tmp/policy.yaml" -- "$race" "$tmp/bin/allowed" "$tmp/bin/denied" "$tries" >"$tmp/out" 2>&1
	is 'allowed ran, denied never ran' "$engine: one that no rule names, where the default is deny" "$(tail -n 1 "$tmp/out")"
	rm -f ran
done

# What an exec may become all the same.
policy "{default: deny, allow: [\"$tmp/bin/script\", /usr/bin/env, \"$tmp/bin/again\"]}"
printf '#!%s\n' "$tmp/bin/inner" >"$tmp/bin/script"
printf '#!/bin/sh\necho inner\n' >"$tmp/bin/inner"
chmod 755 "$tmp/bin/script" "$tmp/bin/inner"
run() { "$AGENTWATCH" run --quiet --log none --policy "$tmp/policy.yaml" -- "$@" 2>&1; }
is inner 'the interpreter of an interpreter of a script that is allowed' "$(run "$tmp/bin/script")"
ln "$tmp/bin/inner" "$tmp/bin/again"
is inner 'a script under its second name' "$(run "$tmp/bin/again")"
done_testing
