#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_hold_back.sh - a program that makes others wait for it does not make the session wait.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
is_root || skip_all 'needs root: fanotify'
gcc -D_GNU_SOURCE -O1 -o "$tmp/hold" "$root/tests/e2e/hold_back.c" 2>"$tmp/compile.log" ||
	{ fail 'the program compiles' "$(cat "$tmp/compile.log")"; done_testing; }
cp "$(type -P true)" "$tmp/program"
timeout 20 "$tmp/hold" "$tmp/program" 1 >"$tmp/bare" 2>&1 || skip_all "no fanotify here: $(tail -n 1 "$tmp/bare")"

for engine in $(engines); do
	for count in 1 8; do
		timeout 20 "$AGENTWATCH" run --quiet --engine "$engine" --log "$tmp/log" -- "$tmp/hold" "$tmp/program" $count >"$tmp/watched" 2>&1
		same "$tmp/bare" "$tmp/watched" "$engine: $count held back, and another program runs"
	done
done
done_testing
