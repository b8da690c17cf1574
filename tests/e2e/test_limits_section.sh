#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_limits_section.sh - the policy's limits: memory, cpus, processes, time, files.
. "$(dirname "$0")/../tap.sh"
need_agentwatch

# limited 'LIMITS' COMMAND...: run under these limits.
limited()
{
	printf 'version: 1\nlimits: {%s}\n' "$1" >"$tmp/p.yaml"
	shift
	(cd "$tmp" && "$AGENTWATCH" run --log "$log" --policy "$tmp/p.yaml" -- "$@")
}
printf 'version: 1\nlimits: {open_files: 50}\n' >"$tmp/p.yaml"
"$AGENTWATCH" policy check "$tmp/p.yaml" >"$tmp/said" 2>&1 || skip_all "$(head -n 1 "$tmp/said")"
groups() { find /sys/fs/cgroup -maxdepth 6 -name 'agentwatch-*' 2>/dev/null; }
before=$(groups)

is 50 'open files' "$(limited 'open_files: 50' sh -c 'ulimit -n')"
like 'limits: open_files 50' 'the log says what holds' "$(jq -r 'select(.event == "policy") | .text' "$log")"
is 1048576 'a file as large as may be' "$(limited 'file_size: 1m' sh -c 'head -c 3m /dev/zero >big 2>/dev/null; head -c 3000000 /dev/zero >big; wc -c <big' 2>/dev/null)"
is 153 'what writes more gets SIGXFSZ' "$(limited 'file_size: 1m' sh -c 'head -c 3000000 /dev/zero >big; echo $?' 2>/dev/null)"

# Time: 124, as timeout(1) has it; the whole tree ends, gently first.
start=$(date +%s%N)
is 124 'when the time is over the status is 124' "$(limited 'time: 1s' sh -c 'sleep 60 & sleep 60' >/dev/null 2>"$tmp/err"; echo $?)"
took=$((($(date +%s%N) - start) / 1000000))
ok "it does not take long ($took ms)" test "$took" -ge 900 -a "$took" -lt 6000
like 'the time of 1 s .* is over' 'which is said' "$(cat "$tmp/err")"
like 'time of 1 s' 'and logged' "$(jq -r 'select(.kind == "limits") | .text' "$log")"
is 124 'a program that asks for more time is killed' \
	"$(limited 'time: 1s' bash -c 'trap "" TERM; while :; do sleep 1; done' >/dev/null 2>&1; echo $?)"
is 3 'one that ends before has its own status' "$(limited 'time: 1m' sh -c 'exit 3'; echo $?)"

# Memory and processes: of all together where there are control groups.
eats='import sys; b = bytearray(int(sys.argv[1]) << 20); print(len(b) >> 20)'
is 32 'memory within the limit' "$(limited 'memory: 400m' python3 -c "$eats" 32 2>/dev/null)"
is '' 'memory beyond it is not had' "$(limited 'memory: 400m' python3 -c "$eats" 1024 2>/dev/null)"
many='import os, sys, time
made = 0
for i in range(60):
    try:
        if os.fork() == 0: time.sleep(30); os._exit(0)
        made += 1
    except BlockingIOError: break
print(made)'
held=$(limited 'processes: 20, memory: 400m, cpus: 1' true 2>&1; jq -r 'select(.event == "policy") | .text' "$log")
if grep -q 'control group' <<<"$held"; then
	is 19 'no more processes than may be' "$(limited 'processes: 20' python3 -c "$many" 2>/dev/null | tail -n 1)"
	like 'not started, since there were too many' 'which is reported' \
		"$(limited 'processes: 20' python3 -c "$many" 2>&1 >/dev/null)"
	half=$(limited 'cpus: 0.5' bash -c 'SECONDS=0; end=$((SECONDS + 2)); while [ $SECONDS -lt $end ]; do :; done; times | sed -n 1p' 2>/dev/null | sed 's/^0m\([0-9]*\)\..*/\1/')
	ok "half a processor is half the time ($half s of 2)" test "${half:-9}" -le 1
	is '' 'nothing is not held exactly' "$(grep 'not held exactly' <<<"$held")"
else
	like 'not held exactly' 'what is only nearly held is said' "$held"
	like 'address space for each process' 'memory' "$held"
	is 1 'processors' "$(limited 'cpus: 1' nproc 2>/dev/null)"
	like 'limits are not held exactly' 'on stderr too' "$(limited 'cpus: 1' true 2>&1)"
	is '' 'not when it is to be quiet' "$("$AGENTWATCH" run --quiet --log none --policy "$tmp/p.yaml" -- true 2>&1)"
fi
is "$before" 'no group is left' "$(groups)"

# A supervisor that was killed leaves its groups to the next one.
if grep -q 'control group' <<<"$held"; then
	limited 'processes: 50' sleep 60 2>/dev/null &
	wait_for 10 sh -c "find /sys/fs/cgroup -maxdepth 6 -name 'agentwatch-*' | grep -q ."
	front=$(groups | sed -n 's/.*agentwatch-//p' | sort -u | tail -n 1)
	below=$(ps -o pid= --ppid "$front")
	# shellcheck disable=SC2086
	kill -KILL $front $below 2>/dev/null
	sleeper=$(for g in $(groups); do cat "$g/cgroup.procs"; done | sort -u)
	# shellcheck disable=SC2086
	kill -KILL $sleeper 2>/dev/null
	wait 2>/dev/null
	limited 'processes: 50' true 2>/dev/null
	is "" "what a killed supervisor left is removed at the next start" "$(groups | grep -x ".*agentwatch-$front")"
else
	skip 'what a killed supervisor left is removed' 'no control groups here'
fi
done_testing
