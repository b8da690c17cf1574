#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_programs.sh - real programs reach the host that a rule names, and no other.
#
# Each program is run three times: bare, where it must reach the host that is denied later, and in sessions, with
# the allowed name and with the denied one.  AW_FULL=1: more of them, and behind every sandbox; as an ordinary user: fewer.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lab.sh"
unset AGENTWATCH_RUNNER # the policies name the sandboxes
need_agentwatch
have jq || skip_all 'no jq'
clients=$root/tests/e2e/lab/clients
programs=$tests/programs

# build NAME SOURCE COMMAND...: the command has @ for what is to come; built once for root and others.
build()
{
	local words=("${@:3}")
	have "$3" && [ ! "$programs/$1" -nt "$clients/$2" ] || return 0
	mkdir -p "$programs" 2>/dev/null && [ -w "$programs" ] || return 0
	"${words[@]//@/$programs/new-$1}" "$clients/$2" >"$tmp/build.log" 2>&1 && mv "$programs/new-$1" "$programs/$1"
}
if [ -z "${AW_ALONE:-}" ]; then
	CGO_ENABLED=0 GO111MODULE=off build go client.go go build -o @ &
	build rust client.rs rustc -O -C target-feature=+crt-static -o @ &
	build java Client.java javac -d @ &
	build musl client.c musl-gcc -static -O2 -o @
	wait
fi
lab_alone "$0"
lab_start || skip_all 'the hosts of the test cannot be had here'
export HOME=$tmp/home PYTHONDONTWRITEBYTECODE=1 GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 NODE_OPTIONS='' PIP_NO_CACHE_DIR=1 \
	PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONFIG_FILE=/dev/null npm_config_update_notifier=false
mkdir -p "$HOME" "$tmp/work"

policy()
{
	cat >"$tmp/policy.yaml" <<-EOF
		version: 1
		mode: enforce
		runner: $1
		protections: {private-keys: off}
		filesystem: {default: read-only, write: ["$tmp/work", "$HOME"]}
		network:
		  default: deny
		  allow: ["allowed.test", "*.allowed.test", "localhost:*"]
		  listen: ["*"]
	EOF
}

# program NAME EXPECTED COMMAND: what it prints last when it has reached @; $W is a folder of its own.
list=() wants=()
program() { list+=("$1"); wants+=("$2"); printf 'try %q %q\n' "$1" "$3" >>"$tmp/programs"; }
missing() { skip "$1" "no $2"; }
as_root() { [ "${lab_user:-0}" != 0 ] && [ -z "${AW_FULL:-}" ] || program "$@"; }
in_full() { [ -z "${AW_FULL:-}" ] || program "$@"; }

have curl && {
	as_root 'curl, IPv4' 'hello from @' 'curl -sS -4 http://@/hello'
	program 'curl, IPv6' 'hello from v6.@' 'curl -sS http://v6.@/hello'
	as_root 'curl, several at a time' 5 'curl -sS --parallel --parallel-immediate http://@/hello http://@:8080/hello http://@/where http://@/hello http://@:8080/hello | wc -l'
	in_full 'curl over a CNAME' 'hello from alias.@' 'curl -sS http://alias.@/hello'
	in_full 'curl, a megabyte' 1000000 'curl -sS http://@/big/1000000 | wc -c'
	in_full 'curl, where it is led' 'hello from @' 'curl -sSL http://@:8080/to/@'
	[ -e "$lab/cert.pem" ] && program 'curl, https' 'hello from @' "curl -sS --cacert $lab/ca.pem https://@/hello"
}
have wget && program wget 'hello from @' 'wget -q -T 10 -t 1 -O - http://@/hello'
have git && program 'git over http' 'from the lab' 'git clone -q http://@/git/one.git $W/a && cat $W/a/README'
lab_ssh && have git && as_root 'git over ssh' 'from the lab' \
	"GIT_SSH_COMMAND='${lab_ssh[*]}' git clone -q ssh://@$lab/repositories/one.git \$W/a && cat \$W/a/README"
[ -n "${lab_ssh:-}" ] && [ "${lab_why:-}" = 'no ssh server' ] && program ssh 'over ssh' "${lab_ssh[*]} @ echo over ssh"
in_full 'python, urllib' 'hello from @' "python3 $clients/client.py urllib @"
in_full 'python, blocking' echo "python3 $clients/client.py blocking @"
program 'python, epoll and a duplicate' echo "python3 $clients/client.py selecting @"
program 'python, a datagram' echo "python3 $clients/client.py udp @"
as_root 'python, datagrams of a connection' echo "python3 $clients/client.py udp-connected @"
as_root 'asyncio' echo "python3 $clients/client.py asyncio @"
program 'asyncio, many' echo "python3 $clients/client.py asyncio-many @"
program 'asyncio, datagrams' echo "python3 $clients/client.py asyncio-udp @"
have node && for kind in ${AW_FULL:+tcp} fetch get udp; do
	want='hello from @'
	[ "${#kind}" != 3 ] || [ $kind = get ] || want=echo
	program "node, $kind" "$want" "node $clients/client.js $kind @"
done
have node && program 'node, dns.resolve' @ \
	"node -e \"require('dns').resolveCname('alias.@', (e, r) => console.log(e ? String(e) : r[0]))\""
have npm && as_root 'npm install' 'from the lab' \
	'cd $W && npm install --silent --registry http://@/npm/ --cache $W/cache --no-audit --no-fund --fetch-retries=0 lab-package >$W/npm.log 2>&1; cat $W/npm.log; node -p "require(\"lab-package\")"'
python3 -m pip --version >/dev/null 2>&1 && as_root 'pip install' 'from the lab' \
	'python3 -m pip install -q --retries 0 --trusted-host @ --index-url http://@/simple --target $W/p lab-wheel 2>&1; PYTHONPATH=$W/p python3 -c "import lab_wheel; print(lab_wheel.text)"'
in_full 'pip install in an environment' 'from the lab' \
	'python3 -m venv $W/e && $W/e/bin/pip install -q --retries 0 --trusted-host @ --index-url http://@/simple lab-wheel 2>&1; $W/e/bin/python -c "import lab_wheel; print(lab_wheel.text)"'
[ -x "$programs/go" ] && for kind in ${AW_FULL:+tcp} http udp; do
	program "Go, static, $kind" "$([ $kind = http ] && echo 'hello from @' || echo echo)" "$programs/go $kind @"
done
[ -x "$programs/rust" ] && for kind in ${AW_FULL:+limited} tcp udp; do program "Rust, static, $kind" echo "$programs/rust $kind @"; done
[ -x "$programs/musl" ] && for kind in tcp udp; do program "musl, static, $kind" echo "$programs/musl $kind @"; done
[ -d "$programs/java" ] && have java && as_root 'Java HttpClient' 'hello from @' \
	"java -Xshare:auto -XX:TieredStopAtLevel=1 -cp $programs/java Client @"
[ -x "$programs/go" ] || missing Go go
[ -x "$programs/rust" ] || missing Rust rustc
[ -d "$programs/java" ] || missing 'Java HttpClient' java
have npm || missing 'npm install' npm

# These reach nobody, in whichever session: an address that no name gave, and a server of somebody else's.
printf 'try %q %q\n' address "python3 $clients/client.py blocking 192.0.2.30" 'name server' "python3 $clients/client.py ask 192.0.2.30 tunnel.@" \
	tunnel "python3 $clients/client.py ask ${lab_v4[0]} tunnel.other.test" >"$tmp/refused"

# What a session runs: "NAME<tab>HOST<tab>last line of its output".
cat >"$tmp/session.sh" <<EOF
try()
{
	for host in \$hosts; do
		W=\$(mktemp -d "\$work/XXXXXX")
		export W TMPDIR=\$W
		out=\$(timeout 60 bash -c "\${2//@/\$host}" 2>&1 </dev/null | tail -n 1)
		printf '%s\t%s\t%s\n' "\$1" "\$host" "\$out"
	done
}
work=\$1 hosts=\$2
shift 2
for list; do . "\$list"; done
EOF
result() { awk -F '\t' -v name="$2" -v host="$3" '$1 == name && $2 == host { print $3; found = 1 } END { if (!found) print "it was not run" }' "$1"; }

# Bare, they reach the host that is denied later; two at a time is what goes on here.
mkdir -p "$tmp/bare-denied"
bash "$tmp/session.sh" "$tmp/bare-denied" denied.test "$tmp/programs" >"$tmp/bare" &
bare=$!

sandboxes=(bwrap)
[ -z "${AW_FULL:-}" ] || sandboxes=(bwrap landlock exec)
for sandbox in "${sandboxes[@]}"; do
	policy "$sandbox"
	"$AGENTWATCH" run --quiet --policy "$tmp/policy.yaml" --log none -- true 2>/dev/null ||
		{ skip "behind $sandbox" 'it does not work here'; continue; }
	inside=$("$AGENTWATCH" run --quiet --policy "$tmp/policy.yaml" --log none -- readlink /proc/self/ns/net)
	[ $sandbox != bwrap ] || ok "$sandbox: the network is another one" test "$inside" != "$(readlink /proc/self/ns/net)" -a -n "$inside"
	rm -f "$log"
	for host in allowed denied; do
		mkdir -p "$tmp/work/$sandbox-$host"
		watched --policy "$tmp/policy.yaml" --log "$log.$host" -- bash "$tmp/session.sh" "$tmp/work/$sandbox-$host" $host.test "$tmp/programs" "$tmp/refused" \
			>"$tmp/$sandbox-$host.out" 2>"$tmp/$sandbox-$host.err" &
		sessions+=($!)
	done
	wait "${sessions[@]}"
	sessions=()
	cat "$tmp/$sandbox"-*.out >"$tmp/$sandbox"
	for i in "${!list[@]}"; do
		is "${wants[i]//@/allowed.test}" "$sandbox: ${list[i]}: the allowed host" "$(result "$tmp/$sandbox" "${list[i]}" allowed.test)"
		got=$(result "$tmp/$sandbox" "${list[i]}" denied.test)
		if [ "$got" = "${wants[i]//@/denied.test}" ] || [ "$got" = 'it was not run' ]; then
			fail "$sandbox: ${list[i]}: not the denied one" "got: $got"
		else
			pass "$sandbox: ${list[i]}: not the denied one"
			[ -z "${AW_VERBOSE:-}" ] || note "$got"
		fi
	done
	is PermissionError "$sandbox: an address that no name gave is refused" "$(result "$tmp/$sandbox" address allowed.test | cut -d ' ' -f 1)"
	like '^(PermissionError|TimeoutError)' "$sandbox: so is another name server" "$(result "$tmp/$sandbox" 'name server' denied.test)"
	is 'no such name' "$sandbox: the name service knows no name that is not allowed" "$(result "$tmp/$sandbox" tunnel allowed.test)"
	ok "$sandbox: and has not asked for it" sh -c '! grep -i tunnel "$1"' sh "$lab/dns.log"
	ok "$sandbox: denied names are logged" jq -es 'any(.[]; .call == "dns" and .host == "denied.test" and .verdict == "deny")' "$log.denied"
	ok "$sandbox: connections are logged with the name and the rule" jq -es 'any(.[]; .call == "connect" and .host == "allowed.test" and
		.verdict == "allow" and .rule.text == "allowed.test")' "$log.allowed"
	ok "$sandbox: nothing else was reached" jq -es 'map(select(.event == "call" and .call != "getaddrinfo")) | all(.[]; ((.host // "") | endswith("denied.test") | not) or
		.verdict == "deny") and all(.[]; (.address // "") as $a | (["192.0.2.20", "2001:db8::20"] | index($a) | not) or .verdict == "deny")' "$log.denied"
done
wait $bare
for i in "${!list[@]}"; do
	got=$(result "$tmp/bare" "${list[i]}" denied.test)
	[ "$got" = "${wants[i]//@/denied.test}" ] || fail "${list[i]}: bare, it reaches the denied host" "got: $got"
done
done_testing
