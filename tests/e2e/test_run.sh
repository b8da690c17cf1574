#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_run.sh - `agentwatch run` as its caller sees it: statuses, streams, messages, sessions.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
cd "$tmp" || exit 1
aw=$AGENTWATCH

status() { "$@" >/dev/null 2>&1 </dev/null; echo $?; }
denying=$tmp/denying.yaml
printf 'version: 1\nfilesystem: {default: allow, deny: ["%s/secret"]}\n' "$tmp" >"$denying"
echo secret >"$tmp/secret"

# --- statuses
is 0 'status 0 is kept' "$(status "$aw" run -- true)"
is 3 'status 3 is kept' "$(status "$aw" run -- sh -c 'exit 3')"
is 255 'status 255 is kept' "$(status "$aw" run -- sh -c 'exit 255')"
for signal in HUP INT QUIT ABRT KILL USR1 SEGV PIPE TERM; do
	number=$(kill -l $signal)
	bare=$((128 + number)) # unless whoever started the tests ignores it
	[ "$signal" != PIPE ] || bare=$(status sh -c "kill -PIPE \$\$; exit 0")
	is "$bare" "the end by SIG$signal is status 128 + $number" \
		"$(status "$aw" run -- sh -c "ulimit -c 0; kill -$signal \$\$; [ $signal = PIPE ] || sleep 5; exit 0")"
done
is 127 'a command that is not there is 127' "$(status "$aw" run -- "$tmp/no-such-command")"
is 127 'a name that is not on PATH is 127' "$(status "$aw" run -- no-such-command-anywhere)"
is 126 'a file that cannot be executed is 126' "$(status "$aw" run -- "$denying")"
mkdir "$tmp/folder"
is 126 'a folder as the command is 126' "$(status "$aw" run -- "$tmp/folder")"
is 125 'an unknown option is 125' "$(status "$aw" run --no-such-option -- true)"
is 125 'no command at all is 125' "$(status "$aw" run)"
is 125 'a policy file that is not there is 125' "$(status "$aw" run --policy "$tmp/none.yaml" -- true)"
is 125 'a log that cannot be opened is 125' "$(status "$aw" run --log "$tmp/no/such/folder/log" -- true)"
is 125 'an unknown runner is 125' "$(status "$aw" run --runner no-such-runner -- true)"
is 125 'an unknown engine is 125' "$(status "$aw" run --engine turbo -- true)"
is 5 'options end at the first word of the command' "$(status "$aw" run sh -c 'exit 5')"
printf '#!/bin/sh\nexit 9\n' >"$tmp/script"; chmod +x "$tmp/script"
is 9 'a script is run by its interpreter' "$(status "$aw" run -- "$tmp/script")"
printf 'exit 8\n' >"$tmp/plain"; chmod +x "$tmp/plain"
is "$(status env "$tmp/plain")" 'a file without an interpreter ends as it does bare' "$(status "$aw" run -- "$tmp/plain")"
printf '#!/no/such/interpreter\n' >"$tmp/lost"; chmod +x "$tmp/lost"
like '^12[67]$' 'a script without its interpreter is 126 or 127' "$(status "$aw" run -- "$tmp/lost")"

# --- what the caller ignores stays ignored, libc's own signals too
cat >"$tmp/ignoring" <<'END'
import ctypes, os, struct, sys
for number in (32, 33):  # SIGCANCEL, SIGSETXID: libc takes them over for a first thread
    ctypes.CDLL(None).syscall(13, number, struct.pack("QQQQ", 1, 0x04000000, 0, 0), 0, 8)
os.execvp(sys.argv[1], sys.argv[1:])
END
for engine in hybrid kernel preload; do
	is "$(/usr/bin/python3 "$tmp/ignoring" grep SigIgn /proc/self/status)" "$engine: ignored signals are those of the caller" \
		"$(/usr/bin/python3 "$tmp/ignoring" "$aw" run --quiet --engine $engine --log none -- grep SigIgn /proc/self/status)"
done

# --- who answers goes first, where it may; the command and what else the service starts does not
niceness() { "$@" "$aw" run --quiet --log none -- sh -c 'ps -L -o ni=,comm= -p $PPID; echo $(nice) command' | awk '{ print $1, $2 }' | sort -u | grep -v aw-service; }
base=$(nice) ahead=$(nice -n -5 nice 2>/dev/null)
is "$(printf '%s\n' "$ahead aw-notify" "$base aw-drain" "$base command" | sort)" 'who answers goes first' "$(niceness env)"
is "$(printf '%s\n' "$((ahead + 3)) aw-notify" "$((base + 3)) aw-drain" "$((base + 3)) command" | sort)" \
	'from where the caller stands' "$(niceness nice -n 3)"

# --- messages
like 'not found|no such|No such|cannot find' 'the message for a missing command says so' "$("$aw" run -- no-such-command-anywhere 2>&1)"
like '^agentwatch: ' 'messages start with the name' "$("$aw" run -- no-such-command-anywhere 2>&1 | head -n 1)"
is '' 'and are never on stdout' "$("$aw" run -- no-such-command-anywhere 2>/dev/null)"
like 'landlock|bwrap|exec' 'an unknown runner is answered with the valid ones' "$("$aw" run --runner no-such -- true 2>&1)"
like 'engine' 'an unknown option gets a hint' "$("$aw" run --engin hybrid -- true 2>&1)"
said=$(AGENTWATCH_MOED=enforce AGENTWATCH_QUITE=1 "$aw" run --log none -- true 2>&1)
like '^agentwatch: warning: in the environment and without effect' 'so does a variable that is none' "$said"
like 'AGENTWATCH_MOED \(did you mean AGENTWATCH_MODE\?\)' 'with what it may have meant' "$said"
like 'AGENTWATCH_QUITE \(did you mean AGENTWATCH_QUIET\?\)' 'each of them' "$said"
like 'run knows AGENTWATCH_MODE, .*AGENTWATCH_LOG, ' 'and a list of those that there are' "$said"
is 1 'in one line' "$(grep -c . <<<"$said")"
is '' 'not what another command knows, nor what is ours' \
	"$(AGENTWATCH_FOLLOW=1 AGENTWATCH_SOCKET=/none "$aw" run --log none -- true 2>&1)"
like '^agentwatch ' '--version answers' "$("$aw" --version)"

# --- what went wrong, where, and what to do
message() { local wanted=$1 sentence=$2; shift 2; like "$wanted" "$sentence" "$("$aw" run "$@" -- true 2>&1)"; }
message "opening the log $tmp/none/log: .*; --log FILE" 'a log that cannot be opened: where, and that it can be elsewhere' --log "$tmp/none/log"
message "workspace '$tmp/none': .*--workspace wants a directory" 'a workspace that is not there' --workspace "$tmp/none"
message "'a/b' is not the name of an agent: .*such as claude" 'a name that no agent can have' --agent a/b
mkdir "$tmp/parts"
cp "$(readlink -f "$aw")" "$tmp/parts/agentwatch"
like 'agentwatch-enter is not beside .*install agentwatch again' 'a part that is missing is named' "$("$tmp/parts/agentwatch" run -- true 2>&1)"
cp "$(dirname "$(readlink -f "$aw")")/agentwatch-enter" "$tmp/parts/"
for engine in hybrid preload; do
	like "engine $engine needs libagentwatch.so, .*install agentwatch again" "engine $engine without the library" \
		"$("$tmp/parts/agentwatch" run --engine $engine -- true 2>&1)"
done
ok 'help is there' "$aw" help
ok 'help for run is there' "$aw" help run
is 0 'help goes to stdout' "$("$aw" help run 2>&1 >/dev/null | wc -l)"

# --- streams, byte for byte
head -c 300000 /dev/urandom >"$tmp/binary"
"$aw" run --quiet -- cat <"$tmp/binary" >"$tmp/copy" 2>"$tmp/err"
same "$tmp/binary" "$tmp/copy" 'stdin and stdout pass bytes unchanged'
is 0 'and stderr stays empty with --quiet' "$(wc -c <"$tmp/err")"
head -c 20000000 /dev/zero | "$aw" run --quiet -- cat | cksum >"$tmp/sum"
is "$(head -c 20000000 /dev/zero | cksum)" '20 MB through pipes arrive' "$(cat "$tmp/sum")"
"$aw" run --quiet -- sh -c 'cat >&2' <"$tmp/binary" 2>"$tmp/copy"
same "$tmp/binary" "$tmp/copy" 'stderr passes bytes unchanged'
is 'closed' 'a closed stdin stays closed' "$("$aw" run --quiet -- sh -c '[ -e /proc/self/fd/0 ] && echo open || echo closed' <&-)"
is "$(ls /proc/self/fd | wc -l)" 'the command gets no descriptor more than bare' "$("$aw" run --quiet -- ls /proc/self/fd | wc -l)"
is 'five' 'a descriptor of the caller is passed on' "$("$aw" run --quiet -- sh -c 'cat <&5' 5<<<five)"
is "$(readlink /proc/self/fd/0 <"$tmp/binary")" 'stdin is the same file' "$("$aw" run --quiet -- readlink /proc/self/fd/0 <"$tmp/binary")"
is "$(cd /usr && pwd)" 'the working directory is kept' "$(cd /usr && "$aw" run --quiet -- pwd)"
is "one two|three||*" 'arguments are kept as they are' "$("$aw" run --quiet -- printf '%s|%s|%s|%s' 'one two' three '' '*')"

# --- the summary
"$aw" run --policy "$denying" -- cat "$tmp/secret" >"$tmp/out" 2>"$tmp/err"
is secret 'audit lets a denied read pass' "$(cat "$tmp/out")"
is 1 'one summary line after a run with would-be denials' "$(grep -c '^agentwatch: ' "$tmp/err")"
"$aw" run --policy "$denying" -- true 2>"$tmp/err"
is '' 'no summary when there was nothing' "$(cat "$tmp/err")"
"$aw" run --quiet --policy "$denying" -- cat "$tmp/secret" >/dev/null 2>"$tmp/err"
is '' '--quiet: no summary' "$(cat "$tmp/err")"
is "cat: $tmp/secret: Permission denied" 'enforce refuses the same read' \
	"$("$aw" run --quiet --mode enforce --runner exec --policy "$denying" -- cat "$tmp/secret" 2>&1)"
printf 'version: 1\nmode: enforce\nrunner: exec\nfilesystem: {default: allow, deny: ["%s/secret"]}\n' "$tmp" >"$tmp/enforcing.yaml"
is 1 'the mode of the policy file counts' "$(status "$aw" run --quiet --policy "$tmp/enforcing.yaml" -- cat "$tmp/secret")"
is 0 'a flag wins over the file' "$(status "$aw" run --quiet --mode audit --policy "$tmp/enforcing.yaml" -- cat "$tmp/secret")"
is 1 'the environment wins over the defaults' "$(AGENTWATCH_MODE=enforce AGENTWATCH_RUNNER=exec status "$aw" run --quiet --policy "$denying" -- cat "$tmp/secret")"
is 0 'a flag wins over the environment' "$(AGENTWATCH_MODE=enforce status "$aw" run --quiet --mode audit --policy "$denying" -- cat "$tmp/secret")"

# --- the log
"$aw" run --quiet --log "$tmp/log" -- cat "$tmp/secret" >/dev/null
ok '--log FILE is JSON, one object a line' jq -es 'all(.[]; type == "object")' "$tmp/log"
ok 'seq counts from 1 without gaps' jq -es '[.[].seq] == [range(1; length + 1)]' "$tmp/log"
ok 'every line has what every line must have' jq -es \
	'all(.[]; .v == 1 and has("ts") and has("session") and has("pid") and has("ppid") and has("exe") and has("event"))' "$tmp/log"
ok 'times are RFC 3339 in UTC with nanoseconds' jq -es \
	'all(.[]; .ts | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{9}Z$"))' "$tmp/log"
ok 'every call has its verdict, strength, source' jq -es \
	'[.[] | select(.event == "call")] | length > 0 and all(.[]; has("call") and has("action") and has("verdict") and has("enforced") and has("strength") and (.source == "shim" or .source == "kernel"))' "$tmp/log"
ok 'the read is there' jq -es --arg p "$tmp/secret" 'any(.[]; .event == "call" and .action == "read" and .path == $p and .verdict == "allow")' "$tmp/log"
ok 'start, exec, exit and summary are there' jq -es '[.[].event] as $e | all("start", "exec", "exit", "summary"; . as $x | $e | index($x))' "$tmp/log"
ok 'the exec has its whole vector' jq -es --arg p "$tmp/secret" 'any(.[]; .argv == ["cat", $p])' "$tmp/log"
# A forked child of the engine preload executes without a hello: one for each program that stays.
"$aw" run --quiet --engine preload --log "$tmp/children" -- sh -c '(sh -c "cat /dev/null; exit 3"; cat script); cat script' >/dev/null
ok 'engine preload: an exec is logged under its own pid, as what its parent was' jq -es \
	'[.[] | select(.event == "exec")] | length == 4 and ([.[].pid] | unique | length == 4) and all(.[]; .exe | test("sh$"))' "$tmp/children"
ok 'engine preload: a grandchild has its own parent' jq -es \
	'[.[] | select(.event == "exec")] as $e | ($e | map(select(.path | test("sh$")))[0]) as $sh | ($e | map(select(.argv == ["cat", "/dev/null"]))[0]) as $cat | $cat.ppid == $sh.pid and ($sh.ppid | IN($e[].ppid)) and $sh.ppid != (map(select(.event == "start"))[0].pid)' "$tmp/children"
ok 'engine preload: an exec comes before its end' jq -es \
	'. as $all | all(.[] | select(.event == "exec"); . as $x | all($all[] | select(.event == "exit" and .pid == $x.pid); .seq > $x.seq))' "$tmp/children"
is 0 'exit carries the status' "$(jq -r 'select(.event == "exit") | .status' "$tmp/log" | tail -n 1)"
"$aw" run --quiet --log - -- echo hello >"$tmp/out" 2>"$tmp/err"
is 1 '--log -: the command'"'"'s own output is still on stdout' "$(grep -c '^hello$' "$tmp/out")"
ok '--log -: the events come out' grep -q '"event":"exit"' "$tmp/out" "$tmp/err"
"$aw" run --quiet --log none --session no-log -- true
ok '--log none keeps no events' test ! -s "$XDG_STATE_HOME/agentwatch/sessions/no-log/events.jsonl"
"$aw" run --quiet --log "$tmp/log" --policy "$denying" -- cat "$tmp/secret" >/dev/null
ok 'a would-be denial names its rule' jq -es --arg p "$tmp/secret" --arg f "$denying" \
	'any(.[]; .event == "call" and .path == $p and .verdict == "deny" and .enforced == false and .rule.file == $f and .rule.line == 2 and (.rule.layer | length > 0))' "$tmp/log"
printf 'version: 1\nexec: {default: allow, deny: ["uname"]}\n' >"$tmp/no-uname.yaml"
"$aw" run --quiet --log "$tmp/log" --policy "$tmp/no-uname.yaml" -- uname >"$tmp/out"
is Linux 'audit runs a program that would be refused' "$(cat "$tmp/out")"
ok 'and the log says that it would have been' jq -es 'any(.[]; .verdict == "deny" and ((.path // "") | endswith("/uname")) and .rule.text == "uname")' "$tmp/log"
is 126 'enforce refuses it' "$(status "$aw" run --quiet --mode enforce --runner exec --policy "$tmp/no-uname.yaml" -- uname)"
is 126 'from a shell as well' "$(status "$aw" run --quiet --mode enforce --runner exec --policy "$tmp/no-uname.yaml" -- sh -c uname)"
printf 'x' >"$tmp/$(printf 'bad\xff\xfename')"
"$aw" run --quiet --log "$tmp/log" -- sh -c 'cat bad*' >/dev/null
ok 'a name that is not UTF-8 leaves the log valid' jq -es 'any(.[]; (.path // "") | test("/bad..name$"))' "$tmp/log"

# --- sessions
"$aw" run --quiet --session my-session -- sh -c 'echo x > made' 
session=$XDG_STATE_HOME/agentwatch/sessions/my-session
for file in events.jsonl session.json policy.txt; do
	ok "the session keeps $file" test -s "$session/$file"
done
is 700 'its folder is private' "$(stat -c %a "$session" 2>/dev/null)"
ok 'session.json is JSON' jq -e . "$session/session.json"
ok 'agentwatch log finds it by name' sh -c '"$0" log my-session | grep -q made' "$aw"
ok 'agentwatch log --json gives events' sh -c '"$0" log my-session --json | jq -es "length > 3"' "$aw"
is '' 'agentwatch log --denied is empty when nothing was' "$("$aw" log my-session --denied 2>/dev/null | grep made)"
"$aw" run --quiet --session denials --policy "$denying" -- cat "$tmp/secret" >/dev/null
like 'secret' 'agentwatch log --denied shows what would have been' "$("$aw" log denials --denied)"
like 'secret' 'agentwatch log reads a file too' "$("$aw" log "$XDG_STATE_HOME/agentwatch/sessions/denials/events.jsonl" --denied)"
is '' 'no colour without a terminal' "$("$aw" log denials | grep -c $'\e' | grep -v '^0$')"
like '^12[0-9]$|^[12]$' 'a log that does not exist is an error' "$(status "$aw" log no-such-session)"
"$aw" run --quiet --session running -- sleep 60 &
pid=$!
wait_for 5 sh -c '"$0" ps | grep -q running' "$aw"
like 'running' 'ps lists a running session' "$("$aw" ps)"
ok 'stop ends it' "$aw" stop running
wait $pid
like '^(143|137|130|129)$' 'and its run ends by the signal' "$?"
is '' 'ps does not list it any more' "$("$aw" ps | grep running)"

# --- nothing is left running
alive() { pgrep -f "$1" | grep -vx $$ | wc -l | tr -d ' '; }
mark=$((RANDOM + 100000))
"$aw" run --quiet -- sh -c "sleep $mark.1 & exit 0"
is 0 'a background child is ended with the command' "$(alive "sleep $mark.1")"
"$aw" run --quiet -- sh -c "setsid sleep $mark.2 & sleep 0.2"
is 0 'a child in a session of its own too' "$(alive "sleep $mark.2")"
"$aw" run --quiet -- sh -c "( ( setsid sh -c 'sleep $mark.3; true' </dev/null >/dev/null 2>&1 & ) & ) ; sleep 0.3"
is 0 'a daemon by setsid and double fork too' "$(alive "sleep $mark.3")"
"$aw" run --quiet -- sh -c "( trap '' TERM HUP INT; exec setsid sleep $mark.4 ) & sleep 0.2"
is 0 'one that ignores SIGTERM too' "$(alive "sleep $mark.4")"
"$aw" run --quiet --keep-descendants -- sh -c "setsid sleep $mark.5 </dev/null >/dev/null 2>&1 & sleep 0.2"
is 1 '--keep-descendants leaves it' "$(alive "^sleep $mark.5")"
pkill -f "^sleep $mark.5"
start=$SECONDS
"$aw" run --quiet -- sh -c "sleep $mark.6 & exit 4" >/dev/null
is 4 'the status is the command'"'"'s, not of what was ended' $?
ok 'and it does not wait for the child' test $((SECONDS - start)) -lt 10

# --- signals to the supervisor
"$aw" run --quiet -- bash -c 'trap "echo got term; exit 7" TERM; echo up; while :; do sleep 0.05; done' >"$tmp/out" &
pid=$!
wait_for 5 grep -q up "$tmp/out"
kill -TERM $pid
wait $pid
is 7 'SIGTERM is passed on, and the status of the answer comes back' $?
is "got term" 'the command saw it' "$(tail -n 1 "$tmp/out")"
"$aw" run --quiet -- sleep 60 &
pid=$!
sleep 0.3
kill -TERM $pid
wait $pid
is 143 'a command that dies of it gives 143' $?
is '' 'no socket or pipe is left in the runtime folder' "$(find "$XDG_RUNTIME_DIR" ! -type d)"

# The supervisor is killed: whichever of its processes, and by pid.
mark=$((mark + 1))
killed() # audit|enforce, front|service
{
	local victim
	rm -f "$tmp/after" "$tmp/out" # what an earlier one said must not be taken for this one's
	"$aw" run --quiet --mode "$1" --runner exec --policy "$denying" -- \
		bash -c "echo up; sleep 1; cat script >/dev/null; echo x >after; exit 11; : $mark.$1.$2" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for 5 grep -q up "$tmp/out"
	victim=$pid
	[ "$2" = front ] || victim=$(pgrep -P $pid | head -n 1)
	kill -KILL "$victim"
	wait $pid 2>/dev/null
	rc=$?
	wait_for 4 sh -c "! pgrep -f ': $mark.$1.$2' | grep -vx \$\$"
}
killed audit service
ok 'audit: the service is killed, the command goes on' test -s "$tmp/after"
is 11 'and its own status comes back' $rc
killed audit front
ok 'audit: agentwatch itself is killed, the command goes on' test -s "$tmp/after"
"$aw" run --quiet --session alone --runner exec -- sleep 99 &
pid=$!
wait_for 5 sh -c "'$aw' ps | grep -q alone && pgrep -fx 'sleep 99'"
kill -KILL $pid
wait $pid 2>/dev/null
ok 'audit: the session is still shown when agentwatch itself was killed' wait_for 5 sh -c "'$aw' ps | grep 'alone .*running'"
ok 'and can be stopped' "$aw" stop alone
is '' 'with all that was left' "$(pgrep -fx 'sleep 99')"
"$aw" run --quiet --session halted --runner exec -- sleep 98 &
pid=$!
wait_for 5 sh -c "'$aw' ps | grep -q halted && pgrep -fx 'sleep 98'"
kill -STOP $pid
is 0 'audit: a session is ended when agentwatch itself is stopped' "$(status "$aw" stop --timeout 3 halted)"
kill -CONT $pid 2>/dev/null
wait $pid 2>/dev/null
is '' 'and nothing is left of it' "$(pgrep -fx 'sleep 98')"
[ "$(id -u)" = 0 ] && want='warning: running as root' || want=
is "$want" 'enforce: root is told that it is root' "$("$aw" run --mode enforce --log none -- true 2>&1 | grep -o 'warning: running as root')"
is '' 'audit does not' "$("$aw" run --log none -- true 2>&1)"
for victim in service front; do
	killed enforce $victim
	ok "enforce: the $victim is killed, the command ends" test ! -e "$tmp/after"
	is 0 "and nothing of it is left" "$(alive ": $mark.enforce.$victim")"
done

# --- reload
reload=$tmp/reload.yaml
for how in SIGHUP 'policy reload'; do
	name=reload-${how:0:3}
	printf 'version: 1\nmode: enforce\nrunner: exec\nfilesystem: {default: allow}\n' >"$reload"
	rm -f go1 go2 go3 out1 out2 out3
	"$aw" run --session "$name" --policy "$reload" -- bash -c '
		for n in 1 2 3; do
			until [ -e go$n ]; do sleep 0.02; done
			if read -r line <secret; then echo "read" >out$n; else echo "refused" >out$n; fi
		done' 2>"$tmp/err" &
	pid=$!
	tell()
	{
		if [ "$how" = SIGHUP ]; then kill -HUP $pid; else "$aw" policy reload "$name" >/dev/null 2>&1; fi
		sleep 0.5
	}
	touch go1; wait_for 5 test -s out1
	is read "$how: allowed before" "$(cat out1)"
	sed -i 's|default: allow|default: allow, deny: ["'"$tmp"'/secret"]|' "$reload"
	tell
	touch go2; wait_for 5 test -s out2
	is refused "$how: the next call sees the new file" "$(cat out2)"
	echo 'filesystem: [broken' >"$reload"
	tell
	touch go3; wait_for 5 test -s out3
	is refused "$how: a broken file keeps the old policy" "$(cat out3)"
	wait $pid
	like "$reload" "$how: and says so" "$(cat "$tmp/err")"
	ok "$how: the log has both reloads" sh -c "[ \$(jq -r 'select(.event == \"policy\") | .event' '$XDG_STATE_HOME/agentwatch/sessions/$name/events.jsonl' | wc -l) -ge 2 ]"
done

# --- bad policies
cat >"$tmp/bad.yaml" <<'END'
version: 1
mode: enforced
filesytem:
  deny: ["/x"]
network:
  default: never
exec:
  deny: "not-a-list"
  allow: ["$NO_SUCH_VARIABLE/x"]
version: 1
END
rm -f "$tmp/started"
"$aw" run --policy "$tmp/bad.yaml" -- touch "$tmp/started" >"$tmp/out" 2>"$tmp/err"
is 125 'a policy with mistakes is 125' $?
ok 'and nothing starts' test ! -e "$tmp/started"
for place in 2: 3: 6: 9: 10:; do
	like "bad.yaml:$place" "the mistake in line ${place%:} is reported" "$(cat "$tmp/err")"
done
like 'did you mean' 'with a hint' "$(cat "$tmp/err")"
is '' 'on stderr only' "$(cat "$tmp/out")"
is 125 'the same file fails in policy check' "$("$aw" policy check "$tmp/bad.yaml" >/dev/null 2>&1; rc=$?; [ $rc != 0 ] && echo 125)"
printf 'version: 1\nhooks: []\n' >"$tmp/later.yaml"
is 125 'a key that is not built yet is an error' "$(status "$aw" run --policy "$tmp/later.yaml" -- true)"
printf '{"version": 1, "filesystem": {"default": "allow"}}' >"$tmp/policy.json"
is 0 'JSON is a policy too' "$(status "$aw" run --policy "$tmp/policy.json" -- true)"

# --- the log's disk is full
if is_root && mkdir "$tmp/small" && mount -t tmpfs -o size=64k none "$tmp/small" 2>/dev/null; then
	at_end "umount -l '$tmp/small'"
	"$aw" run --log "$tmp/small/log" -- bash -c 'for n in {1..3000}; do : <secret; done; echo done' >"$tmp/out" 2>"$tmp/err"
	is 0 'audit: a full disk does not end the command' $?
	is done 'it works to its end' "$(cat "$tmp/out")"
	is 1 'one warning is printed' "$(grep -c 'writing the audit log: No space left' "$tmp/err")"
	like 'events are not in the audit log' 'and how much is lost at the end' "$(cat "$tmp/err")"
	rm -f "$tmp/small/log"
	"$aw" run --mode enforce --runner exec --policy "$denying" --log "$tmp/small/log" -- \
		bash -c 'for n in {1..1000}; do : </etc/passwd; done; echo done' >"$tmp/out" 2>"$tmp/err"
	rc=$?
	is '' 'enforce: the command is stopped at once when the log cannot be written' "$(cat "$tmp/out")"
	ok 'and the status is not success' test $rc != 0
	rm -f "$tmp/small/log"; mkdir -p "$tmp/small/agentwatch/sessions"
	dd if=/dev/zero of="$tmp/small/filler" bs=1k count=64 2>"$tmp/err"
	XDG_STATE_HOME=$tmp/small "$aw" run -- true >"$tmp/out" 2>"$tmp/err"
	is 125 'a session that cannot be noted is not begun' $?
	like 'session.json.*No space left' 'and why' "$(cat "$tmp/err")"
	is '' 'and nothing is left of it' "$(ls -A "$tmp/small/agentwatch/sessions")"
else
	skip 'a full disk under the log' 'needs root and a tmpfs'
fi

ok 'sessions side by side do not mix' bash -c '
	"$0" run --quiet --log a.log -- sh -c "sleep 0.3; cat secret" >/dev/null & "$0" run --quiet --log b.log -- sh -c "sleep 0.3; cat script" >/dev/null
	wait; grep -q secret a.log && grep -q script b.log && ! grep -q "\"path\":\"[^\"]*/script\"" a.log && ! grep -q "\"path\":\"[^\"]*/secret\"" b.log' "$aw"
done_testing
