#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_outside.sh - sockets behind a sandbox with a network of its own.
#
# What a program sees is compared with the same program without a sandbox.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have python3 || skip_all 'no python3'
if [ -z "${AW_ALONE:-}" ]; then
	rm -rf "$tmp"
	trap - EXIT
	setup='ip link set lo up && for a in 192.0.2.10/32 192.0.2.20/32; do ip address add $a dev lo || exit 1; done
		ip address add 2001:db8::10/128 dev lo nodad || exit 1'
	if is_root; then
		AW_ALONE=1 exec unshare -n bash -c "$setup"'; exec bash "$0"' "$0"
	fi
	# an ordinary user stays one
	AW_ALONE=1 exec unshare -Un --map-current-user --keep-caps bash -c \
		"$setup"'; exec setpriv --ambient-caps=-all --inh-caps=-all bash "$0"' "$0"
fi

python3 "$root/tests/e2e/outside_server.py" "$tmp/ready" &
server=$!
at_end 'kill $server'
wait_for 5 test -e "$tmp/ready" || skip_all 'no addresses of its own here'
sources=("$root"/tests/e2e/outside{,_same,_policy}.c)
compile e2e/outside gcc -O1 -pthread -D_GNU_SOURCE "${sources[@]}" || { fail 'outside.c compiles' "$(<"$tmp/compile.log")"; done_testing; }
dynamic=$compiled
compile e2e/outside_static gcc -O1 -static -pthread -D_GNU_SOURCE "${sources[@]}"
static=$compiled

# policy ALLOW [MORE]
policy()
{
	printf 'version: 1\nmode: enforce\nnetwork: {default: deny, allow: [%s]%s}\n' \
		"$1" "${2:-}" >"$tmp/policy.yaml"
}
run() { timeout -k 1 15 "$AGENTWATCH" run --quiet --runner "$runner" --policy "$tmp/policy.yaml" --log "$log" "$@" 2>&1; }
servers='"192.0.2.10:*", "[2001:db8::10]:8080"'

same=(tcp udp nonblocking nonblocking_refused epoll duplicates options threads refused interrupted
	datagrams fastopen inside to_and_fro)
for name in "${same[@]}"; do "$dynamic" "$name" >"$tmp/bare.$name" 2>&1; done
like 'hello.*hello' 'the servers answer' "$(cat "$tmp"/bare.*)"

runner=bwrap
policy "$servers"
run -- true || skip_all 'bwrap does not work here'
for program in "$dynamic" "$static"; do
	kind=$([ "$program" = "$static" ] && echo static || echo dynamic)
	[ -x "$program" ] || continue
	rm -f "$log"
	run -- "$program" "${same[@]}" >"$tmp/walled"
	for name in "${same[@]}"; do
		names=$(cut -d: -f1 "$tmp/bare.$name" | paste -sd'|')
		is "$(cat "$tmp/bare.$name")" "$kind: $name is as without a sandbox" \
			"$(grep -E "^($names):" "$tmp/walled")"
	done
done
ok 'the log has the connection and its rule' jq -es 'any(.[]; .event == "call" and .call == "connect"
	and .address == "192.0.2.10" and .port == 8080 and .verdict == "allow" and .rule.text == "192.0.2.10:*")' "$log"
is 'lo' 'there is nothing but a loopback inside' \
	"$(run -- sh -c 'tail -n +3 /proc/net/dev' | cut -d: -f1 | xargs)"

rm -f "$log"
is 'denied: EACCES, hello, udp hello, EACCES, hello' 'what is not allowed is refused, at any time' "$(run -- "$dynamic" denied)"
ok 'it is held by the kernel' jq -es 'any(.[]; .verdict == "deny" and .address == "192.0.2.20" and .strength == "kernel")' "$log"
policy "$servers" ', refusal: ECONNREFUSED'
is 'denied: ECONNREFUSED, hello, udp hello, ECONNREFUSED, hello' 'network.refusal says how' "$(run -- "$dynamic" denied)"

runner=exec
for engine in hybrid preload; do
	is 'denied: ECONNREFUSED, hello, udp hello, ECONNREFUSED, hello' "$engine, without a sandbox, the same" \
		"$(run --engine $engine -- "$dynamic" denied)"
done
runner=bwrap

# The host's loopback.
policy "$servers"
is 'local: ECONNREFUSED, ECONNREFUSED, ECONNREFUSED' "the host's loopback is not the command's" "$(run -- "$dynamic" local)"
policy "$servers, \"127.0.0.1:9090\""
is 'local: hello, hello, ok' '... unless a rule allows it' "$(run -- "$dynamic" local)"
is 'inside' 'and nobody inside listens there' "$(run -- python3 -c '
import socket
l = socket.create_server(("127.0.0.1", 9090))
c = socket.create_connection(("127.0.0.1", 9090))
l.settimeout(2)
print("inside" if l.accept() else "")')"
policy "$servers" ', deny: ["127.0.0.1:1"]'
is 'EACCES' 'a deny rule counts inside, too' "$(run -- python3 -c '
import errno, socket
print(errno.errorcode[socket.socket().connect_ex(("127.0.0.1", 1))])')"
policy "$servers" ', listen: ["127.0.0.1:4000-4999"]'
is 'ok EACCES' 'and a list of what may be listened on' "$(run -- python3 -c '
import errno, socket
for port in 4001, 5001:
    try: socket.create_server(("127.0.0.1", port)); print("ok", end=" ")
    except OSError as e: print(errno.errorcode[e.errno])')"

# All interfaces of a network with nothing outside are its loopback.
cat >"$tmp/all.py" <<'EOP'
import errno, socket, sys
for family, address in (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"):
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        s = socket.socket(family, kind)
        try:
            s.bind((address, int(sys.argv[1])))
            if kind == socket.SOCK_STREAM:
                s.listen()
                c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            print("ok", end=" ")
        except OSError as e:
            print(errno.errorcode[e.errno], end=" ")
        s.close()
EOP
all() { run -- python3 "$tmp/all.py" "$1" | xargs; }
policy "$servers" ', listen: ["localhost:4000-4999"]'
is 'ok ok ok ok' 'who may listen on the loopback may listen on all interfaces' "$(all 4002)"
is 'EACCES EACCES EACCES EACCES' '... at no other port' "$(all 5002)"
policy "$servers" ', listen: ["127.0.0.1:4000-4999"]'
is 'ok ok EACCES EACCES' '... and in no other family' "$(all 4003)"
printf 'version: 1\nmode: enforce\n' >"$tmp/policy.yaml"
is 'ok ok ok ok' 'without a rule of a policy, too' "$("$AGENTWATCH" run --quiet --mode enforce --runner bwrap --log none -- python3 "$tmp/all.py" 4005 | xargs)"
runner=landlock
policy "$servers" ', listen: ["localhost:4000-4999"]'
is 'EACCES EACCES EACCES EACCES' "where the network is the host's it takes a rule of its own" "$(all 4006)"
runner=bwrap

# Abstract names of Unix sockets.
policy "$servers"
is 'name: EACCES, EACCES' 'a name of the host is not there' "$(run -- "$dynamic" name)"
policy "$servers, \"unix:@aw-outside*\""
is 'name: hello, ok' '... unless a rule allows it' "$(run -- "$dynamic" name)"

# What cannot be kept: another process has the socket that it got before.
policy "$servers"
is 'forked: the child EPIPE forked: the parent hello' 'a socket that is shared already is replaced in one process' \
	"$(run -- "$dynamic" forked | xargs)"

runner=firejail
policy "$servers"
if is_root && run -- true; then
	is 'tcp: hello from 192.0.2.10 port 8080' 'behind firejail, too' "$(run -- "$dynamic" tcp | head -n 1)"
	is 'lo' 'with a network of its own' "$(run -- sh -c 'tail -n +3 /proc/net/dev' | cut -d: -f1 | xargs)"
fi

# Who makes the sockets inside ends with who asks for them, however that ends.
runner=bwrap
"$AGENTWATCH" run --quiet --runner bwrap --policy "$tmp/policy.yaml" --log "$log" -- sleep 60 2>/dev/null &
front=$!
wait_for 5 eval 'service=$(pgrep -P $front) && maker=$(pgrep -P "$service" -x aw-sockets)'
kill -9 "$service"
ok 'nothing is left behind' wait_for 5 eval '! kill -0 $maker 2>/dev/null'
done_testing
