#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_proxy.sh - network.proxy: the same rules for who asks a proxy, in every engine and sandbox.
#
# Runs with a hosts file, a name server that mostly is silent, and servers of its own.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/network.sh"
need_agentwatch
have python3 || skip_all 'no python3'
alone_with_mounts "$0"
here=$root/tests/e2e
python=$(python3 -c 'import sys; print(sys.executable)')

ip link set lo up
for address in 192.0.2.10 192.0.2.20; do ip address add "$address/32" dev lo; done
printf '%s\n' '127.0.0.1 localhost' '192.0.2.10 api.test other.test api.example' '192.0.2.20 two.test' \
	'10.9.9.9 home.example' >"$tmp/hosts"
echo 'nameserver 192.0.2.20' >"$tmp/resolv.conf"
mount --bind "$tmp/hosts" /etc/hosts && mount --bind "$tmp/resolv.conf" /etc/resolv.conf ||
	skip_all '/etc/hosts cannot be replaced here'
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
"$python" "$here/proxy_outside.py" "$tmp/ready" "$tmp/outside.log" 2>"$tmp/outside.err" &
server=$!
at_end 'kill $server'
wait_for 5 test -e "$tmp/ready"

policy() # ALLOW MORE
{
	printf 'version: 1\nmode: enforce\nfilesystem: {default: allow}\nnetwork:\n  default: deny\n  proxy: environment\n  allow: [%s]\n%s\n' \
		"$1" "${2:+  $2}" >"$tmp/policy.yaml"
}
run() { "$AGENTWATCH" run --quiet --runner "$runner" --engine "$engine" --policy "$tmp/policy.yaml" --log "$log" "$@"; }
# ask WHAT...: what the client says, lines joined
ask() { run -- "$python" "$here/proxy_client.py" "$@" 2>&1 | paste -sd'|'; }

hello='hello from api.test:8080, 0 bytes'
no='two.test:8080 is not among what network.allow of the policy admits, and network.default is deny'
policy '"api.test:8080", "other.test"' 'deny: ["other.test:9"]'
for combination in exec/hybrid exec/kernel exec/preload landlock/hybrid bwrap/hybrid bwrap/preload firejail/hybrid; do
	runner=${combination%/*} engine=${combination#*/}
	[ "$runner" != firejail ] || is_root || continue
	run -- true >/dev/null 2>&1 || { skip "$combination" 'it does not work here'; continue; }
	is "$hello|403 $no told|hello from inside, 0 bytes|socks 2" "$combination: what is allowed comes through, what is not says why" \
		"$(ask url=api.test:8080/ url=two.test:8080/ socks=api.test:8080 socks=two.test:8080)"
	ok "$combination: each request is in the log, with who asked" jq -es 'any(.[]; .call == "proxy" and .verdict == "allow"
		and .host == "api.test" and .port == 8080 and .address == "192.0.2.10" and .rule.text == "api.test:8080" and
		(.exe | test("python"))) and any(.[]; .call == "proxy" and .verdict == "deny" and .host == "two.test" and .enforced)' "$log"
done

runner=exec engine=hybrid
ask url=api.test:8080/ url=two.test:8080/ socks=two.test:9 >/dev/null
is 'api.test:8080|two.test:8080|two.test:9' 'a policy can be made of what was asked for' \
	"$("$AGENTWATCH" policy from-log "$log" 2>/dev/null | grep -o '"[a-z]*.test:[0-9]*"' | tr -d '"' | sort | paste -sd'|')"
is "403 other.test:9 is denied by $tmp/policy.yaml:8: other.test:9 told" 'a refusal names its rule' "$(ask url=other.test:9/)"
like '^HTTP/1.1 200 Connection established  ?HTTP/1.1 200 OK .*hello from inside' 'CONNECT is a tunnel' "$(ask tunnel=api.test:8080)"
is 'HTTP/1.1 502 Bad Gateway|socks 5' 'a server that is not there is told' \
	"$(ask 'raw=CONNECT other.test:7 HTTP/1.1\r\n\r\n' socks=other.test:7)"
is "$hello" 'slow clients hold up nobody, also more than there is room for' "$(ask many=700)"
is 'done 1 0' 'what comes behind the body of a request does not go on to its server' \
	"$(ask keep) $(wait_for 5 grep -q '^sink' "$tmp/outside.log"; grep -c '^sink' "$tmp/outside.log") $(grep -c '^sink.*/b' "$tmp/outside.log")"

is "$(printf 'HTTP/1.1 %s|' '431 Request Header Fields Too Large' '400 Bad Request' '400 Bad Request' '400 Bad Request' '400 Bad Request' \
	'400 Bad Request' '400 Bad Request' '501 Not Implemented' '403 Forbidden' '400 Bad Request' '400 Bad Request')closed" 'what could be read in two ways is refused' \
	"$(ask huge 'raw=GET http://api.test:8080/ HTTP/1.1\r\nHost: api.test:8080\r\nHost: two.test\r\n\r\n' \
		'raw=GET http://api.test:8080/ HTTP/1.1\r\nHost: two.test:8080\r\n\r\n' \
		'raw=CONNECT api.test:8080/x HTTP/1.1\r\n\r\n' \
		'raw=CONNECT api.test\x00.two.test:8080 HTTP/1.1\r\n\r\n' \
		'raw=GET http://api.test:8080@two.test:8080/ HTTP/1.1\r\n\r\n' \
		'raw=POST http://api.test:8080/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n' \
		'raw=POST http://api.test:8080/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n' \
		'raw=CONNECT [::ffff:192.0.2.20]:8080 HTTP/1.1\r\n\r\n' \
		'raw=CONNECT 127.1:8080 HTTP/1.1\r\n\r\n' 'raw=\x04\x01\x1f\x90\xc0\x00\x02\x0a\x00' 'raw=\x05\x01\x02')"
ok 'requests that cannot be read are in the log' jq -es 'any(.[]; .kind == "proxy" and (.text | test("Host is not the host")))' "$log"

# Names: rebinding, and none that may not be looked up.
policy '"*:9999", "rebound.example", "home.example", "API.example.:8080"'
is '403 rebound.example:8080 leads to the private address 10.9.9.9, and neither a rule about that address nor network.private_names admits it told' \
	'a public name that leads home is refused' "$(ask url=rebound.example:8080/)"
is '403 rebound.example:9999 leads to the private address 10.9.9.9, and neither a rule about that address nor network.private_names admits it told' \
	'... a rule about all names is none about the address' "$(ask url=rebound.example:9999/)"
like '^50[24] ' 'the hosts file of the machine may lead anywhere' "$(ask url=home.example:8080/)"
is 'hello from api.example:8080, 0 bytes' 'names are names, however they are written' "$(ask url=Api.Example:8080/)"
policy '"rebound.example"' 'private_names: ["*.example"]'
like '^50[24] ' 'unless the policy says that it may' "$(timeout 5 true; ask url=rebound.example:8080/)"
policy '"silent.example:80", "api.test:8080", "localhost"'
is "socks 2|$hello" 'what no rule has is refused while others wait' "$(run -- sh -c '"$0" "$1" socks=silent.example:80 >"$2" &
	until grep -q silent "$3"; do sleep 0.02; done; "$0" "$1" socks=secret.two.test:80 url=api.test:8080/; kill $!' \
	"$python" "$here/proxy_client.py" "$tmp/slow" "$tmp/outside.log" | paste -sd'|')"
ok 'a name that no rule has is not looked up' eval '! grep -q secret "$tmp/outside.log"'

# Profiles hold for the process that asks.
policy '"api.test:8080", "two.test:8080"'
printf 'profiles:\n  curl: {when: {exec: ["**/curl"]}, network: {default: deny, allow: ["two.test:8080"]}}\n' >>"$tmp/policy.yaml"
if have curl; then
	is '403 200 200' 'rules of a profile count for the process that asks' "$(run -- sh -c 'curl -so /dev/null -w "%{http_code} " http://api.test:8080/
		curl -so /dev/null -w "%{http_code} " http://two.test:8080/; "$0" "$1" url=api.test:8080/ >/dev/null && echo 200' "$python" "$here/proxy_client.py")"
	is '200 403 97 000' 'curl, as HTTP and as SOCKS proxy' "$(policy '"api.test:8080"'; run -- sh -c 'p=${HTTP_PROXY#http://}
		curl -so /dev/null -w "%{http_code} " -x socks5h://$p http://api.test:8080/
		curl -so /dev/null -w "%{http_connect} " -p http://two.test:8080/
		curl -so /dev/null -x socks5://$p http://two.test:8080/; printf "%s " $?; curl -so /dev/null -w "%{http_connect}" http://localhost:9/')"
	is '11 bytes|100000 bytes' 'bodies, with a length and in chunks' "$(run -- sh -c 'curl -sd hello=world http://api.test:8080/
		head -c 100000 /dev/zero | curl -sT - http://api.test:8080/' | sed 's/.*, //' | paste -sd'|')"
fi

printf 'version: 1\nmode: enforce\nfilesystem: {default: allow}\nnetwork: {default: allow, proxy: environment}\nprofiles:\n  shy: {when: {exec: ["**/sleep", "**/coreutils"]}, network: {default: deny, allow: ["127.0.0.1:*"]}}\n' >"$tmp/policy.yaml"
is '403 200' 'rules of a profile count for whoever holds the connection too, behind many others' "$(ask held=sleep=api.test:8080)"

# Who has many descriptors has them to read.
for engine in hybrid preload; do
	policy '"api.test:8080"'
	is 'in time' "$engine: a process with all the descriptors that it may have holds up nobody else" "$(ask crowded=100=api.test:8080/)"
done
engine=hybrid
policy '"api.test:8080"'
printf 'profiles:\n  curl: {when: {exec: ["**/curl"]}, network: {default: deny, allow: ["two.test:8080"]}}\n' >>"$tmp/policy.yaml"
is 'in time' 'nor where there are profiles, and it is in none of its own' "$(ask crowded=100=api.test:8080/)"

# Limits, a look at names, and a human's word hold here, too.
for engine in hybrid preload; do
	policy '"api.test:8080"' 'match_sni: true'
	printf 'limits: {connections_per_minute: 3, bytes_out: 3000}\n' >>"$tmp/policy.yaml"
	like "^$hello\\|.*reset\\|socks 0\\|403 api.test:8080 is denied by .*: limits.connections_per_minute: 3? ?[a-z]*told$" \
		"$engine: names in a tunnel are looked at, connections are counted" \
		"$(ask url=api.test:8080/ tunnel=api.test:8080 open=api.test:8080 url=api.test:8080/)"
	ok "$engine: what was sent and why it was cut is in the log" jq -es 'any(.[]; .event == "connection" and .host == "api.test" and
		.bytes_in > 100 and .port == 8080) and any(.[]; .call == "http" and .host == "inside" and .verdict == "deny")' "$log"
	is "hello from api.test:8080, 1000 bytes|closed" "$engine: so are bytes" "$(ask post=1000 post=2500)"
done
engine=hybrid
policy '' 'ask: ["api.test:8080"]'
asks() { "$AGENTWATCH" approve --json | jq -r 'select(.session == "asks") | .question' | grep -qx "$1"; }
"$AGENTWATCH" run --quiet --runner exec --policy "$tmp/policy.yaml" --session asks -- "$python" "$here/proxy_client.py" url=api.test:8080/ socks=api.test:8080 >"$tmp/asked" &
session=$!
wait_for 10 asks 1
"$AGENTWATCH" approve asks/1 --once >/dev/null 2>&1
wait_for 10 asks 2
"$AGENTWATCH" approve asks/2 --deny >/dev/null 2>&1
wait $session
is "$hello|socks 2" 'a human is asked, each time' "$(paste -sd'|' <"$tmp/asked")"

if have git; then
	git init -q "$tmp/work" && git -C "$tmp/work" -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
	git clone -q --bare "$tmp/work" "$tmp/repo.git" && git -C "$tmp/repo.git" update-server-info
	policy '"api.test:8080"'
	is first 'git over http' "$(run -- sh -c 'git clone -q http://api.test:8080/repo.git "$0" && git -C "$0" log --format=%s' "$tmp/clone" 2>&1)"
fi

# Nobody else may use it, nor is it a way to itself.
policy '"api.test:8080"'
sed -i 's/proxy: environment/proxy: listen/' "$tmp/policy.yaml"
"$AGENTWATCH" run --runner exec --policy "$tmp/policy.yaml" --log "$log" --session "listen" -- \
	sh -c 'env >"$1/env"; until [ -e "$1/done" ]; do sleep 0.02; done' sh "$tmp" 2>"$tmp/err" &
session=$!
wait_for 10 test -s "$tmp/env"
place=$(jq -r .proxy "$XDG_STATE_HOME/agentwatch/sessions/listen/session.json")
like "listens inside on $place" 'where it listens is told' "$(cat "$tmp/err")"
is "$place" 'ps tells it too' "$("$AGENTWATCH" ps --json | jq -r .proxy)"
ok '"listen" leaves the environment alone' eval '! grep -qi _proxy "$tmp/env"'
is '403 this proxy is for the processes of an agentwatch session, and the one that asks is none that it can see told' \
	'who is not of the session is refused' "$(HTTP_PROXY=http://$place http_proxy=http://$place "$python" "$here/proxy_client.py" url=api.test:8080/)"
touch "$tmp/done"
wait $session
policy '"127.0.0.1"'
like '^HTTP/1.1 403 ' 'it is no way to itself' "$(run -- sh -c '"$0" "$1" "raw=CONNECT 127.0.0.1:${HTTP_PROXY##*:} HTTP/1.1\r\n\r\n"' "$python" "$here/proxy_client.py")"
policy '"api.test:8080"' 'deny: ["127.0.0.0/8"]'
like '^(Permission|URLError|Connection)' 'a rule against its address stands' "$(ask url=api.test:8080/)"

policy '"api.test:8080"'
sed -i 's/mode: enforce/mode: audit/' "$tmp/policy.yaml"
like '^agentwatch: network.proxy has no effect in mode audit[^|]*\|no$' 'mode audit leaves the environment alone' \
	"$("$AGENTWATCH" run --runner exec --policy "$tmp/policy.yaml" -- sh -c 'echo "${HTTP_PROXY-no}"' 2>&1 | grep -v 'would' | paste -sd'|')"

# The user's own proxy behind it.
for sandbox in exec bwrap; do
	runner=$sandbox
	run -- true >/dev/null 2>&1 || continue
	policy '"api.test:8080", "far.example", "localhost"'
	: >"$tmp/outside.log"
	export HTTPS_PROXY=http://user:p%40ss@192.0.2.20:3128 http_proxy=http://user:p%40ss@192.0.2.20:3128
	like '^HTTP/1.1 200 Connection established  HTTP/1.1 200 OK.*hello' "$sandbox: a tunnel through the proxy upstream" "$(ask tunnel=api.test:8080)"
	is 'by way of me|403 two.test:8080 is not among what network.allow of the policy admits, and network.default is deny told' \
		"$sandbox: a URL, and what is refused stays here" "$(ask url=far.example/x url=two.test:8080/)"
	is 'http CONNECT api.test:8080 Basic dXNlcjpwQHNz|http GET http://far.example/x Basic dXNlcjpwQHNz' "$sandbox: who we are is told to it alone" \
		"$(paste -sd'|' <"$tmp/outside.log" | sed 's/web[^|]*|//')"
	HTTPS_PROXY=http://192.0.2.20:3128
	like '^HTTP/1.1 502 .*X-Agentwatch-Reason: the proxy upstream \(192.0.2.20:3128\) answers: 407 Who are you\?' "$sandbox: its refusal is passed on" "$(ask tunnel=api.test:8080)"
	export HTTPS_PROXY=socks5h://user:p%40ss@192.0.2.20:1080 http_proxy=socks5://user:p%40ss@192.0.2.20:1080
	: >"$tmp/outside.log"
	is "hello from inside, 0 bytes|$hello" "$sandbox: SOCKS upstream, with names and with addresses" "$(ask socks=api.test:8080 url=api.test:8080/)"
	is 'socks 3 api.test|socks 1 192.0.2.10' "$sandbox: ... as its URL says" "$(grep socks "$tmp/outside.log" | paste -sd'|')"
	export NO_PROXY=api.test HTTPS_PROXY=http://192.0.2.20:9 http_proxy=http://192.0.2.20:9
	is "$hello|HTTP/1.1 502 Bad Gateway" "$sandbox: NO_PROXY" "$(ask url=api.test:8080/ 'raw=CONNECT far.example:443 HTTP/1.1\r\n\r\n')"
	unset HTTPS_PROXY http_proxy NO_PROXY
done
runner=exec
like 'ALL_PROXY cannot be used as the proxy behind network.proxy: its scheme' 'one that cannot be used is told before anything starts' \
	"$(ALL_PROXY=https://secret:word@192.0.2.20 run -- true 2>&1)"
done_testing
