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
	read -r median usual longest <<<"$(run "$compiled" 0 0 1000)"
	note "alone: median $median us, 99 of 100 within $usual us, longest $longest us"
	read -r median late longest <<<"$(run "$compiled" 4 6 1000)"
	note "beside one that locks its memory: median $median us, 99 of 100 within $late us, longest $longest us"
	ok 'a process that keeps its memory locked delays another one by 10 ms at most' test "${late:-100000}" -le $((usual + 10000))
else
	skip 'a process that keeps its memory locked delays another one by 10 ms at most' 'no Landlock'
fi

# Epoll instances, which are read as text where a socket of theirs changes places with another.
compile stall/epolls gcc -O1 "$root/tests/e2e/stall/epolls.c" ||
	{ fail 'epolls.c compiles' "$(<"$tmp/compile.log")"; done_testing; }
ip address add 192.0.2.10/32 dev lo 2>/dev/null
printf 'version: 1\nmode: enforce\nnetwork: {default: deny, allow: ["192.0.2.10:*"]}\n' >"$tmp/policy.yaml"
python3 -c 'import socket, sys, time
s = socket.create_server(("192.0.2.10", 7000), backlog=100)
open(sys.argv[1], "w").close()
time.sleep(300)' "$tmp/ready" 2>/dev/null &
at_end "kill $!"
apart() { timeout 100 "$AGENTWATCH" run --quiet --runner bwrap --policy "$tmp/policy.yaml" --log none -- "$@"; }
if wait_for 5 test -e "$tmp/ready" && apart true 2>/dev/null; then
	read -r longest told <<<"$(apart "$compiled" 1 100 192.0.2.10 7000)"
	is 5 'an instance that watched a socket before tells of its connection' "$told"
	read -r longest told <<<"$(apart "$compiled" 200 2000 192.0.2.10 7000)"
	note "a connect beside 200 instances that watch 2,000 files each: $longest ms"
	ok 'many that watch much do not hold a connect up' test "${longest:-100000}" -le 500
else
	skip 'many epoll instances do not hold a connect up' 'no network of its own here'
fi
# What the supervisor holds for calls that wait.
cat >"$tmp/bloat.py" <<'EOP'
import os, socket, sys, threading, time
data = bytes(4 << 20)
pairs = [socket.socketpair() for _ in range(60)]
ends = []
def send(s):
    try:
        ends.append("whole" if s.sendmsg([data]) == len(data) else "part")
    except OSError as e:
        ends.append(os.strerror(e.errno))
for s, _ in pairs:
    threading.Thread(target=send, args=(s,), daemon=True).start()
time.sleep(2)
open(sys.argv[1], "w").close()
time.sleep(3)
print(*sorted(set(ends)), flush=True)
os._exit(0)
EOP
printf 'version: 1\nmode: enforce\n' >"$tmp/policy.yaml"
timeout 60 "$AGENTWATCH" run --quiet --policy "$tmp/policy.yaml" --log none -- python3 "$tmp/bloat.py" "$tmp/blocked" >"$tmp/errors" 2>&1 &
wait_for 30 test -e "$tmp/blocked"
front=$(pgrep -f "^$AGENTWATCH run --quiet --policy $tmp/policy.yaml" | head -n 1)
service=$(pgrep -P "${front:-0}" | head -n 1)
held=$(awk '/^VmRSS/ {print $2}' "/proc/$service/status" 2>/dev/null)
command=$(pgrep -f "^python3 $tmp/bloat.py" | head -n 1)
[ "$service" != "${command:-}" ] || service=
note "60 sends of 4 MB wait: the supervisor has ${held:-?} KB"
ok 'calls that wait hold a bounded part of its memory' test "${held:-1000000}" -le 100000
wait_for 30 test -s "$tmp/errors"
is part 'of what is beyond that a part is sent, and the program is told how much' "$(cat "$tmp/errors")"
done_testing
