#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_forward.sh - network.forward: ports inside that are reachable from outside.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/network.sh"
need_agentwatch
have python3 || skip_all 'no python3'
have ip && unshare -rn true 2>/dev/null && alone "$0"

cat >"$tmp/serve.py" <<'EOP'
"""serve.py DIR FAMILY PORT...: answers to each line until DIR/done is there."""
import os, selectors, socket, sys, time
folder, family = sys.argv[1], socket.AF_INET6 if sys.argv[2] == "6" else socket.AF_INET
sel = selectors.DefaultSelector()
for port in sys.argv[3:]:
    s = socket.socket(family)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", int(port)))
    s.listen()
    sel.register(s, selectors.EVENT_READ, port)
open(folder + "/serving", "w").close()
while not os.path.exists(folder + "/done"):
    for key, _ in sel.select(0.05):
        c, _ = key.fileobj.accept()
        while data := c.recv(65536):
            c.sendall(b"%s:%d " % (key.data.encode(), len(data)))
            if data.endswith(b"\n"):
                break
        c.close()
EOP
cat >"$tmp/ask.py" <<'EOP'
"""ask.py HOST/PORT...: what each answers to a line."""
import socket, sys
for place in sys.argv[1:]:
    try:
        s = socket.create_connection(place.split("/"), timeout=5)
        s.sendall(b"x" * 99 + b"\n")
        answer = b""
        while part := s.recv(100):
            answer += part
        print(answer.decode().strip() or "closed", end=" ")
    except ConnectionRefusedError:
        print("refused", end=" ")
    except ConnectionResetError:
        print("closed", end=" ")
print()
EOP
ask() { python3 "$tmp/ask.py" "$@" | xargs; }

# begin FORWARD COMMAND...: a session that goes on until `finish`
begin()
{
	printf 'version: 1\nmode: %s\nfilesystem: {default: allow}\nnetwork:\n  default: deny\n  allow: ["*:9"]\n  listen: ["127.0.0.1", "::1"]\n  forward: [%s]\n' \
		"${mode:-enforce}" "$1" >"$tmp/policy.yaml"
	shift
	rm -rf "$tmp/d" "$XDG_STATE_HOME/agentwatch/sessions/forward"
	mkdir "$tmp/d"
	"$AGENTWATCH" run --runner "$runner" --engine "$engine" --policy "$tmp/policy.yaml" --log "$log" --session forward -- "$@" 2>"$tmp/err" &
	session=$!
	wait_for 10 test -e "$tmp/d/serving"
}
finish() { touch "$tmp/d/done"; wait $session; }
told() { jq -r ".$1" "$XDG_STATE_HOME/agentwatch/sessions/forward/session.json"; }

for combination in exec/hybrid bwrap/hybrid bwrap/preload landlock/kernel firejail/hybrid; do
	runner=${combination%/*} engine=${combination#*/}
	[ "$runner" != firejail ] || is_root || continue
	"$AGENTWATCH" run -q --log none --runner $runner --engine $engine --mode enforce -- true >/dev/null 2>&1 ||
		{ skip "$combination" 'it does not work here'; continue; }
	begin '"18000:13000", "127.0.0.1:0:13001", "[::1]:18002:13000", "18003:13009"' python3 "$tmp/serve.py" "$tmp/d" 4 13000 13001
	free=$(told forward | sed 's/.*127.0.0.1:\([0-9]*\) to 13001.*/\1/')
	is '13000:100 13001:100 13000:100 closed' "$combination: ports outside lead inside, where somebody listens" \
		"$(ask 127.0.0.1/18000 "127.0.0.1/$free" ::1/18002 127.0.0.1/18003)"
	is "127.0.0.1:18000 to 13000, 127.0.0.1:$free to 13001, [::1]:18002 to 13000, 127.0.0.1:18003 to 13009" \
		"$combination: session.json tells them" "$(told forward)"
	like "port 13001 inside is reachable at 127.0.0.1:$free" "$combination: so does stderr" "$(cat "$tmp/err")"
	finish
	ok "$combination: the port is free at the end" eval '! (exec 3<>/dev/tcp/127.0.0.1/18000)'
done

runner=exec engine=hybrid
begin '"13000"' python3 "$tmp/serve.py" "$tmp/d" 4 13000
is '13000:100' 'without a network of its own the same port is reachable as it is' "$(ask 127.0.0.1/13000)"
like 'port 13000 inside is port 127.0.0.1:13000 outside' '... and that is told' "$(cat "$tmp/err")"
like '127.0.0.1:13000 to 13000' 'ps has a line for it' "$("$AGENTWATCH" ps)"
finish
begin '"18000:13000"' python3 "$tmp/serve.py" "$tmp/d" 6 13000
is '13000:100' 'a server on ::1 is found' "$(ask 127.0.0.1/18000)"
finish
mode=audit begin '"18000:13000"' python3 "$tmp/serve.py" "$tmp/d" 4 13000
is '13000:100' 'mode audit forwards, too' "$(ask 127.0.0.1/18000)"
finish

runner=bwrap
if "$AGENTWATCH" run -q --log none --runner bwrap --mode enforce -- true >/dev/null 2>&1; then
	begin '"13000"' python3 "$tmp/serve.py" "$tmp/d" 4 13000
	is '13000:100' 'bwrap: the same port outside' "$(ask 127.0.0.1/13000)"
	python3 - <<'EOP' >"$tmp/many"
import socket, threading
sizes = []
def one():
    s = socket.create_connection(("127.0.0.1", 13000))
    s.sendall(b"y" * 50000 + b"\n")
    data = b""
    while part := s.recv(4096):
        data += part
    sizes.append(sum(int(p.split(b":")[1]) for p in data.split()))
threads = [threading.Thread(target=one) for _ in range(50)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(sizes), set(sizes))
EOP
	is '50 {50001}' 'bwrap: many at a time, each to its end' "$(cat "$tmp/many")"
	finish
fi

runner=exec
python3 -c 'import socket, sys, time; s = socket.create_server(("127.0.0.1", 18000)); open(sys.argv[1], "w").close(); time.sleep(60)' "$tmp/busy" &
busy=$!
at_end 'kill $busy'
wait_for 5 test -e "$tmp/busy"
printf 'version: 1\nmode: enforce\nnetwork: {forward: ["18000:13000"]}\n' >"$tmp/policy.yaml"
is "agentwatch: network.forward: \"18000:13000\": listening on 127.0.0.1:18000: Address already in use; nothing was started, so free it or choose another port (0 takes any)" \
	'a port that is not free is told before anything starts' \
	"$("$AGENTWATCH" run --quiet --runner exec --policy "$tmp/policy.yaml" -- touch "$tmp/started" 2>&1)"
ok '... and nothing did' test ! -e "$tmp/started"
done_testing
