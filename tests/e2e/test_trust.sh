#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_trust.sh - a workspace's policy counts as a whole once it was trusted, until it changes.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
umask 022

ws=$tmp/ws file=$tmp/ws/.agentwatch.yaml records=$tmp/state/agentwatch/trusted.jsonl
export TMPDIR=$tmp/scratch
mkdir -p "$ws" "$tmp/out" "$TMPDIR"
cd "$ws" || exit 1
policy() { printf 'version: 1\nfilesystem: {default: read-only, write: ["$WORKSPACE", "%s"]}\n%s\n' "$tmp/out" "${1:-}" >"$file"; }

# enforced COMMAND...: its status, with what agentwatch says in $tmp/said.
enforced() { "$AGENTWATCH" run --mode enforce --quiet --log none -- "$@" >"$tmp/did" 2>"$tmp/said"; echo $?; }
# out: can a file outside the workspace be made?  Only a trusted policy lets it.
out() { enforced touch "$tmp/out/x"; }
# said REGEX SENTENCE
said() { like "$1" "$2" "$(cat "$tmp/said")"; }
state() { "$AGENTWATCH" trust --list --json | jq -r .state; }

policy 'runner: exec'
is 1 'a policy that came with the repository loosens nothing' "$(out)"
said "agentwatch: $file:3:1: warning: 'runner' is ignored: this file is not trusted" 'what is ignored is told'
said "$file:1:1: warning: .* once you have read it, say: agentwatch trust $ws" 'and how to trust it'

mkdir sub && cd sub && git -C "$ws" init -q 2>/dev/null
"$AGENTWATCH" trust >"$tmp/told" 2>&1
is 0 'it can be trusted, from a folder in the repository too' $?
cd "$ws" || exit 1
like "    3  runner: exec" 'its text is printed' "$(cat "$tmp/told")"
like "  - filesystem.write: \"$tmp/out\" \(line 2\)" 'and what it loosens' "$(cat "$tmp/told")"
is "600 700" 'the records are for the user alone' "$(stat -c %a "$records") $(stat -c %a "${records%/*}")"
is "$ws $(sha256sum <"$file" | cut -d' ' -f1) $(id -u) trusted" 'the list has workspace, digest, owner and state' \
	"$("$AGENTWATCH" trust --list --json | jq -r '"\(.workspace) \(.sha256) \(.owner) \(.state)"')"
like "^trusted +20..-..-..T[0-9:]+Z  [0-9a-f]{12}  $ws$" 'also for people' "$("$AGENTWATCH" trust --list)"
is 0 'then it counts as a whole' "$(out)"
is '' 'without a word' "$(cat "$tmp/said")"
like "^# $file: trusted since 20" 'policy show says so' "$("$AGENTWATCH" policy show | head -1)"
like "$file: trusted since" 'policy check, too' "$("$AGENTWATCH" policy check .agentwatch.yaml)"

# Whatever happens to the file, it is not trusted any more.
policy 'runner: landlock'
is 1 'changed bytes' "$(out)"
said 'has changed since it was trusted on 20..-..-..,.* say: agentwatch trust' 'with a sentence'
is changed 'in the list' "$(state)"
policy 'runner: exec'
is 0 'the very bytes are trusted again' "$(out)"
chmod 664 "$file"
is 1 'a file that others can write to' "$(out)"
said 'can be written by others \(mode 0664' 'with a sentence'
"$AGENTWATCH" trust >/dev/null 2>"$tmp/said"
is 1 'that cannot be trusted' $?
said '\.agentwatch\.yaml: can be written by others' 'with a sentence'
chmod 644 "$file"
mv "$file" "$tmp/real" && ln -s "$tmp/real" "$file"
is 1 'a symbolic link' "$(out)"
said 'is a symbolic link' 'with a sentence'
rm "$file" && mkdir "$file"
is 125 'a folder is an error' "$(out)"
rmdir "$file"
is 125 'in enforce nothing starts without a file that was trusted' "$(enforced true)"
said "$file:1:1: error: was trusted on .* is not there any more; put it back, or say: agentwatch untrust $ws" 'with a sentence'
"$AGENTWATCH" run --quiet --log none -- true 2>"$tmp/said"
is 0 'in audit it does' $?
said 'warning: was trusted on' 'with a warning'
if is_root; then skip 'unreadable is an error' 'root reads all'; else
	cp "$tmp/real" "$file" && chmod 000 "$file"
	is 125 'unreadable is an error' "$(enforced true)"
	rm -f "$file"
fi
mv "$tmp/real" "$file"
if is_root; then
	chown 65534 "$file"
	is 1 "someone else's file" "$(out)"
	said 'belongs to user 65534, neither you nor root' 'with a sentence'
	chown 0 "$file"
else skip "someone else's file" 'needs root'; fi
is 0 'and as it was it is trusted' "$(out)"
mkdir "$tmp/other" && cp "$file" "$tmp/other"
is 1 'the same bytes elsewhere are not' "$(cd "$tmp/other" && touch .git && out)"

# The agent cannot trust anything, nor use what it can do to get there.
before=$(sha256sum "$records")
policy 'protections: off'
is 1 'what runs in enforce cannot trust' "$(enforced "$AGENTWATCH" trust)"
said "trust was called from inside of a session" 'with a sentence'
is 2 'nor write to the records' "$(enforced sh -c "echo x >>'$records'")"
is 1 'nor replace them' "$(enforced mv "$file" "$records")"
is 1 'nor their folder' "$(enforced mv "$tmp/state" "$tmp/out/state")"
is "$before" 'which are as they were' "$(sha256sum "$records")"
policy 'runner: exec'
is 2 'nor write to the trusted file' "$(enforced sh -c "echo >>'$file'")"
is trusted 'which is trusted still' "$(state)"

# Mistakes in the records.
chmod 666 "$records"
is 125 'records that others can write to are not used' "$(enforced true)"
said 'nothing is trusted, since the records cannot be used: .*others can write to it' 'with a sentence'
chmod 600 "$records"
if is_root; then
	chown 65534 "$records"
	is 125 "nor someone else's" "$(enforced true)"
	said 'trusted.jsonl: it belongs to user 65534, not to you; set HOME' 'with a sentence'
	chown 0 "$records"
else skip "someone else's records" 'needs root'; fi
cp "$records" "$tmp/kept"
echo '{"workspace":7}' >>"$records"
is 125 'nor any that make no sense' "$(enforced true)"
said 'trusted.jsonl: line 2: it is no record' 'with a sentence'
cp "$tmp/kept" "$records"

# Reload judges anew.
if have jq; then
	"$AGENTWATCH" run --mode enforce --quiet --session reloaded -- \
		sh -c 'n=0; until [ -e "$0/go" ] || [ $n = 300 ]; do sleep 0.05; n=$((n+1)); done; touch "$1/y"' "$ws" "$tmp/out" 2>"$tmp/said" &
	at_end "kill $!"
	wait_for 10 "$AGENTWATCH" policy reload reloaded
	policy 'runner: landlock'
	"$AGENTWATCH" policy reload reloaded >"$tmp/told"
	touch "$ws/go"
	wait $!
	is 1 'a file that has changed is not trusted at the next reload' $?
	said 'has changed since it was trusted' 'with a sentence'
	"$AGENTWATCH" run --mode enforce --quiet --session vanished -- sh -c 'n=0; until [ -e "$0/gone" ] || [ $n = 300 ]; do sleep 0.05; n=$((n+1)); done; touch "$1/y"' \
		"$ws" "$tmp/out" 2>"$tmp/said" &
	at_end "kill $!"
	wait_for 10 "$AGENTWATCH" policy reload vanished
	mv "$file" "$tmp/real"
	like 'the old policy stays: .*/.agentwatch.yaml is gone' 'a file that is gone leaves the session as it is' \
		"$("$AGENTWATCH" policy reload vanished 2>&1)"
	mv "$tmp/real" "$file"
	touch "$ws/gone"
	wait $!
	said 'reload: the old policy stays: .*/.agentwatch.yaml is gone' 'on its terminal too'
fi
policy 'runner: exec'

# Two writers lose nothing; a workspace whose name is no UTF-8.
for n in 1 2 3 4 5 6; do mkdir "$tmp/w$n"; echo 'version: 1' >"$tmp/w$n/.agentwatch.yaml"; done
writers=()
for n in 1 2 3 4 5 6; do "$AGENTWATCH" trust "$tmp/w$n" >/dev/null & writers+=($!); done
wait "${writers[@]}"
is 7 'writers side by side lose nothing' "$("$AGENTWATCH" trust --list | grep -c '^trusted ')"
odd=$tmp/$'odd \xff\n"name'
mkdir "$odd" && echo 'version: 1' >"$odd/.agentwatch.yaml"
"$AGENTWATCH" trust "$odd" >/dev/null
is 8 'a name of any bytes can be trusted' "$("$AGENTWATCH" trust --list | grep -c '^trusted ')"
is 8 'and stays one JSON object a line' "$("$AGENTWATCH" trust --list --json | jq -s length)"
ok 'and can be taken back' "$AGENTWATCH" untrust "$odd"
rm -r "$tmp/w1"
ok 'a folder that is gone, too' "$AGENTWATCH" untrust "$tmp/w1"
is 6 'and the others stay' "$("$AGENTWATCH" trust --list | grep -c '^trusted ')"

is "Not trusted any more: $file" 'trust is taken back' "$("$AGENTWATCH" untrust)"
is 1 'then the file loosens nothing' "$(out)"
"$AGENTWATCH" untrust 2>"$tmp/said"
is 1 'twice is an error' $?
said 'was not trusted; agentwatch trust --list says what is' 'with a sentence'
echo 'nonsense: 1' >>"$file"
"$AGENTWATCH" trust 2>"$tmp/said" >/dev/null
is 1 'a policy with mistakes is not trusted' $?
said "nothing was recorded, since the policy has mistakes" 'with a sentence'
is 125 'nor does anything start with it' "$(enforced true)"
"$AGENTWATCH" trust a b 2>"$tmp/said"
is 2 'two folders are one too many' $?
printf 'version: 1\n' >"$file"
lock=$(find "$XDG_STATE_HOME" -name trusted.lock)
flock "$lock" sleep 600 &
holder=$!
at_end "kill $holder 2>/dev/null"
wait_for 5 sh -c "! flock -n '$lock' true"
timeout 60 "$AGENTWATCH" trust 2>"$tmp/said" >/dev/null
is 1 'a lock that somebody else holds is not waited for without end' $?
said 'another program holds the lock' 'with a sentence'
pkill -P $holder; kill $holder 2>/dev/null
wait $holder 2>/dev/null
printf 'version: 1 # \033[2J\n' >"$file"
like '    1  version: 1 # \\x1b\[2J' 'what a terminal would obey is shown' "$("$AGENTWATCH" trust)"
done_testing
