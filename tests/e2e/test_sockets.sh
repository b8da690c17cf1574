#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_sockets.sh - pairs of socket calls by two threads on one socket, in every state of it.
#
# tests/escapes/sockets.c makes the calls, tests/escapes/sockets.py are the servers, outside of the
# session, and knows which of them nobody may reach.  AW_SOCKETS_PAIR and AW_SOCKETS_FOCUS: ms for
# each pair of calls, and for those that have to do with a socket that becomes as new.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have python3 || skip_all 'no python3'
if [ -z "${AW_ALONE:-}" ]; then
	have ip && have unshare || skip_all 'no namespaces here'
	rm -rf "$tmp"
	trap - EXIT
	setup='ip link set lo up && for a in 192.0.2.10/32 192.0.2.66/32 192.0.2.53/32; do ip address add $a dev lo || exit 1; done
		for a in 2001:db8::10 2001:db8::66 2001:db8::53; do ip address add $a/128 dev lo nodad || exit 1; done
		printf "nameserver 192.0.2.53\nnameserver 2001:db8::53\n" >"$1" && mount --bind "$1" /etc/resolv.conf || exit 1
		echo 1 >/proc/sys/net/ipv4/tcp_tw_reuse'
	names=$(mktemp) && chmod 644 "$names"
	if is_root; then
		AW_ALONE=1 exec unshare -nm bash -c "$setup"'; exec bash "$0"' "$0" "$names"
	fi
	AW_ALONE=1 exec unshare -Unm --map-current-user --keep-caps bash -c \
		"$setup"'; exec setpriv --ambient-caps=-all --inh-caps=-all bash "$0"' "$0" "$names"
fi

pair=${AW_SOCKETS_PAIR:-1} focus=${AW_SOCKETS_FOCUS:-150}
compile escapes/sockets gcc -std=gnu11 -O1 -pthread "$root/tests/escapes/sockets.c" ||
	{ fail 'sockets.c compiles' "$(<"$tmp/compile.log")"; done_testing; }
program=$compiled
chmod 755 "$tmp"
mkfifo "$tmp/ask"
mkdir -m 755 "$tmp/outside"
/usr/bin/python3 "$root/tests/escapes/sockets.py" "$tmp/ready" "$tmp/report" "$tmp/outside" <"$tmp/ask" &
server=$!
exec 7>"$tmp/ask"
at_end 'kill $server'
wait_for 5 test -e "$tmp/ready" || skip_all 'no addresses of its own here'

cat >"$tmp/policy.yaml" <<END
version: 1
mode: enforce
network:
  default: deny
  allow: ["192.0.2.10:*", "[2001:db8::10]:*", "unix:@aw-good-*", "good.example.com:443"]
  listen: ["127.0.0.1:*", "[::1]:*", "unix:@aw-own"]
END
cat >"$tmp/relay.yaml" <<END
version: 1
mode: enforce
network: {default: allow, deny: ["evil.example.com"], match_sni: true}
END

# reached: what has been since the last time.
reached()
{
	rm -f "$tmp/report"
	echo >&7
	wait_for 5 test -e "$tmp/report"
	cat "$tmp/report"
}

# as USER COMMAND...
as()
{
	local user=$1
	shift
	if [ "$user" = "$(id -un)" ]; then "$@"; else
		runuser -u "$user" -- env XDG_STATE_HOME="$tmp/$user" XDG_RUNTIME_DIR="$tmp/$user" XDG_CONFIG_HOME="$tmp/$user" HOME="$tmp/$user" "$@"
	fi
}

export BAD_S=$tmp/outside/bad-s BAD_D=$tmp/outside/bad-d
# Bare, everything is reached: these are attempts that can succeed.
"$program" tcp4 1 1 >"$tmp/out"
"$program" udp6 1 1 >>"$tmp/out"
"$program" stream 1 1 >>"$tmp/out"
"$program" relay 1 1 >>"$tmp/out"
bare=$(reached)
for what in '127.0.0.1 port 7004 tcp' '192.0.2.53 port 53 tcp' '192.0.2.66 port 7003 tcp' '::1 port 7004 udp' \
	'2001:db8::53 port 53 udp' '@aw-bad-s stream' 'a denied name at 192.0.2.10'; do
	like "$what" "bare, reached: $what" "$bare"
done

users=("$(id -un)")
if is_root && id awtest >/dev/null 2>&1 && runuser -u awtest -- test -x "$AGENTWATCH" -a -x "$program"; then users+=(awtest); fi
for user in "${users[@]}"; do
	[ "$user" = "$(id -un)" ] || install -d -m 700 -o "$user" "$tmp/$user"
	for runner in exec landlock bwrap; do
		if ! as "$user" timeout 20 "$AGENTWATCH" run --quiet --log none --runner "$runner" --on-missing-runner fail -- true 2>/dev/null; then
			skip "$user, $runner" 'does not work here'
			continue
		fi
		tries=0
		reached >/dev/null
		for kind in tcp4 tcp6 udp4 udp6 stream dgram relay; do
			policy=$tmp/policy.yaml
			[ "$kind" != relay ] || policy=$tmp/relay.yaml
			n=$(as "$user" timeout 300 "$AGENTWATCH" run --quiet --log none --runner "$runner" --policy "$policy" \
				-- "$program" "$kind" "$pair" "$focus" 2>"$tmp/err") || { tries=0; break; }
			tries=$((tries + n))
		done
		found=$(reached)
		if [ "$tries" = 0 ]; then
			fail "$user, $runner: the calls are made" "$kind" "$(<"$tmp/err")"
			continue
		fi
		is '' "$user, $runner: nobody is reached who must not be ($tries tries)" "$(grep -v '^good:' <<<"$found")"
		like 'good: [0-9]{2}' "$user, $runner: who may be is" "$found"
	done
done
exec 7>&-

# Flow labels take headers along that route elsewhere.
is 'EINVAL EPERM' 'no flow labels where an address is refused' "$(for run in '' "$AGENTWATCH run --quiet --log none --runner exec --policy $tmp/policy.yaml --"; do
	$run python3 -c 'import errno, socket
try: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).setsockopt(socket.IPPROTO_IPV6, 32, bytes(32))
except OSError as e: print(errno.errorcode[e.errno])'; done | xargs)"
done_testing
