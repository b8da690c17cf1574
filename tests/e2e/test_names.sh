#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_names.sh - names are answered for by the supervisor, and what it answered is what may be reached.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/lab.sh"
need_agentwatch
lab_alone "$0"
lab_start || skip_all '/etc/hosts cannot be replaced here'
have musl-gcc && compile names-musl musl-gcc -O1 -static tests/e2e/names.c && musl=$compiled

for host in 'lo A 127.0.0.1' 'ten A 10.1.2.3' 'six AAAA ::1' 'link AAAA fe80::1' 'mapped AAAA ::ffff:10.1.2.3' \
	'mixed A 192.0.2.10' 'mixed A 10.9.9.9' 'meta A 169.254.169.254' 'fine A 192.0.2.10' 'alias CNAME ten.public.example' \
	'service HTTPS 1 . alpn=h2 ipv4hint=192.0.2.20'; do
	read -r name type value <<<"$host"
	lab_name "$name.public.example" 60 "$type" "$value"
done
lab_name one.wild.example 60 A 192.0.2.20
lab_name turn.wild.example 0 A '192.0.2.10|192.0.2.20'
lab_name silent.wild.example 0 SILENT
lab_name 10.2.0.192.in-addr.arpa 60 PTR allowed.test
lab_name db.corp.example 60 A 192.0.2.30
long=$(printf '%064d' 0)
for ((i = 0; i < 200; i++)); do lab_name "n$i.wild.example" 60 A 192.0.2.10; done
for ((i = 0; i < 240; i++)); do lab_name "s$i.wild.example" 0 SILENT; done
for ((i = 0; i < 99; i++)); do lab_name big.wild.example 60 A "192.0.3.$i"; done

rules='"allowed.test:80", "*.wild.example", "*.public.example:80"'
# policy RULES [MORE]: of the network; and the rest of the file
policy() { printf 'version: 1\nmode: enforce\nnetwork: {default: deny, allow: [%s]%s}\n%s\npreset: []\n' "$1" "${2:-}" "${3:-}" >"$tmp/policy.yaml"; }
runner=exec engine=hybrid
run() { "$AGENTWATCH" run --quiet --runner $runner --engine $engine --policy "$tmp/policy.yaml" --log "$log" "$@"; }
names() { rm -f "$log"; run -- python3 "$root/tests/e2e/names.py" "$@" 2>&1 | paste -sd,; }
asked() { grep -c -- "$1" "$lab/dns.log"; }

# --- in every sandbox and engine ---
for way in exec/hybrid exec/kernel landlock/hybrid bwrap/hybrid; do
	runner=${way%/*} engine=${way#*/}
	policy "$rules"
	[ $runner = exec ] || run -- true >/dev/null 2>&1 || { skip "$way" 'it does not work here'; continue; }
	is '192.0.2.10 2001:db8::10,reached,no-name,refused,refused,refused' "$way: a name that is allowed is found and reached, others and bare addresses are not" \
		"$(names find=allowed.test reach=allowed.test=80 find=denied.test at=192.0.2.20=80 at=2001:db8::20=80 at=192.0.2.10=81)"
	is 'ok 192.0.2.10,ok 192.0.2.10,ok 192.0.2.10,ok 192.0.2.10,no-name,no-name' "$way: over UDP, TCP, a loose socket and one of IPv6" \
		"$(names ask=A=allowed.test ask=A=allowed.test=tcp ask=A=allowed.test=loose ask=A=allowed.test=six ask=A=denied.test=loose ask=A=denied.test=tcp)"
	ok "$way: each question is in the log, with who asked and the rule" jq -es 'any(.[]; .call == "dns" and .host == "allowed.test" and
		.type == "A" and .verdict == "allow" and .rule.text == "allowed.test:80" and .answers == ["192.0.2.10"] and (.exe | test("python"))) and
		any(.[]; .call == "dns" and .host == "denied.test" and .verdict == "deny" and .enforced and .result == "EACCES" and .reason)' "$log"
	is 'not let,not let' "$way: other servers and ports are addresses like any other" \
		"$(names ask=A=allowed.test=udp=192.0.2.30 ask=A=allowed.test=udp=192.0.2.53=5353)"
	have node && is 'allowed.test 192.0.2.10 ENOTFOUND' "$way: node's own resolver finds the same" "$(run -- node -e 'const d = require("dns").promises
		d.resolve4("allowed.test").then(a => d.resolve4("denied.test").catch(e => console.log("allowed.test", ...a, e.code)))')"
	[ -n "${musl:-}" ] && is 'reached,no-name' "$way: a static program's, too" "$(run -- "$musl" allowed.test denied.test | paste -sd,)"
done
runner=exec engine=hybrid

# --- names in all shapes ---
policy "$rules"
is 'ok 192.0.2.10,192.0.2.10,no-name,no-name,format,no-name,no-name,not-built' 'names are compared as they are meant; what is no name is refused' \
	"$(names ask=A=AlloweD.TEST find=fine.public.example. 'ask=A=allowed\000.test' 'ask=A=x.allowed\046test' "ask=A=$long.wild.example" \
		'ask=A=xn--llowed-8ve.test' 'ask=A=\208\176llowed.test' ask=AXFR=wild.example)"
is 0 'a name that is not allowed never leaves the machine' "$(asked '^[^ ]*\(denied\|xn--\|0000\|[^ -~]\)')"
is '0,0' 'nor does what is hidden in front of one' "$(names tunnel=50=denied.test),$(asked denied.test)"
is "15 no network rule allows this name,15 $tmp/policy.yaml:3: no.wild.example" 'a refusal has its reason, and its rule' \
	"$(policy "$rules" ', deny: ["no.wild.example"]'; names why=denied.test why=no.wild.example)"

is 'ok,no-name,no-name,no-name' 'of labels in front of a name those of a service are its own affair, and no others' \
	"$(names ask=SRV=_web._tcp.allowed.test ask=SRV=_data._more.allowed.test ask=SRV=_data.allowed.test \
		ask=SRV=_0123456789abcdef._tcp.allowed.test | sed 's/ [^,]*//g')"
is 0 '... which never leave the machine' "$(asked '^[^ ]*_\(data\|more\|0123\)')"

# --- what addresses a name may have ---
policy "$rules"
is 'no-name,no-name,no-name,no-name,no-name,no-name,no-name,no-name,192.0.2.10' 'a public name may not lead to private addresses' \
	"$(names find=lo.public.example find=ten.public.example find=six.public.example find=link.public.example find=mapped.public.example \
		find=mixed.public.example find=meta.public.example find=alias.public.example find=fine.public.example)"
ok 'the log says why' jq -es 'any(.[]; .call == "dns" and .host == "ten.public.example" and .verdict == "deny" and (.reason | test("10.1.2.3, a private address")))' "$log"
policy "$rules, \"10.0.0.0/8:80\""
is '10.1.2.3,no-name' 'unless a rule allows the address' "$(names find=ten.public.example find=lo.public.example)"
python3 - "$tmp/home" <<'EOP' &
import select, socket, sys
servers = [socket.create_server(("127.0.0.1", port)) for port in (80, 8080)]
open(sys.argv[1], "w").close()
while True:
    for server in select.select(servers, [], [])[0]:
        server.accept()[0].close()
EOP
at_end "kill $!"
wait_for 5 test -e "$tmp/home"
for runner in exec landlock bwrap; do
	policy "$rules, \"127.0.0.1:8080\""
	run -- true >/dev/null 2>&1 || { skip "$runner" 'it does not work here'; continue; }
	is '127.0.0.1,refused,refused,reached' "$runner: and then at the ports of that rule alone" \
		"$(names find=lo.public.example reach=lo.public.example=80 at=127.0.0.1=80 reach=lo.public.example=8080 | sed 's/Connection refused/refused/g')"
done
runner=exec
policy "$rules" ', private_names: ["ten.public.example"]'
is '10.1.2.3,no-name' 'or the name' "$(names find=ten.public.example find=lo.public.example)"
policy "$rules"
is 'refused,192.0.2.10,reached,refused,192.0.2.20,reached,reached' 'an address counts once it was the answer, by a wildcard too, and those before it' \
	"$(names at=192.0.2.10=80 find=turn.wild.example at=192.0.2.10=80 at=192.0.2.20=80 find=turn.wild.example at=192.0.2.10=80 at=192.0.2.20=80)"
is 'ok 65:10' 'addresses in service records are taken out' "$(names ask=HTTPS=service.public.example)"
is 'no-name,192.0.2.10,ok 12:14' 'the name of an address is told once it was the answer' \
	"$(names ask=PTR=10.2.0.192.in-addr.arpa find=fine.public.example ask=PTR=10.2.0.192.in-addr.arpa)"
is 'cut,100' 'what does not fit comes over TCP' "$(names ask=A=big.wild.example ask=A=big.wild.example=tcp | awk -F, '{split($1, w, " "); print w[2] "," split($2, x, " ")}')"

# --- /etc/hosts ---
policy '"allowed.test:80", "hosts.test:80"'
echo '192.0.2.30 hosts.test other.test' >>"$lab/hosts"
is 'reached,refused,no-name' 'names in the hosts file count, those that are allowed' \
	"$(names at=192.0.2.30=80 at=192.0.2.30=8080 ask=A=other.test)"
: >"$tmp/out"
run -- python3 "$root/tests/e2e/names.py" at=192.0.2.20=80 "wait=$tmp/changed" at=192.0.2.20=80 >"$tmp/out" &
wait_for 5 grep -q refused "$tmp/out"
echo '192.0.2.20 hosts.test' >>"$lab/hosts"
touch "$tmp/changed"
wait $!
is 'refused,there,reached' 'a change of it counts at once' "$(paste -sd, <"$tmp/out")"
policy '"allowed.test:80"' '' 'filesystem: {default: read-only}'
is 'cannot,no-name' 'inside, nobody rewrites it' "$(run -- sh -c 'echo 192.0.2.20 denied.test >>/etc/hosts || echo cannot
	exec python3 "$1" reach=denied.test=80' sh "$root/tests/e2e/names.py" 2>/dev/null | paste -sd,)"
printf '%s\n' '127.0.0.1 localhost' >"$lab/hosts"

# --- who and when ---
printf 'nameserver 192.0.2.53\nsearch corp.example\n' >"$lab/resolv.conf"
policy '"db:80"'
is '192.0.2.30,reached' 'a search domain behind a name is no other name' "$(names find=db reach=db=80)"
printf 'nameserver 192.0.2.53\n' >"$lab/resolv.conf"
policy "$rules" '' "profiles: {tight: {when: {exec: names-libc}, network: {default: deny, allow: [\"allowed.test:80\"]}}}"
compile names-libc gcc -O1 tests/e2e/names.c
is 'reached,no-name' 'a profile has names of its own' "$(run -- "$compiled" allowed.test one.wild.example 2>&1 | paste -sd,)"
printf 'version: 1\nmode: enforce\nbase: open\nnetwork: {deny: [denied.test, "other.test:80"]}\n' >"$tmp/policy.yaml"
is 'no-name,192.0.2.10 2001:db8::10,reached,refused,reached' 'where all else is allowed, a name that is not is not found, nor reached at its port' \
	"$(names ask=A=denied.test find=allowed.test at=192.0.2.10=80 reach=other.test=80 reach=other.test=8080)"
policy '"192.0.2.10:80"'
is 'no-name,reached' 'a policy without names refuses each, at once' "$(names ask=A=allowed.test at=192.0.2.10=80)"
policy '"one.wild.example"'
run -- python3 "$root/tests/e2e/names.py" find=allowed.test "wait=$tmp/reloaded" find=allowed.test find=one.wild.example >"$tmp/out" &
session=$!
wait_for 5 grep -q no-name "$tmp/out"
policy '"allowed.test:80"'
ok 'the policy can be read again' "$AGENTWATCH" policy reload "$(jq -r 'select(.session) | .session' "$log" | tail -n 1)"
touch "$tmp/reloaded"
wait $session
is 'no-name,there,192.0.2.10 2001:db8::10,no-name' 'a reload brings other names' "$(paste -sd, <"$tmp/out")"

# --- many, and silence ---
policy "$rules"
is '192.0.2.20 in time' 'a name whose server is silent holds up nobody else' "$(names behind=silent.wild.example=one.wild.example)"
is 200 '200 look-ups at once are answered' "$(names many=200=wild.example)"
is 'ok 192.0.2.10, ok 192.0.2.10' 'a process that waits for 200 silent names leaves threads to others, for names below the same domain too' \
	"$(names flood=1=200=wild.example=n0.wild.example=allowed.test)"
is 'ok 192.0.2.10' 'and so do 60 processes, for names of other domains' "$(names flood=60=4=wild.example=allowed.test)"
before=$(asked one.wild.example)
names ask=A=one.wild.example ask=A=one.wild.example ask=A=one.wild.example >/dev/null
is $((before + 1)) 'an answer is kept as long as it says' "$(asked one.wild.example)"

# Where no network namespace can be made; only in a user namespace is that ours to say.
if [ "${lab_user:-0}" != 0 ] && echo 0 >/proc/sys/user/max_net_namespaces 2>/dev/null; then
	is '192.0.2.10 2001:db8::10,reached,no-name,ok 192.0.2.10' 'without a namespace of its own, a port of the loopback stands in' \
		"$(names find=allowed.test reach=allowed.test=80 find=denied.test ask=A=allowed.test=tcp)"
	ok 'the log says so' jq -es 'any(.[]; .event == "warning" and .kind == "names")' "$log"
	ports() { ss -Huln src 127.0.0.1 | awk '{ sub(/.*:/, "", $4); print $4 }' | sort; }
	ports >"$tmp/before"
	names "wait=$tmp/asked" >/dev/null &
	session=$!
	wait_for 5 eval '[ -n "$(ports | comm -13 "$tmp/before" -)" ]'
	is refused 'who is not of the session is not answered there' \
		"$(python3 tests/e2e/names.py "ask=A=allowed.test=udp=127.0.0.1=$(ports | comm -13 "$tmp/before" - | head -n 1)")"
	touch "$tmp/asked"
	wait $session
else
	skip 'without a namespace of its own' 'it can be made'
fi
done_testing
