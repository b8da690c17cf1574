#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_interrupted.sh - what nothing interrupts without agentwatch is not interrupted with it.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
gcc -D_GNU_SOURCE -O1 -pthread -o "$tmp/calls" "$root/tests/e2e/interrupted.c" 2>"$tmp/compile.log" ||
	{ fail 'the program compiles' "$(cat "$tmp/compile.log")"; done_testing; }
mkdir "$tmp/work"
printf 'version: 1\nmode: enforce\nfilesystem: {default: read-only, write: ["%s"]}\n' "$tmp/work" >"$tmp/policy.yaml"
want='interrupted 0, failed 0'
is "$want" 'bare' "$("$tmp/calls" "$tmp/work")"
for engine in $(engines); do # without the library these calls can be: a stated limit
	[ "$engine" = kernel ] || is "$want" "$engine, audit" "$("$AGENTWATCH" run --quiet --log none --engine "$engine" -- timeout 60 "$tmp/calls" "$tmp/work" 2>&1)"
done
for runner in exec landlock bwrap; do
	run() { "$AGENTWATCH" run --quiet --log none --runner "$runner" --on-missing-runner fail --policy "$tmp/policy.yaml" -- "$@"; }
	run true >/dev/null 2>&1 || { skip "enforce, $runner" 'it does not work here'; continue; }
	is "$want" "enforce, $runner" "$(run timeout 60 "$tmp/calls" "$tmp/work" 2>&1)"
done
done_testing
