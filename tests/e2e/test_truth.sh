#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_truth.sh - the log says what happened: what was kept from a program is a denial there, nothing else is.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have jq || skip_all 'no jq'

# Homes are not below the temporary folder, which a session without a policy may change.
at_end 'rm -rf "$place"'
for base in "$HOME" /home/"$(id -un)" /var/lib; do
	place=$(mktemp -d "$base/aw-truth.XXXXXX" 2>/dev/null) && break
done
[ -n "$place" ] || skip_all 'no folder for a home but the temporary one'
export HOME=$place/home
export XDG_STATE_HOME=$place/state XDG_RUNTIME_DIR=$place/run XDG_CONFIG_HOME=$place/config
mkdir -p "$HOME/.ssh" "$HOME/.config" "$HOME/lib" "$HOME/lib2/__pycache__" "$place/work" "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"
echo KEY >"$HOME/.ssh/id_ed25519"
echo TOKEN >"$HOME/.netrc"
echo "ok = 'yes'" >"$HOME/lib/fresh.py"
: >"$HOME/lib2/cached.py"
cd "$place/work" || exit 1
git init -q . 2>/dev/null
ln -s "$HOME/.ssh/id_ed25519" key
ln -s "$HOME/.ssh" keys

# run MODE OPTION... -- COMMAND...: output in $out, the events in $log.
run() { local mode=$1; shift; out=$("$AGENTWATCH" run --quiet --log "$log" --mode "$mode" "$@" 2>&1 </dev/null); }
# denials: action and path or address of each.
denials() { jq -r 'select(.verdict == "deny" or .verdict == "hide") | "\(.action) \(.path // .host // .address // "?")"' "$log"; }
# bare_calls: lines that do not say what they were about.
bare_calls()
{
	jq -c 'select((.event == "call" or .event == "exec") and .action != "system" and .action != null) |
		select((.path // .address // .host) == null or .strength == null or .source == null)' "$log"
}
counted() { jq -r 'select(.event == "summary") | .denied' "$log"; }

for runner in exec bwrap landlock; do
	"$AGENTWATCH" run -q --log none --on-missing-runner fail --mode enforce --runner $runner -- true 2>/dev/null || {
		skip "behind $runner" 'it does not work here'
		continue
	}
	for engine in hybrid kernel; do
		[ $engine = hybrid ] || [ $runner = bwrap ] || continue
		how="$runner, $engine"
		options=(--runner $runner --engine $engine)
		run enforce "${options[@]}" -- cat key
		is "read $HOME/.ssh/id_ed25519" "$how: a link to a key is a denial of the key" "$(denials)"
		like 'Permission denied' "$how: and refused as one" "$out"
		run enforce "${options[@]}" -- cat keys/id_ed25519
		is "read $HOME/.ssh/id_ed25519" "$how: so is one on the way" "$(denials)"
		run enforce "${options[@]}" -- cp -r "$HOME/.ssh" copy
		is "read $HOME/.ssh" "$how: cp -r of the keys is a denial" "$(denials)"
		ok "$how: and copies nothing" test ! -s copy/id_ed25519
		rm -rf copy
		run enforce "${options[@]}" -- tar -cf keys.tar "$HOME/.ssh"
		is "read $HOME/.ssh" "$how: tar of them is one" "$(denials)"
		rm -f keys.tar
		run enforce "${options[@]}" -- cat "$HOME/.netrc"
		is "read $HOME/.netrc" "$how: a file with a token is one" "$(denials)"

		run enforce "${options[@]}" -- sh -c 'unshare -U true; ps aux >/dev/null; touch "$HOME/new"'
		is "system ? create $HOME/new" "$how: so is a namespace of its own, and no look at processes" \
			"$(denials | sort -ru | paste -sd' ')"
		is 2 "$how: and they are counted" "$(counted)"
		is 'filesystem.default: read-only (built-in)' "$how: a default that decides is named" \
			"$(jq -r 'select(.verdict == "deny" and .action == "create") | .reason' "$log")"
		is '' "$how: every call has a subject, a strength and a source" "$(bare_calls)"

		run enforce "${options[@]}" -- cat "$HOME/.npmrc"
		is '' "$how: a file that is not there is none" "$(denials)"
		like 'No such file' "$how: and is told so" "$out"
		run enforce "${options[@]}" -- sh -c 'mkdir -p /usr/local "$HOME/.config"; mkdir "$HOME"; rm -f "$HOME/no" "$HOME/no/thing"'
		is '' "$how: making what is there and removing what is not are none" "$(denials)"
		is 0 "$how: and none is counted" "$(counted)"
		run enforce "${options[@]}" -- env -u PYTHONDONTWRITEBYTECODE python3 -c 'import sys; sys.path = [sys.argv[1]] + sys.path; import fresh; print(fresh.ok)' "$HOME/lib"
		is "yes:" "$how: that Python keeps no caches where a default refuses them is none" "$out:$(denials)"
		run enforce "${options[@]}" -- env -u PYTHONDONTWRITEBYTECODE python3 -c 'import sys; sys.path = [sys.argv[1]] + sys.path; import cached' "$HOME/lib2"
		like "^create $HOME/lib2/__pycache__/cached[^ ]*$" "$how: what is written into a folder of them is one" "$(denials)"
	done
done

for engine in $(engines); do
	how="audit, $engine"
	run audit --engine "$engine" -- sh -c 'mkdir -p /usr/local "$HOME/.config"; mkdir "$HOME"; cat "$HOME/.npmrc"; rm -f "$HOME/no" "$HOME/no/thing"; ln -sT x /usr'
	is '' "$how: what has no effect would not be refused" "$(denials)"
	is 0 "$how: nor counted" "$(counted)"
	is '' "$how: every call has a subject, a strength and a source" "$(bare_calls)"
	run audit --engine "$engine" -- sh -c 'git init -q fresh; echo >fresh/.git/hooks/pre-commit; rm -rf fresh/.git/hooks/pre-commit'
	is "create $place/work/fresh/.git/hooks/pre-commit delete $place/work/fresh/.git/hooks/pre-commit" \
		"$how: nor git's sample hooks, but another one" "$(denials | sort | paste -sd' ')"
	rm -rf fresh
	run audit --engine "$engine" -- mkdir "$HOME/__pycache__"
	is '' "$how: nor would a folder for Python's caches" "$(denials)"
	rmdir "$HOME/__pycache__"
	run audit --engine "$engine" -- sh -c 'cat key >copied; mkdir "$HOME/new"; rmdir "$HOME/new"; rm copied'
	is "read $HOME/.ssh/id_ed25519 create $HOME/new delete $HOME/new" "$how: what has one would be" "$(denials | paste -sd' ')"
done

# Unix sockets that are not there, a default from a file, and a rule.
run enforce --runner exec -- python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("/nowhere/socket")'
is '' 'a socket that is not there is no denial' "$(denials)"
like 'FileNotFoundError' 'and is told so' "$out"
is '' 'its line says where it would be' "$(bare_calls)"
printf 'version: 1\nfilesystem:\n  default: read-only\n  deny: ["%s/.config"]\n' "$HOME" >"$tmp/files.yaml"
run enforce --runner exec --policy "$tmp/files.yaml" -- sh -c 'ls "$HOME/.config"; touch "$HOME/new"'
is "rule '$HOME/.config' of $tmp/files.yaml:4;filesystem.default: read-only ($tmp/files.yaml:3)" 'rules and defaults of a file are named with it' \
	"$(jq -r 'select(.verdict == "deny") | .reason' "$log" | uniq | paste -sd';')"
like "filesystem.default: read-only" 'the table shows it' "$("$AGENTWATCH" log -dr "$log")"
for raced in $(jq -r '.strength // empty' "$log" | sort -u); do
	like '^[a-z-]+$' "strength $raced is one word" "$raced"
done

# A server of the session is in reach of it where enforce has a network for it, and audit knows that.
cat >"$tmp/serve.py" <<'END'
import socket, sys
own = socket.socket()
own.bind(("127.0.0.1", 0))
own.listen(5)
for port in own.getsockname()[1], 1, *map(int, sys.argv[1:]):
    socket.socket().connect_ex(("127.0.0.1", port))
socket.socket().bind(("0.0.0.0", 0))
one, two = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
one.bind(("127.0.0.1", 0))
two.sendto(b"x", one.getsockname())
END
python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(5); print(s.getsockname()[1], flush=True); time.sleep(120)' >"$tmp/port" &
at_end "kill $!"
wait_for 5 test -s "$tmp/port"
port=$(cat "$tmp/port")
for how in 'hybrid bwrap' 'kernel bwrap' 'hybrid landlock' 'hybrid exec'; do
	read -r engine runner <<<"$how"
	"$AGENTWATCH" run -q --log none --on-missing-runner fail --mode enforce --runner "$runner" -- true 2>/dev/null || {
		skip "$how: own servers" 'the sandbox does not work here'
		continue
	}
	run audit --engine "$engine" --runner "$runner" -- python3 "$tmp/serve.py" "$port"
	if [ "$runner" = bwrap ]; then
		is "connect 127.0.0.1" "$how: audit would refuse the server of others alone" "$(denials)"
		is "$port" "$how: that one" "$(jq -r 'select(.verdict == "deny") | .port' "$log")"
	else
		is 7 "$how: audit would refuse all of them" "$(denials | wc -l)"
	fi
done

# Names are named, with the reason, and where they are asked for is none.
run enforce --runner exec -- python3 -c 'import socket; socket.getaddrinfo("host.example", 443)'
is 'connect host.example' 'enforce names the host that it refuses' "$(denials | sort -u)"
printf 'version: 1\nnetwork: {default: allow, deny: [host.example]}\n' >"$tmp/host.yaml"
for engine in hybrid kernel; do
	run enforce --runner exec --engine $engine --policy "$tmp/host.yaml" -- python3 -c 'import socket; socket.getaddrinfo("host.example", 443)'
	is 'connect host.example' "$engine: and the host that a rule refuses" "$(denials | sort -u)"
	like "rule 'host.example'" "$engine: with the rule" "$(jq -r 'select(.verdict == "deny") | .reason' "$log")"
done
run audit --engine hybrid -- python3 -c 'import socket; socket.getaddrinfo("host.example", 443)'
is 'connect host.example' 'and audit the one that it would' "$(denials | sort -u)"
run audit --engine hybrid -- python3 -c 'import socket; socket.getaddrinfo("localhost", 443)'
is '' 'but not localhost' "$(denials)"
ours=$(awk '!/^#/ { for (i = 2; i <= NF; i++) if ($i !~ /localhost|ip6-|^#/) { print $i; exit } }' /etc/hosts)
if [ -n "$ours" ]; then
	run audit --engine hybrid -- python3 -c 'import socket, sys; socket.getaddrinfo(sys.argv[1], None)' "$ours"
	is '' 'nor what /etc/hosts has: no name server is asked' "$(denials)"
	printf 'version: 1\nnetwork: {default: allow, deny: ["%s"]}\n' "$ours" >"$tmp/host.yaml"
	run audit --engine hybrid --policy "$tmp/host.yaml" -- python3 -c 'import socket, sys; socket.getaddrinfo(sys.argv[1], None)' "$ours"
	is "connect $ours" 'but where a rule denies that name' "$(denials | sort -u)"
else skip 'a name that /etc/hosts has' 'it has none but localhost'; fi

# A log is a file of its own: no link, and nobody else's to read.
echo kept >"$tmp/victim"
ln -s "$tmp/victim" "$tmp/link"
like 'is a symbolic link' '--log follows no link' "$("$AGENTWATCH" run -q --log "$tmp/link" -- true 2>&1)"
is kept 'and changes nothing behind one' "$(cat "$tmp/victim")"
ln "$tmp/victim" "$tmp/second"
like 'has other names' 'nor a file with another name' "$("$AGENTWATCH" run -q --log "$tmp/second" -- true 2>&1)"
: >"$tmp/open.jsonl"
chmod 644 "$tmp/open.jsonl"
"$AGENTWATCH" run -q --log "$tmp/open.jsonl" -- true
is 600 'a file that others could read is closed to them' "$(stat -c %a "$tmp/open.jsonl")"
like '"event":"start"' '/dev/stdout is no such link' "$("$AGENTWATCH" run -q --log /dev/stdout -- true)"

# A long command line is cut, and said to be.
run audit -- python3 -c 'import os; os.execv("/bin/true", ["true"] + ["\x01" * 30000] * 60)'
is yes 'a long command line is cut' "$(awk 'length($0) > 80000 { exit 1 }' "$log" && echo yes)"
is true 'which the line says' "$(jq -r 'select(.argv_truncated == true) | .argv_truncated' "$log" | head -n 1)"

# A policy that names what may run: a search along PATH is no attempt to run what is not there.
printf 'version: 1\nexec: {default: deny, allow: ["%s", "%s"]}\n' "$(readlink -f "$(command -v sh)")" "$(readlink -f "$(command -v env)")" >"$tmp/exec.yaml"
run enforce --runner exec --policy "$tmp/exec.yaml" -- env PATH="/nowhere:$place/work:/usr/bin:/bin" sh -c 'nothing-of-this-name; id'
is "exec $(readlink -f "$(command -v id)")" 'only a program that is there is refused' "$(denials | sort -u)"
like 'not found' 'another one is not found' "$out"
done_testing
