#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_lookups.sh - audit: connections get the name that was looked up, and nothing is changed.
#
# Runs with a hosts file and addresses of its own.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/network.sh"
need_agentwatch
have python3 || skip_all 'no python3'
have jq || skip_all 'no jq'
alone_with_mounts "$0"

ip link set lo up
for address in 192.0.2.{10,20,30,40,50}; do ip address add "$address/32" dev lo; done
ip address add 2001:db8::10/128 dev lo nodad
long=$(printf 'a%.0s' {1..60})
long=$long.$long.$long.$long.test
{
	printf '%s\n' '127.0.0.1 localhost local.test' '192.0.2.10 one.test' '192.0.2.10 shared.test' \
		'192.0.2.20 two.test' '2001:db8::10 six.test' '192.0.2.30 child.test' "192.0.2.40 $long"
	for i in {1..100}; do echo "192.0.2.$((i + 100)) many.test"; done
} >"$tmp/hosts"
echo 'nameserver 127.0.0.1' >"$tmp/resolv.conf"
mount --bind "$tmp/hosts" /etc/hosts && mount --bind "$tmp/resolv.conf" /etc/resolv.conf ||
	skip_all '/etc/hosts cannot be replaced here'

cat >"$tmp/look.py" <<'EOP'
import os, socket, sys
def look(host): return socket.getaddrinfo(host, 80)[0][4][0]
def reach(address, port, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
    try:
        s.connect((address, port)) if kind == socket.SOCK_STREAM else s.sendto(b"x", (address, port))
        print(port, "reached", s.getpeername() if kind == socket.SOCK_STREAM else "", flush=True)
    except OSError as e:
        print(port, e.errno, flush=True)
def child(work):
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    os.waitpid(pid, 0)
def main():
    reach(look("One.Test"), 8001)
    reach("192.0.2.20", 8002)                       # nobody has asked for it
    reach(look("shared.test"), 8003)                # the same address by another name
    reach(look("six.test"), 8004)
    reach(look("two.test"), 8005, socket.SOCK_DGRAM)
    reach(look("local.test"), 8006)                 # loopback is localhost
    address = look("child.test")
    child(lambda: reach(address, 8007))
    reach(look(sys.argv[1]), 8008)
    look("many.test")
    reach("192.0.2.101", 8009)
    reach(look("192.0.2.50"), 8010)                 # an address is no name
main()
EOP
server='import socket,sys,time
kept=[socket.create_server(("192.0.2.10",8001)),socket.create_server(("2001:db8::10",8004),family=socket.AF_INET6)]
open(sys.argv[1],"w").close()
time.sleep(600)'
python3 -c "$server" "$tmp/ready" &
server=$!
at_end 'kill $server'
wait_for 5 test -e "$tmp/ready"

hosts() { jq -r 'select(.event == "call" and (.action == "connect" or .action == "send") and .call != "getaddrinfo" and (.port // 0) > 8000) | "\(.port):\(.host)"' "$log" | sort -u | xargs; }
want="8001:one.test 8002:null 8003:shared.test 8004:six.test 8005:two.test 8006:null 8007:child.test 8008:$long 8009:many.test 8010:null"
python3 "$tmp/look.py" "$long" >"$tmp/bare"
for engine in hybrid preload; do
	rm -f "$log"
	watched --engine $engine -- python3 "$tmp/look.py" "$long" >"$tmp/seen"
	is "$want" "$engine: connections and messages have the name that was looked up" "$(hosts)"
	same "$tmp/bare" "$tmp/seen" "$engine: results and addresses are those of a bare run"
	ok "$engine: numbers of lines have no gap" jq -es 'map(.seq) == [range(1; length + 1)]' "$log"
done
rm -f "$log"
watched --engine kernel -- python3 "$tmp/look.py" "$long" >"$tmp/seen"
is "$(sed 's/:[a-z.]*test/:null/g' <<<"$want")" 'engine kernel: nobody tells, so there is none' "$(hosts)"
same "$tmp/bare" "$tmp/seen" 'and the results are the same'

if have strace; then
	trace() { grep -hoE '\b(socket|connect|sendto|bind|getpeername|setsockopt)\(.*' "$1".* | grep AF_INET |
		sed -E 's/\([0-9]+,/(/; s/0x[0-9a-f]+/0x/g; s/"[^"]*"(\.\.\.)?/"/' | sort; }
	strace -ff -e trace=%network -o "$tmp/strace.bare" python3 "$tmp/look.py" "$long" >"$tmp/out"
	mkdir "$tmp/traced"
	strace -ff -e trace=%network -o "$tmp/traced/all" "$AGENTWATCH" run --quiet --log "$log" --engine hybrid -- python3 "$tmp/look.py" "$long" >"$tmp/out"
	# the supervisor's own sockets are not the program's
	grep -lE '8001' "$tmp"/traced/all.* >"$tmp/its"
	grep -lE '8007' "$tmp"/traced/all.* >>"$tmp/its"
	mkdir "$tmp/only" && xargs -a "$tmp/its" cp -t "$tmp/only"
	trace "$tmp/strace.bare" >"$tmp/calls.bare"
	trace "$tmp/only/all" >"$tmp/calls.seen"
	ok 'calls were traced' test -s "$tmp/calls.bare"
	same "$tmp/calls.bare" "$tmp/calls.seen" 'sockets, addresses and errors are equal call by call'
else
	skip 'sockets, addresses and errors are equal call by call' 'no strace'
fi

# What would be denied is judged by the name, as it will be in enforce.
printf 'version: 1\nmode: audit\nnetwork: {default: deny, allow: ["*.test:8003"]}\n' >"$tmp/policy.yaml"
rm -f "$log"
watched --policy "$tmp/policy.yaml" -- python3 "$tmp/look.py" "$long" >"$tmp/out"
ok 'a wildcard admits the name that was looked up' jq -es 'any(.[]; .port == 8003 and .verdict == "allow" and
	.rule.text == "*.test:8003") and any(.[]; .port == 8001 and .verdict == "deny" and .enforced == false)' "$log"

# One process looks up, another one, which is not its child, connects.
ask='import socket,sys; print(socket.getaddrinfo(sys.argv[1], 80)[0][4][0])'
reach='import socket,sys; s = socket.socket(); s.connect_ex((sys.argv[1], int(sys.argv[2])))'
learn() { "$AGENTWATCH" learn --quiet --output "$tmp/learnt.yaml" --force -- "$@" >"$tmp/out" 2>&1; grep -E '^ +(# )?- "[a-z0-9.]+:[0-9]+"' "$tmp/learnt.yaml" | sed -E 's/ +#? ?- |"//g; s/ .*//' | xargs; }
# shellcheck disable=SC2016
is 'two.test:8111' 'learn proposes the name that another process has looked up' \
	"$(learn sh -c 'python3 -c "$3" "$(python3 -c "$1" two.test)" 8111' sh "$ask" - "$reach")"
is 'one.test:8113' 'and by the older functions' \
	"$(learn python3 -c "import socket; socket.socket().connect_ex((socket.gethostbyname('one.test'), 8113))")"
is 'six.test:8112' 'and for IPv6' "$(learn python3 -c "import socket
s = socket.socket(socket.AF_INET6); s.connect_ex((socket.getaddrinfo('six.test', 80)[0][4][0], 8112))")"

cat >"$tmp/static.c" <<'EOP'
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};

	inet_aton(argv[1], &to.sin_addr);
	connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof(to));
	return 0;
}
EOP
if gcc -static -o "$tmp/static" "$tmp/static.c" 2>/dev/null; then
	rm -f "$log"
	watched -- "$tmp/static" 192.0.2.20 8120
	is '8120:null' 'a static program has asked nobody that we know: no host' "$(hosts)"
	is '192.0.2.20:8120' 'learn has its address' "$(learn "$tmp/static" 192.0.2.20 8120)"
	ok 'as a question' grep -q 'question: 192.0.2.20:8120 .*an address without a name' "$tmp/learnt.yaml"
else
	skip 'static programs' 'no static libc'
fi

# In enforce the library's word counts for nothing.
printf 'version: 1\nmode: enforce\nrunner: exec\nnetwork: {default: deny, allow: ["two.test:8130"]}\n' >"$tmp/policy.yaml"
rm -f "$log"
watched --policy "$tmp/policy.yaml" -- python3 -c "import socket
socket.getaddrinfo('two.test', 80)
for a in '192.0.2.20', '192.0.2.10': print(socket.socket().connect_ex((a, 8130)))" >"$tmp/out"
is '111 13' 'enforce goes by its own look-ups' "$(xargs <"$tmp/out")"
done_testing
