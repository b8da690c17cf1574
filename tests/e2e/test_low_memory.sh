#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_low_memory.sh - programs that take the memory where the gate is run as they do bare.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
gcc -D_GNU_SOURCE -O1 -pthread -o "$tmp/low" "$root/tests/e2e/low_memory.c" 2>"$tmp/compile.log" ||
	{ fail 'the program compiles' "$(cat "$tmp/compile.log")"; done_testing; }

printf 'version: 1\nfilesystem: {default: read-only}\n' >"$tmp/policy.yaml"
settings=()
for engine in $(engines); do settings+=("--engine $engine --mode audit"); done
for runner in exec landlock bwrap; do
	"$AGENTWATCH" run --quiet --log none --mode enforce --runner "$runner" --on-missing-runner fail -- true >/dev/null 2>&1 ||
		{ skip "enforce, runner $runner" 'it does not work here'; continue; }
	settings+=("--mode enforce --policy $tmp/policy.yaml --runner $runner")
done

for way in early fixed hint free unmap bar move number threads child; do
	timeout 30 "$tmp/low" $way >"$tmp/bare" 2>&1
	echo "status $?" >>"$tmp/bare"
	for setting in "${settings[@]}"; do
		# shellcheck disable=SC2086
		timeout 60 "$AGENTWATCH" run --quiet --log "$tmp/log" $setting -- "$tmp/low" $way >"$tmp/watched" 2>&1
		echo "status $?" >>"$tmp/watched"
		same "$tmp/bare" "$tmp/watched" "$way, ${setting//$tmp\//}"
	done
done

# what was opened afterwards is in the log all the same
for way in early fixed; do
	"$AGENTWATCH" run --quiet --log "$tmp/log" -- "$tmp/low" $way >/dev/null
	is 4 "$way: each open is logged once" "$(jq -r 'select(.event == "call" and .path == "/etc/passwd") | .path' "$tmp/log" | wc -l)"
done
done_testing
