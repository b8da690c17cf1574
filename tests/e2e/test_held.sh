#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_held.sh - calls that are watched in mode enforce alone, each refused and let go on.
#
# The program goes over the rows of the table, so a new one is here by itself.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
compile held "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -I"$root" -O1 "$root/tests/e2e/held.c" ||
	{ fail 'held.c compiles' "$(cat "$tmp/compile.log")"; done_testing; }
held=$compiled
sleep 600 &
outside=$!
at_end "kill $outside"
mkdir "$tmp/work"
cd "$tmp/work" || exit 1
cat >"$tmp/policy.yaml" <<-'END'
	version: 1
	mode: enforce
	runner: exec
	filesystem: {default: read-only, write: ["$WORKSPACE"]}
	network: {default: deny}
END

"$held" $outside >"$tmp/bare"
"$AGENTWATCH" run --quiet -- "$held" $outside >"$tmp/audit"
same "$tmp/bare" "$tmp/audit" 'audit: none of these calls is changed'

for engine in hybrid kernel; do
	"$AGENTWATCH" run --quiet --engine $engine --log "$tmp/log" --policy "$tmp/policy.yaml" -- "$held" $outside >"$tmp/enforce"
	while read -r name what result; do
		bare=$(awk -v n="$name" -v w="$what" '$1 == n && $2 == w { print $3 }' "$tmp/bare")
		case $what in
		other) is EACCES "$engine: $name: a family that no rule can name is refused" "$result" ;;
		unbound) is EACCES "$engine: $name: a port of any address needs a rule" "$result" ;;
		joins) is EACCES "$engine: $name: so does a group" "$result" ;;
		route | device) is EPERM "$engine: $name: sending by another $what is refused" "$result" ;;
		outside) is EPERM "$engine: $name: a process that is not of the session is out of reach" "$result" ;;
		any | user | TIOC* | FS_IOC* | BTRFS*) is EPERM "$engine: $name $what is refused" "$result" ;;
		kept) is yes "$engine: $name: who gets signals is as it was before the refusals" "$result" ;;
		some) is ok "$engine: $name: those of a group that are of the session are changed" "$result" ;;
		sandbox) is EOPNOTSUPP "$engine: $name: there is no Landlock that would hold nothing" "$result" ;;
		size) is ENOSYS "$engine: $name is not there" "$result" ;;
		*) is "$bare" "$engine: $name $what is as without a watch" "$result" ;;
		esac
	done <"$tmp/enforce"
	ok "$engine: a refusal is in the log" grep -q '"call":"bpf","action":"system".*"verdict":"deny"' "$tmp/log"
	ok "$engine: so is that of an option" grep -q '"call":"setsockopt(IP_OPTIONS)","action":"system".*"verdict":"deny"' "$tmp/log"
	is '239.255.42.42 bind deny' "$engine: a group is judged as an address to bind to" \
		"$(jq -r 'select(.call == "setsockopt") | "\(.address) \(.action) \(.verdict)"' "$tmp/log")"
	is "$(wc -l <"$tmp/bare")" "$engine: every call was answered" "$(wc -l <"$tmp/enforce")"
done
# What is sent to no address at all goes to the machine itself.
printf 'version: 1\nmode: enforce\nrunner: exec\nfilesystem: {default: allow}\nnetwork: {default: allow, deny: [localhost]}\n' >"$tmp/home.yaml"
cat >"$tmp/home.py" <<'END'
import errno, socket
for text in ("127.0.0.1", "0.0.0.0", "::ffff:0.0.0.0", "::1", "::", "bound"):
    s = socket.socket(socket.AF_INET6 if ":" in text else socket.AF_INET)
    if text == "bound":
        s.bind(("127.0.0.5", 0))
        text = "0.0.0.0"
    print(errno.errorcode[s.connect_ex((text, 9))], end=" ")
END
is 'EACCES EACCES EACCES EACCES EACCES EACCES ' 'a denied loopback is not reached by 0.0.0.0 and ::' \
	"$("$AGENTWATCH" run --quiet --log none --policy "$tmp/home.yaml" -- python3 "$tmp/home.py")"
sed -i 's/default: allow, deny: .localhost./default: deny, allow: [localhost], listen: [localhost]/' "$tmp/home.yaml"
is 'ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ' 'one that is allowed is' \
	"$("$AGENTWATCH" run --quiet --log none --policy "$tmp/home.yaml" -- python3 "$tmp/home.py")"
ok 'the process outside is still there' kill -0 $outside
done_testing
