#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_without_shim.sh - a program that comes without the library runs, and is held all the same.
#
# Static parents start their children with an environment without LD_PRELOAD; LD_AUDIT and DT_AUDIT
# have the loader open other files first.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
here=$root/tests/e2e
{
	gcc -static -O1 -o "$tmp/parent" "$here/bare_environment.c" &&
		echo 'unsigned la_version(unsigned v) { return v; }' >"$tmp/audit.c" &&
		gcc -shared -fPIC -o "$tmp/audit.so" "$tmp/audit.c" &&
		printf '#include <stdio.h>\nint main(int c, char **v) { FILE *f = fopen(v[1], "r"); puts(f ? "read" : "refused"); return !f; }\n' >"$tmp/hello.c" &&
		gcc -o "$tmp/hello" "$tmp/hello.c" && gcc -o "$tmp/audited" "$tmp/hello.c" -Wl,--audit="$tmp/audit.so"
} 2>"$tmp/compile.log" || { fail 'the programs compile' "$(cat "$tmp/compile.log")"; done_testing; }
echo text >"$tmp/open"
echo secret >"$tmp/closed"
printf 'version: 1\nmode: enforce\nfilesystem: {default: read-only, deny: ["%s"]}\n' "$tmp/closed" >"$tmp/policy.yaml"

commands=("\$tmp/parent \$tmp/hello" "LD_AUDIT=\$tmp/audit.so \$tmp/hello" "\$tmp/audited")
export tmp
for engine in $(engines); do
	[ "$engine" != preload ] || continue # without a kernel layer nobody sees such a program
	for runner in exec landlock bwrap; do
		run() { timeout 60 "$AGENTWATCH" run --quiet --engine "$engine" --runner "$runner" --on-missing-runner fail --policy "$tmp/policy.yaml" --log "$tmp/log" -- "$@"; }
		run true >/dev/null 2>&1 || { skip "$engine, $runner" 'it does not work here'; continue; }
		for command in "${commands[@]}"; do
			timeout 60 bash -c "$command $tmp/open" >"$tmp/bare" 2>&1
			run bash -c "$command $tmp/open" >"$tmp/watched" 2>&1
			same "$tmp/bare" "$tmp/watched" "$engine, $runner: $command: as bare"
			like 'refused' "... and what is denied is refused" "$(run bash -c "$command $tmp/closed" 2>&1)"
			ok '... and logged' jq -es --arg p "$tmp/closed" 'any(.[]; .path == $p and .verdict == "deny" and .enforced)' "$tmp/log"
		done
		[ "$engine" != hybrid ] || ok "$runner: the log says that the library is not there" jq -es \
			'any(.[]; .event == "lost-shim")' "$tmp/log"
	done
done

# the same in audit: a log line, and nothing else
timeout 60 "$AGENTWATCH" run --quiet --log "$tmp/log" -- "$tmp/parent" "$tmp/hello" "$tmp/open" >"$tmp/watched" 2>&1
is $'read\nstatus 0' 'audit: as bare' "$(cat "$tmp/watched")"
is 1 '... and the open is logged' "$(jq -r --arg p "$tmp/open" 'select(.path == $p) | .path' "$tmp/log" | wc -l)"
done_testing
