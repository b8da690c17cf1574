#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_stall.sh - one process at full tilt does not hold up the calls of another, nor fill the supervisor.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/network.sh"
need_agentwatch
alone "$0"
printf 'version: 1\nmode: enforce\nnetwork: {default: deny}\n' >"$tmp/policy.yaml"
cd "$tmp" || exit 1
run() { timeout 100 "$AGENTWATCH" run --quiet --runner landlock --engine kernel --policy "$tmp/policy.yaml" --log none -- "$@"; }

# The memory map, which has to be locked to read the arguments of a call.
compile stall/mmaplock gcc -O1 -static -pthread "$root/tests/e2e/stall/mmaplock.c" ||
	{ fail 'mmaplock.c compiles' "$(<"$tmp/compile.log")"; done_testing; }
if run true 2>/dev/null; then
	read -r median usual longest < <(run "$compiled" 0 0 1000)
	note "alone: median $median us, 99 of 100 within $usual us, longest $longest us"
	read -r median late longest < <(run "$compiled" 4 6 1000)
	note "beside one that locks its memory: median $median us, 99 of 100 within $late us, longest $longest us"
	ok 'a process that keeps its memory locked delays another one by 10 ms at most' test "${late:-100000}" -le $((usual + 10000))
else
	skip 'a process that keeps its memory locked delays another one by 10 ms at most' 'no Landlock'
fi
done_testing
