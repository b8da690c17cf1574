#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_hosts.sh - rules by host name, where the program brings nothing but an address.
#
# Runs with a hosts file, a name server and addresses of its own.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/network.sh"
unset AGENTWATCH_RUNNER # the policies name the sandboxes
need_agentwatch
have python3 || skip_all 'no python3'
alone_with_mounts "$0"

ip link set lo up
for address in 192.0.2.10 192.0.2.20 192.0.2.30; do ip address add "$address/32" dev lo; done
printf '%s\n' '127.0.0.1 localhost' '192.0.2.10 api.test' '192.0.2.20 two.test' >"$tmp/hosts"
echo 'nameserver 127.0.0.1' >"$tmp/resolv.conf"
mount --bind "$tmp/hosts" /etc/hosts && mount --bind "$tmp/resolv.conf" /etc/resolv.conf ||
	skip_all '/etc/hosts cannot be replaced here'

cat >"$tmp/server.py" <<'EOP'
import socket, sys, time
kept = [socket.create_server(("0.0.0.0", port), backlog=50) for port in (8080, 8081)]
for port in map(int, sys.argv[2:]):  # a name server that takes questions and never answers
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", port))
    kept.append(s)
open(sys.argv[1], "w").close()
time.sleep(600)
EOP
cat >"$tmp/reach.py" <<'EOP'
import socket, sys, time
def reach(kind, address, port):
    s = socket.socket(type=socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    try:
        if kind == "udp":
            s.sendto(b"x", (address, port))
        else:
            s.connect((address, port))
        return "reached"
    except PermissionError:
        return "refused"
for what in sys.argv[1:]:
    kind, address, port = what.split("/")
    print(reach(kind, address, int(port)))
EOP
python3 "$tmp/server.py" "$tmp/ready" &
server=$!
at_end 'kill $server'
wait_for 5 test -e "$tmp/ready"

policy() { printf 'version: 1\nmode: enforce\nrunner: %s\nnetwork: {default: deny, allow: [%s]}\n' "${2:-exec}" "$1" >"$tmp/policy.yaml"; }
run() { "$AGENTWATCH" run --quiet --runner "${runner:-exec}" --policy "$tmp/policy.yaml" --log "$log" "$@"; }
reach() { run --engine "$engine" -- python3 "$tmp/reach.py" "$@" | xargs; }

for engine in hybrid kernel; do
	policy '"api.test:8080"'
	rm -f "$log"
	is 'reached refused refused refused' "$engine: an allowed name admits its address at that port, and nothing else" \
		"$(reach tcp/192.0.2.10/8080 tcp/192.0.2.10/8081 tcp/192.0.2.20/8080 tcp/192.0.2.30/8080)"
	ok "$engine: the log has the name and the rule" jq -es 'any(.[]; .event == "call" and .verdict == "allow"
		and .address == "192.0.2.10" and .host == "api.test" and .rule.text == "api.test:8080")' "$log"
	is 'reached refused' "$engine: a datagram too" "$(reach udp/192.0.2.10/8080 udp/192.0.2.20/8080)"
	policy '"api.test", "!api.test:8080"'
	is 'refused reached' "$engine: what is taken out stays out" "$(reach tcp/192.0.2.10/8080 tcp/192.0.2.10/8081)"
	printf 'version: 1\nmode: enforce\nrunner: exec\nnetwork: {default: deny, allow: ["api.test"], deny: ["192.0.2.10"]}\n' >"$tmp/policy.yaml"
	is refused "$engine: a deny rule about the address stands" "$(reach tcp/192.0.2.10/8080)"
done

engine=hybrid
for runner in bwrap landlock; do
	policy '"api.test:8080"' $runner
	run -- true >/dev/null 2>&1 || { skip "behind $runner" 'it does not work here'; continue; }
	is 'reached refused' "behind $runner the same" "$(reach tcp/192.0.2.10/8080 tcp/192.0.2.20/8080)"
done

# Other rules after a reload.
policy '"api.test:8080"'
run -- sh -c 'python3 "$1" tcp/192.0.2.20/8080; touch "$2/first"; until [ -e "$2/reloaded" ]; do sleep 0.05; done
	python3 "$1" tcp/192.0.2.20/8080 tcp/192.0.2.10/8080' sh "$tmp/reach.py" "$tmp" >"$tmp/out" &
session=$!
wait_for 10 test -e "$tmp/first"
policy '"two.test:8080"'
id=$(jq -r "select(.session) | .session" "$log" | tail -n 1)
ok 'the policy can be read again' "$AGENTWATCH" policy reload "$id"
touch "$tmp/reloaded"
wait $session
is 'refused reached refused' 'a reload brings other names' "$(xargs <"$tmp/out")"

# An address that nobody was given by name: nothing is looked up, so nobody waits for a silent name server.
kill $server
rm "$tmp/ready"
python3 "$tmp/server.py" "$tmp/ready" 53 &
server=$!
wait_for 5 test -e "$tmp/ready"
policy '"silent.test:8080", "api.test:8080"'
cat >"$tmp/fast.py" <<'EOP'
import subprocess, sys, time
start = time.monotonic()
out = subprocess.run([sys.executable, *sys.argv[1:]], stdout=subprocess.PIPE).stdout.decode().split()
print(*out, "at once" if time.monotonic() - start < 1.5 else "late")
EOP
is 'refused reached at once' 'a bare address is refused at once; one in the hosts file is not' \
	"$(run --engine hybrid -- python3 "$tmp/fast.py" "$tmp/reach.py" tcp/192.0.2.30/8080 tcp/192.0.2.10/8080)"
done_testing
