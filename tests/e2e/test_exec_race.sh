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
gcc -O1 -o ../bin/dynamic ../allowed.c && gcc -O1 -o ../bin/dynamic-denied ../denied.c
policy "{deny: [\"$tmp/bin/dynamic-denied\"]}"
for runner in exec landlock bwrap; do
	"$AGENTWATCH" run --quiet --log none --runner $runner --policy "$tmp/policy.yaml" -- true 2>"$tmp/err" ||
		{ skip "$runner: dynamic programs" "$(tail -n 1 "$tmp/err")"; continue; }
	"$AGENTWATCH" run --quiet --log none --runner $runner --policy "$tmp/policy.yaml" -- "$race" "$tmp/bin/dynamic" "$tmp/bin/dynamic-denied" "$tries" >"$tmp/out" 2>&1
	is 'allowed ran, denied never ran' "$runner: dynamic programs, which the library is expected in" "$(tail -n 1 "$tmp/out")"
	rm -f ran
done
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

# What is no program at all opens nothing for others.
: >"$tmp/bin/text"
chmod 755 "$tmp/bin/text"
policy "{default: deny, allow: [/bin/sh, /usr/bin/dash, /usr/bin/bash, \"$race\", \"$tmp/bin/allowed\", \"$tmp/bin/text\"]}"
"$AGENTWATCH" run --quiet --log none --policy "$tmp/policy.yaml" -- sh -c '"$0"; "$@"' "$tmp/bin/text" "$race" "$tmp/bin/allowed" "$tmp/bin/denied" "$tries" >"$tmp/out" 2>&1
is 'allowed ran, denied never ran' 'nor after a file that is no program was started' "$(tail -n 1 "$tmp/out")"
rm -f ran

# A denied program that is a script's interpreter, and leaves a child before its own first call.
cat >../child.c <<'END'
#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Children, their children, and whom a subreaper adopts; no watched call before that. */
int main(void)
{
	struct timespec while_others_end = {0, 200000000};

	if (fork() == 0) {
		if (fork() == 0) {
			nanosleep(&while_others_end, 0);
			return open("ran", O_CREAT | O_WRONLY, 0600) < 0;
		}
		return open(fork() ? "ran" : "ran-too", O_CREAT | O_WRONLY, 0600) < 0;
	}
	return 0;
}
END
gcc -O1 -static -o "$tmp/bin/child" ../child.c
printf '#!%s\n' "$tmp/bin/child" >"$tmp/bin/leads"
chmod 755 "$tmp/bin/leads"
adopting='import ctypes, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
subprocess.call(sys.argv[1:])
time.sleep(0.5)'
policy "{deny: [\"$tmp/bin/child\"]}"
for runner in exec landlock bwrap; do
	"$AGENTWATCH" run --quiet --log none --runner $runner --policy "$tmp/policy.yaml" -- true 2>"$tmp/err" ||
		{ skip "$runner: children of a denied program" "$(tail -n 1 "$tmp/err")"; continue; }
	"$AGENTWATCH" run --quiet --log none --runner $runner --policy "$tmp/policy.yaml" -- bash -c "$tmp/bin/leads; sleep 0.5" >"$tmp/out" 2>&1
	is '' "$runner: its children are held, too" "$(ls)"
	rm -f ran*
	"$AGENTWATCH" run --quiet --log none --runner $runner --policy "$tmp/policy.yaml" -- python3 -c "$adopting" "$tmp/bin/leads" >"$tmp/out" 2>&1
	is '' "$runner: those that another process adopts as well" "$(ls)"
	rm -f ran*
done
"$AGENTWATCH" run --quiet --log none -- bash -c "$tmp/bin/leads; sleep 0.5"
is 'ran ran-too' 'in audit they run' "$(ls | paste -sd' ')"
rm -f ran*

# Two execs at once, of a program in a profile and of one in none: the profile stays.
if compile exec_roles gcc -D_GNU_SOURCE -O1 -static -pthread "$sources/exec_roles.c"; then
	cp "$compiled" "$tmp/bin/roles"
	echo SECRET >"$tmp/secret"
	cat >"$tmp/policy.yaml" <<-END
		version: 1
		mode: enforce
		filesystem: {default: allow}
		profiles:
		  apart:
		    when: {exec: ["$tmp/bin/roles"]}
		    filesystem: {default: allow, deny: ["$tmp/secret"]}
	END
	is 'never held, escaped' 'without a watch its child reads the file' "$("$tmp/bin/roles" "$tmp/bin/allowed" "$tmp/secret" 20)"
	for runner in exec landlock bwrap; do
		"$AGENTWATCH" run --quiet --log none --runner $runner --policy "$tmp/policy.yaml" -- true 2>"$tmp/err" ||
			{ skip "$runner: two execs at once" "$(tail -n 1 "$tmp/err")"; continue; }
		"$AGENTWATCH" run --quiet --log none --runner $runner --policy "$tmp/policy.yaml" -- \
			"$tmp/bin/roles" "$tmp/bin/allowed" "$tmp/secret" $((tries * 2)) >"$tmp/out" 2>&1
		is 'held, never escaped' "$runner: two execs at once take nobody out of a profile" "$(tail -n 1 "$tmp/out")"
	done
fi

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
