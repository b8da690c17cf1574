#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_explain.sh - policy explain and run --require: who holds which answer.
. "$(dirname "$0")/../tap.sh"
need_agentwatch

export TMPDIR=$tmp/scratch # or all of these could be written
mkdir -p "$TMPDIR" "$tmp/ws/sub" "$tmp/ro/secret"
echo k >"$tmp/ro/secret/key"
echo t >"$tmp/ws/token"
ln -s "$tmp/ro/secret/key" "$tmp/ws/link"
cat >"$tmp/p.yaml" <<END
version: 1
mode: enforce
filesystem:
  default: read-only
  write: ["$tmp/ws"]
  deny: ["$tmp/ro/secret", "$tmp/ws/token"]
exec: {deny: ["/usr/bin/false", "sudo", "git push*"]}
network:
  default: deny
  allow: ["api.example.com:443", "localhost:*", "unix:@bus"]
END
explain() { (cd "$tmp/ws" && "$AGENTWATCH" policy explain --policy "$tmp/p.yaml" "$@"); }
engine=kernel
"$AGENTWATCH" run --quiet --log none --engine kernel -- true 2>/dev/null || engine=preload
have_landlock=
"$AGENTWATCH" run --quiet --runner landlock --mode enforce --log none -- true 2>/dev/null && have_landlock=1

# one FILTER OPTION...: a field of the one answer, as JSON.
one() { local filter=$1; shift; explain --engine "$engine" --json "$@" | jq -r "$filter"; }

is deny 'a denied file' "$(one .verdict --read "$tmp/ro/secret/key")"
is "$tmp/p.yaml:6 $tmp/ro/secret policy" 'with the rule and its place' \
	"$(one '"\(.rule.file):\(.rule.line) \(.rule.text) \(.rule.layer)"' --read "$tmp/ro/secret/key")"
is "$tmp/ro/secret/key deny" 'a link is what it leads to' "$(one '"\(.path) \(.verdict)"' --read link)"
is "$tmp/ws/sub/new allow" 'a relative path that is not there yet' "$(one '"\(.path) \(.verdict)"' --create sub/../sub/new)"
is 'deny null' 'a default is no rule' "$(one '"\(.verdict) \(.rule)"' --write "$tmp/ro/new")"
is deny 'a program by its path' "$(one .verdict --exec /bin/false)"
is deny 'with arguments' "$(one .verdict --exec 'git push --force')"
is allow 'with others' "$(one .verdict --exec 'git status')"
is allow 'a host by name' "$(one .verdict --connect api.example.com:443)"
is deny 'another port' "$(one .verdict --connect api.example.com:80)"
printf 'version: 1\nnetwork: {allow: ["*.example.org:443"]}\n' >"$tmp/wild.yaml"
is allow 'a wildcard admits names' "$(one .verdict --connect a.example.org:443 --policy "$tmp/wild.yaml")"
is 'deny *.example.org:443' 'but no address in the engine preload' "$(one '"\(.verdict) \(.wildcard.text)"' --engine preload --connect a.example.org:443 --policy "$tmp/wild.yaml")"
like "\"\*.example.org:443\" $tmp/wild.yaml:2 covers the name, but" 'and says so' "$(explain --engine preload --connect a.example.org:443 --policy "$tmp/wild.yaml")"
printf 'version: 1\n' >"$tmp/bare.yaml"
if [ $engine = kernel ] && "$AGENTWATCH" run --quiet --mode enforce --runner bwrap --on-missing-runner fail --log none -- true 2>/dev/null; then
	behind() { "$AGENTWATCH" policy explain --json --mode enforce --runner "${runner:-bwrap}" --policy "$tmp/bare.yaml" "$@" | jq -r '"\(.verdict) \(.inside)"'; }
	is 'deny true' 'behind bwrap the loopback is the own one' "$(behind --connect 127.0.0.1:9)"
	is 'deny true' 'audit foresees it' "$(behind --mode audit --connect 127.0.0.1:9)"
	is 'allow true' 'and that one may listen' "$(behind --mode audit --listen 127.0.0.1:9)"
	is 'deny null' 'not without such a sandbox' "$(runner=exec behind --mode audit --listen 127.0.0.1:9)"
	is 'deny null' 'which another host is not' "$(behind --connect 192.0.2.1:9)"
	is 'allow true' 'and the session may listen in its own network' "$(behind --listen 0.0.0.0:80)"
	printf 'version: 1\nnetwork: {listen: ["127.0.0.1:80"]}\n' >"$tmp/bare.yaml"
	is 'deny null' 'without such a network nothing is own' "$(runner=exec behind --connect 127.0.0.1:9)"
	is 'deny null' 'a list of ports leaves out the others' "$(behind --listen 8080)"
	printf 'import socket\ns = socket.create_server(("", 8081))\nsocket.create_connection(("127.0.0.1", 8081))\nprint("reached")\n' >"$tmp/own.py"
	is reached 'as it is in enforce' "$("$AGENTWATCH" run --quiet --mode enforce --runner bwrap --log none -- python3 "$tmp/own.py" 2>&1)"
else
	skip 'a network of its own' 'no bwrap'
fi
is allow 'localhost by number' "$(one .verdict --connect '[::1]:80')"
is allow 'an abstract socket' "$(one .verdict --connect unix:@bus)"
is deny 'listening' "$(one .verdict --listen 80)"
is 'allow allow deny' 'questions may be many' "$(explain --json --read a --read b --delete "$tmp/ro/x" | jq -rs '[.[].verdict] | join(" ")')"

status() { explain "$@" >/dev/null 2>&1; echo $?; }
is 0 'the status is 0 when all is allowed' "$(status --read "$tmp/ws" --write "$tmp/ws/x")"
is 1 'and 1 when something is not' "$(status --read "$tmp/ws" --write "$tmp/ro/x")"
is 125 'a question without a port makes no sense' "$(status --connect api.example.com)"
is 125 'nor does a program that is not there' "$(status --exec no-such-program-here)"
is 125 'nor no question at all' "$(status)"
is 125 'nor a runner that is not known' "$(status --runner no-such --read x)"
is 125 'nor a policy with mistakes' "$(status --policy /dev/null/x --read x)"

# Paths as people write them; what is judged is the file reached.
mkdir -p "$tmp/home/keys" "$tmp/real"
ln -s "$tmp/ro/not-there" "$tmp/ws/dangling"
ln -s "$tmp/ro" "$tmp/ws/door"
ln -s loop "$tmp/ws/loop"
is "$tmp/ro/not-there deny" 'a link to what is not there is that' "$(one '"\(.path) \(.verdict)"' --write dangling)"
is "$tmp/ro/new/x deny" 'a folder may be a link, and the rest be missing' "$(one '"\(.path) \(.verdict)"' --create door/new/x)"
is "$tmp/x deny" 'what is above a link is above what it leads to' "$(one '"\(.path) \(.verdict)"' --write door/../x)"
is "$tmp/ws/link allow" 'a link is deleted itself' "$(one '"\(.path) \(.verdict)"' --delete link)"
is "$tmp/home/keys/a" 'the home may be written ~' "$(HOME=$tmp/home one .path --read '~/keys/a')"
is "$tmp/ws/~x" 'but not where it begins a name' "$(one .path --read '~x')"
is 125 'a link that leads to itself leads nowhere' "$(status --read loop)"

# What each source says by itself, and whose default it was.
mkdir -p "$tmp/config/agentwatch/agents"
cat >"$tmp/config/agentwatch/policy.yaml" <<END
version: 1
filesystem: {default: allow, deny: ["$tmp/ws/token", "$tmp/mine"]}
END
cat >"$tmp/ws/.agentwatch.yaml" <<END
version: 1
filesystem: {deny: ["$tmp/ws/token"]}
network: {default: deny}
END
echo 'version: 1
exec: {deny: [true]}' >"$tmp/config/agentwatch/agents/robot.yaml"
words() { one '[.layers[] | "\(.layer)=\(.verdict)"] | join(" ")' "$@"; }
is 'global=deny workspace=deny policy=deny protections=null' 'each file says what it says alone' "$(words --read "$tmp/ws/token")"
is 'global=deny workspace=null policy=allow protections=null' 'one that has nothing to say is silent' "$(words --read "$tmp/mine")"
is 'global=allow workspace=null policy=deny protections=deny' 'a file as it would be alone, and the protections' "$(words --write "$tmp/ws/../ro/.git/hooks/x")"
is 'global=null workspace=deny policy=allow protections=null' 'a file that is not trusted can only tighten' "$(words --connect api.example.com:443)"
is 'global=null agent=deny workspace=null policy=null protections=null' "an agent's file" "$(words --agent robot --exec true)"
is 'preset=allow' 'a preset' "$(explain --agent claude --json --connect api.anthropic.com:443 --policy <(echo 'version: 1
preset: [claude-code]') | jq -r '.layers[] | select(.layer == "preset" and .verdict) | "\(.layer)=\(.verdict)"' | sort -u)"
is "$tmp/p.yaml:4 filesystem.default read-only policy" 'a default has a place, too' \
	"$(one '.default | "\(.file):\(.line) \(.key) \(.value) \(.layer)"' --write "$tmp/ro/new")"
is "$tmp/ws/.agentwatch.yaml:3 network.default" 'of the file that decides' "$(one '.default | "\(.file):\(.line) \(.key)"' --connect api.example.com:443)"
printf 'version: 1\nbase: open\nfilesystem: {default: deny, read: ["%s/ro"]}\nnetwork: {listen: ["localhost:*"]}\n' "$tmp" >"$tmp/narrow.yaml"
narrow() { (cd / && "$AGENTWATCH" policy explain --engine "$engine" --workspace "$tmp" --json --policy "$tmp/narrow.yaml" "$@") | jq -r '"\(.verdict) \(.default.key) \(.layers[] | select(.layer == "policy") | .default.key)"'; }
is 'deny filesystem.default filesystem.default' 'a program is a file' "$(narrow --exec /usr/bin/true)"
is 'deny network.listen network.listen' 'a listen list refuses what it does not have' "$(narrow --listen 192.0.2.1:80)"
sed -i 's/network.*/network: {default: allow}/' "$tmp/narrow.yaml"
is 'deny filesystem.default filesystem.default' 'so is a socket' "$(narrow --listen "unix:$tmp/s")"
said=$(explain --write "$tmp/ro/new" --read "$tmp/ws/token")
like "by the default of $tmp/p.yaml:4: filesystem.default: read-only \(policy\)" 'people read the same' "$said"
like "global +deny +$tmp/config/agentwatch/policy.yaml:2: \"$tmp/ws/token\"" 'line by line' "$said"
like "workspace +- +$tmp/ws/.agentwatch.yaml says nothing; not trusted" 'also who said nothing' "$said"
rm -r "$tmp/config/agentwatch" "$tmp/ws/.agentwatch.yaml"
like 'filesystem.default: read-only; no file says otherwise' 'without any file it is the built-in one' \
	"$(cd "$tmp/ws" && "$AGENTWATCH" policy explain --write /etc/x)"

# Strength follows mode, engine and sandbox.
is shim 'the engine preload has the shim alone' "$(explain --engine preload --json --read "$tmp/ro/secret/key" | jq -r .strength)"
if [ $engine = kernel ]; then
	is supervisor 'a notified read is held by the supervisor' "$(one .strength --read "$tmp/ro/secret/key")"
	is supervisor 'a program that may not be read either' "$(one .strength --exec /bin/false)"
	is shim 'arguments are advice' "$(one .strength --exec 'git push --force')"
	is 'supervisor-raced' 'in audit it would be seen' "$(one .strength --mode audit --read "$tmp/ro/secret/key")"
	like 'not refused in mode audit' 'and the text says so' "$(explain --mode audit --read "$tmp/ro/secret/key")"
else
	skip 'the supervisor holds' 'no notification here'
fi
if [ -n "$have_landlock" ]; then
	is kernel 'Landlock holds a file carved out' "$(one .strength --runner landlock --read "$tmp/ro/secret/key")"
	like "lets $tmp/ws be used as a whole" 'what it cannot hold is said, and why' "$(explain --runner landlock --read "$tmp/ws/token")"
	is kernel 'a write' "$(one .strength --runner landlock --write /etc/passwd)"
	like 'but for mode, owner' 'but not the attributes' "$(explain --runner landlock --write /etc/passwd)"
else
	skip 'Landlock holds' 'no Landlock here'
fi
if "$AGENTWATCH" run --quiet --runner bwrap --mode enforce --log none -- true 2>/dev/null; then
	is supervisor 'mounts do not hold a denied file in a folder to write: a cover falls off' "$(one .strength --runner bwrap --read "$tmp/ws/token")"
	is 'the mounts of the sandbox' 'and say so' "$(one .by --runner bwrap --write /etc/passwd)"
else
	skip 'mounts hold' 'bwrap does not work here'
fi

# --require refuses to start when something is held by less.
require() { "$AGENTWATCH" run --quiet --log none --engine "$engine" --policy "$1" --require "$2" "${@:3}" -- touch "$tmp/ws/started" 2>&1; }
if [ $engine = kernel ]; then
	said=$(require "$tmp/p.yaml" supervisor --runner exec)
	is 125 'the supervisor does not hold every rule' "$(require "$tmp/p.yaml" supervisor --runner exec >/dev/null; echo $?)"
	like "p.yaml:7: deny \"sudo\" is held by supervisor-raced" 'each that is weaker is listed' "$said"
	like "p.yaml:7: deny \"git push\*\" is held by shim" 'with the reason' "$said"
	is '' 'those that are held are not' "$(grep secret <<<"$said")"
	like '2 rules are held by less; nothing was started' 'and they are counted' "$said"
	ok 'nothing was started' test ! -e "$tmp/ws/started"
	sed 's/^exec:.*/exec: {deny: ["\/usr\/bin\/false"]}/' "$tmp/p.yaml" >"$tmp/q.yaml"
	is 0 'without those it starts' "$(require "$tmp/q.yaml" supervisor --runner exec >/dev/null; echo $?)"
	like 'secret" is held by supervisor' 'the kernel alone holds nothing without a sandbox' "$(require "$tmp/q.yaml" kernel --runner exec)"
	like 'mode audit refuses nothing' 'audit holds nothing' "$(require "$tmp/q.yaml" supervisor --mode audit)"
else
	skip '--require' 'no notification here'
fi
printf 'version: 1\nmode: enforce\nbase: open\nprotections: off\nfilesystem: {default: read-only, write: ["%s"], deny: ["%s"]}\n' "$tmp/ws" "$tmp/ro/secret" >"$tmp/walled.yaml"
if "$AGENTWATCH" run --quiet --runner bwrap --mode enforce --log none -- true 2>/dev/null; then
	rm -f "$tmp/ws/started"
	is 0 'mounts hold what lies outside of folders to write' \
		"$("$AGENTWATCH" run --quiet --log none --policy "$tmp/walled.yaml" --runner bwrap --require kernel -- touch "$tmp/ws/started" >"$tmp/said" 2>&1; echo $?)"
	[ -s "$tmp/said" ] && note "$(cat "$tmp/said")"
else
	skip 'mounts hold' 'bwrap does not work here'
fi
[ -z "$have_landlock" ] || like 'secret" is held by supervisor at best' 'Landlock alone does not hold whole rules' \
	"$("$AGENTWATCH" run --quiet --log none --policy "$tmp/walled.yaml" --runner landlock --require kernel -- true 2>&1)"
done_testing
