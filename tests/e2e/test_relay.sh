#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_relay.sh - names on the wire, limits of connections and bytes, ends of connections.
#
# Runs with a hosts file, servers and addresses of its own.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/network.sh"
need_agentwatch
have python3 || skip_all 'no python3'
have openssl || skip_all 'no openssl'
alone_with_mounts "$0"

ip link set lo up
for address in 192.0.2.10 192.0.2.20; do ip address add "$address/32" dev lo; done
printf '%s\n' '127.0.0.1 localhost' '192.0.2.10 api.test' '192.0.2.10 other.test' >"$tmp/hosts"
echo 'nameserver 127.0.0.1' >"$tmp/resolv.conf"
mount --bind "$tmp/hosts" /etc/hosts && mount --bind "$tmp/resolv.conf" /etc/resolv.conf ||
	skip_all '/etc/hosts cannot be replaced here'
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=api.test \
	-keyout "$tmp/key" -out "$tmp/cert" 2>/dev/null || skip_all 'no certificate can be made'
here=$root/tests/e2e
python3 "$here/relay_server.py" "$tmp/cert" "$tmp/key" "$tmp/ready" &
server=$!
at_end 'kill $server'
wait_for 5 test -e "$tmp/ready"

# policy RUNNER LINES...: a name at any port, an address at any port, and more.
policy()
{
	printf 'version: 1\nmode: enforce\nrunner: %s\n' "$1" >"$tmp/policy.yaml"
	shift
	printf '%s\n' "$@" >>"$tmp/policy.yaml"
}
reach()
{
	rm -f "$log"
	"$AGENTWATCH" run --quiet --runner "$runner" --engine hybrid --policy "$tmp/policy.yaml" --log "$log" -- \
		python3 "$here/relay_client.py" "$@" | xargs
}
has() { jq -es "any(.[]; $1)" "$log"; }

a=192.0.2.10 b=192.0.2.20
for runner in exec bwrap landlock; do
	policy $runner 'network: {match_sni: true, default: deny, allow: ["api.test", "192.0.2.20"], deny: ["bad.test"]}'
	[ $runner = exec ] || [ "$(reach connect/$b/80)" = connected ] ||
		{ skip "behind $runner" 'it does not work here'; continue; }
	is 'hello hello hello ECONNRESET ECONNRESET' "$runner: TLS passes by the name that is allowed, in pieces too" \
		"$(reach tls/$a/443/api.test nb-tls/$a/443/API.test. tls/$a/443/api.test/1 tls/$a/443/other.test nb-tls/$a/443/other.test/1)"
	ok "$runner: the log has the other name" has '.call == "tls" and .verdict == "deny" and .enforced and
		.host == "other.test" and .address == "192.0.2.10" and .port == 443 and .result == "ECONNRESET"'
	[ $runner != landlock ] || continue
	is 'ECONNRESET ECONNRESET' "$runner: none, or an address, is no name" "$(reach tls/$a/443/ tls/$a/443/192.0.2.10)"
	ok "$runner: the log has the key" has '.call == "tls" and .rule.text == "network.match_sni: true" and .rule.line == 4'
	is 'api.test api.test,api.test ECONNRESET ECONNRESET ECONNRESET' "$runner: HTTP passes by its Host, each request" \
		"$(reach http/$a/80/api.test http/$a/80/api.test/api.test http/$a/80/other.test http/$a/80/api.test/other.test http/$a/80/)"
	is 'ECONNRESET x SSH-2.0-test,heard-SSH-2.0-me any.test ECONNRESET' "$runner: other protocols pass by address, where no name is denied" \
		"$(reach ssh/$a/22 echo/$b/7 ssh/$b/22 http/$b/80/any.test http/$b/80/bad.test)"
	ok "$runner: the log has the rule" has '.call == "http" and .host == "bad.test" and .rule.text == "bad.test"'
	is 'ECONNREFUSED ECONNREFUSED EACCES' "$runner: errors are those of the server's" \
		"$(reach connect/$b/99 nb-connect/$b/99 connect/192.0.2.30/80)"
	is '1000000 2000000 3000000' "$runner: bytes go both ways" "$(reach sink/$b/9000/1000000 nb-sink/$b/9000/2000000 flood/$b/9001/3000000)"
	is '[[7,3000000],[1000000,7],[2000000,7]]' "$runner: and are counted" \
		"$(jq -cs '[.[] | select(.event == "connection") | [.bytes_out, .bytes_in]] | sort' "$log")"
	ok "$runner: with who and how long" has '.event == "connection" and .pid > 0 and .address == "192.0.2.20" and .port == 9001 and .duration_ns > 0'
	is 'sent EACCES' "$runner: a datagram goes by address alone" "$(reach udp/$b/7 udp/$a/7)"
	[ $runner = exec ] || is '192.0.2.20:7' "$runner: the socket knows its server" "$(reach peer/$b/7)"
done


for runner in exec bwrap; do
	policy $runner 'limits:' '  bytes_out: 1m' '  connections_per_minute: 4' 'network: {default: deny, allow: ["192.0.2.20"]}'
	[ $runner = exec ] || [ "$(reach connect/$b/80)" = connected ] || { skip "limits behind $runner" 'it does not work here'; continue; }
	is '1000000 ECONNRESET 10 EACCES connected EACCES EACCES' "$runner: more bytes than allowed, then more connections" \
		"$(reach sink/$b/9000/1000000 sink/$b/9000/1000000 nb-sink/$b/9000/10 udp/$b/7 connect/$b/80 connect/$b/80 nb-connect/$b/80)"
	ok "$runner: no more than allowed has gone out" \
		jq -es '[.[] | select(.event == "connection") | .bytes_out] | add <= 1048576' "$log"
	ok "$runner: the log has the limit of bytes" has '.call == "relay" and .verdict == "deny" and .rule.text == "limits.bytes_out: 1048576" and .rule.line == 5'
	ok "$runner: and that of connections" has '.call == "connect" and .verdict == "deny" and .rule.text == "limits.connections_per_minute: 4" and .rule.line == 6'
	"$AGENTWATCH" log "$log" --denied >"$tmp/shown"
	ok "$runner: shown with host, port and rule" grep -q '192.0.2.20:80 by limits.connections_per_minute: 4  EACCES' "$tmp/shown"
done

# Over sockets of their own the kernel tells; one byte more is the end of what came.
for runner in exec bwrap; do
	policy $runner 'network: {default: deny, refusal: ECONNREFUSED, allow: ["192.0.2.20"]}'
	[ $runner = exec ] || [ "$(reach connect/$b/80)" = connected ] || { skip "ends behind $runner" 'it does not work here'; continue; }
	is '1000000 3000000 ECONNREFUSED ECONNREFUSED' "$runner: without any of these" \
		"$(reach nb-sink/$b/9000/1000000 flood/$b/9001/3000000 connect/$b/99 connect/$a/80)"
	is '[[7,3000000],[1000000,7]]' "$runner: the bytes are counted all the same" \
		"$(jq -cs '[.[] | select(.event == "connection") | [.bytes_out, (.bytes_in - if .bytes_in % 10 == 8 or .bytes_in % 10 == 1 then 1 else 0 end)]] | sort' "$log")"
done
# Connections of other protocols count, too.
mptcp='import socket
made = 0
try:
    for _ in range(6):
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
        s.connect(("192.0.2.20", 7))
        made += 1
except OSError as error:
    print(made, error.errno)
else:
    print(made)'
if [ "$(python3 -c "$mptcp" 2>&1)" = 6 ]; then
	for runner in exec bwrap landlock; do
		policy $runner 'limits: {connections_per_minute: 3}' 'network: {default: deny, allow: ["192.0.2.20"]}'
		[ $runner = exec ] || [ "$(reach connect/$b/80)" = connected ] || continue
		is '3 13' "$runner: a limit of connections holds for MPTCP" \
			"$("$AGENTWATCH" run --quiet --runner $runner --policy "$tmp/policy.yaml" --log none -- python3 -c "$mptcp" 2>&1)"
	done
else
	skip 'a limit of connections holds for MPTCP' "this kernel has none: $(python3 -c "$mptcp" 2>&1)"
fi

# Sockets that linger hold nobody else up.
python3 "$here/lingerer.py" server "$tmp/lingers" &
lingerer=$!
at_end 'kill $lingerer'
wait_for 5 test -e "$tmp/lingers"
mkdir "$tmp/lingering"
for runner in exec bwrap landlock; do
	policy $runner 'limits: {bytes_out: 100m}' 'network: {default: deny, allow: ["192.0.2.20"]}' "filesystem: {default: read-only, write: [\"$tmp/lingering\"]}"
	(cd "$tmp/lingering" && "$AGENTWATCH" run --quiet --runner $runner --policy "$tmp/policy.yaml" --log none -- true 2>/dev/null) || continue
	is 'not held up' "$runner: sockets that linger hold nobody else up" \
		"$(cd "$tmp/lingering" && rm -f over && timeout 120 "$AGENTWATCH" run --quiet --runner $runner --policy "$tmp/policy.yaml" --log none -- python3 "$here/lingerer.py" client 2>&1)"
done
done_testing
