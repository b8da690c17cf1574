#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_log.sh - agentwatch log on a log that is known: every filter, the table, damage, following.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
need_agentwatch
fixture=$root/tests/e2e/log/events.jsonl
export TZ=UTC

# seqs OPTION...: the numbers of the lines that are left.
seqs() { "$AGENTWATCH" log "$fixture" --json "$@" | sed 's/.*"seq":\([0-9]*\),.*/\1/' | paste -sd' '; }
# row N OPTION...: one row of the table, blanks folded.
row() { local n=$1; shift; "$AGENTWATCH" log "$fixture" "$@" | sed -n "${n}p" | tr -s ' '; }

"$AGENTWATCH" log --json "$fixture" >"$tmp/all"
same "$fixture" "$tmp/all" '--json prints the lines as they were written'
is "$(wc -l <"$fixture")" 'the table has a row for each line' "$("$AGENTWATCH" log "$fixture" | wc -l)"

is '4 6 8 9 10' '--denied shows deny, hide and ask-deny, audited ones too' "$(seqs --denied)"
is '5 6' '--pid picks a process' "$(seqs --pid 103)"
is '5 6 13' 'and another one' "$(seqs --pid=103 --pid 106 --path '/src' --event call)$(seqs --pid 106 --event exit | sed 's/^/ /')"
is '7 8' '--program takes a base name' "$(seqs --program curl)"
is '7 8 9 10 11' 'or a pattern for one' "$(seqs --program 'c*l' --program 's[ca]an')"
is '9 10 11' 'or one for the path' "$(seqs --program '/opt/**')"
is '7 8' '--action picks what is done' "$(seqs --action connect)"
is '5 6' 'actions are alternatives' "$(seqs --action rename --action delete)"
is '5 6' '--path takes a folder' "$(seqs --path /src/app/.git)"
is '5' 'the second path counts too' "$(seqs --path '/src/app/.git/index')"
is '4' 'a pattern crosses folders with **' "$(seqs --path '/home/**/id_*')"
is '3' 'and without a slash may match any name' "$(seqs --path 'package.*')"
is '' 'a * stays within one folder' "$(seqs --path '/*/package.json')"
is '12' 'bytes that are not UTF-8 are found as they are' "$(seqs --path $'/tmp/esc*red\n\x80end\\\\')"
is '9' '--verdict picks one' "$(seqs --verdict hide)"
is '10 11' 'or several' "$(seqs --verdict ask-deny --verdict ask-allow)"
is '13 14' '--event picks a kind' "$(seqs --event exit)"
is '6' '--call picks a function' "$(seqs --call unlink)"
is '14 15' '--since takes a time' "$(seqs --since 2026-11-21T10:00:12Z)"
is '14 15' 'in any zone' "$(seqs --since 2026-11-21T11:30:12+01:30)"
is '1 2 3' '--until ends to the nanosecond' "$(seqs --until 2026-11-21T10:00:01.000000001Z)"
is '' 'a relative time is from now' "$(seqs --since 1s --until 2020-01-01)"
is '8' 'different filters must all hold' "$(seqs --program curl --denied --action connect)"
is '7 8' 'a filter can stand in the environment' "$(AGENTWATCH_PROGRAM=curl seqs)"

is '10:00:02.500 102 node read deny /home/u/.ssh/id_rsa EACCES' 'a denied read' "$(row 4)"
is '10:00:04.000 103 git delete would deny /src/app/.git/hooks/pre-commit ok' 'what would have been denied' "$(row 6)"
is '10:00:03.000 103 git rename allow /src/app/.git/index.lock -> /src/app/.git/index ok' 'both ends of a rename' "$(row 5)"
is '10:00:05.000 104 curl connect allow 93.184.216.34:443 (example.com) EINPROGRESS' 'an address with its name' "$(row 7)"
is '10:00:06.000 104 curl connect deny [2001:db8::1]:80 EACCES' 'an IPv6 address' "$(row 8)"
is '10:00:00.100 102 node exec node server.js a b' 'an exec with its arguments' "$(row 2)"
is '10:00:11.000 106 odd exit killed by SIGKILL' 'a signal' "$(row 13)"
is '10:00:12.000 102 node exit status 3' 'an exit status' "$(row 14)"
like '/src/app/.agentwatch.yaml:4$' '--rules shows which rule it was' "$(row 4 --rules)"
is '10:00:10.000 106 odd create allow /tmp/esc\x1b[31mred\x0a\x80end\\ ok' 'control characters are shown, not sent' "$(row 12)"
is '' 'no escape sequence without a terminal' "$("$AGENTWATCH" log "$fixture" | grep -a $'\x1b')"

if have script; then
	# on_terminal COLUMNS COMMAND: its output on a terminal of that width.
	on_terminal() { TERM=xterm script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r'; }
	shown=$(on_terminal 100 "NO_COLOR= $AGENTWATCH log --denied $fixture")
	like $'\e\\[31mdeny' 'a terminal gets colour' "$shown"
	shown=$(on_terminal 80 "NO_COLOR=1 $AGENTWATCH log $fixture")
	is '' 'but not with NO_COLOR' "$(grep -a $'\x1b' <<<"$shown")"
	like 'PATH OR ADDRESS' 'a terminal gets a head' "$shown"
	like '…' 'a long path is cut in the middle' "$shown"
	is 0 'and every row fits' "$(sed 's/…/./g' <<<"$shown" | awk 'length($0) > 80' | wc -l)"
else
	skip 'colour and width on a terminal' 'no script(1)'
fi

# What cannot be seen, or looks like a blank, is shown as what it is.
printf '{"v":1,"seq":1,"ts":"2026-11-21T10:00:00Z","session":"s","pid":1,"ppid":0,"exe":"/bin/x","event":"exec","call":"execve","action":"exec","path":"/bin/x","argv":["x","a\xe2\x80\x8bb\xc2\xadc\xe3\x85\xa4d\xe2\xa0\x80e\xc2\xa0f"],"verdict":"allow","enforced":true,"strength":"supervisor","source":"kernel"}\n' >"$tmp/unseen.jsonl"
like 'a\\u\{200b\}b\\u\{ad\}c\\u\{3164\}d\\u\{2800\}e\\u\{a0\}f' 'characters without a shape are escaped' "$("$AGENTWATCH" log "$tmp/unseen.jsonl")"

# Rows come in the order of time, lines as they are stored.
{ sed -n 3p "$fixture"; sed -n 1,2p "$fixture"; sed -n 5p "$fixture"; sed -n 4p "$fixture"; } >"$tmp/late.jsonl"
is "$(for n in 1 2 3 4 5; do row $n; done)" 'the table is in the order of time' "$("$AGENTWATCH" log "$tmp/late.jsonl" | tr -s ' ')"
"$AGENTWATCH" log --json "$tmp/late.jsonl" >"$tmp/late.out"
same "$tmp/late.jsonl" "$tmp/late.out" 'and --json as it is stored'
printf '{"v":1,"seq":1,"ts":"2026-11-21T10:00:00Z","session":"s","pid":1,"ppid":0,"exe":"/bin/x","event":"summary","calls":12,"denied":1,"execs":1}\n' >"$tmp/summary.jsonl"
like 'summary +12 calls, 1 denied, 1 program$' 'a summary tells its counts' "$("$AGENTWATCH" log "$tmp/summary.jsonl")"

# Paths as a policy understands them; what matches nothing is said.
printf '{"v":1,"seq":1,"ts":"2026-11-21T10:00:00Z","session":"s","pid":1,"ppid":0,"exe":"/bin/x","event":"call","call":"open","action":"read","path":"%s/src/a.c","verdict":"allow","enforced":true}\n' "$tmp" >"$tmp/here.jsonl"
here() { (cd "$tmp" && HOME=$tmp TMPDIR=$tmp "$AGENTWATCH" log "$tmp/here.jsonl" --json --path "$1" 2>&1 | grep -c '"seq":1,'); }
# shellcheck disable=SC2088,SC2016
for pattern in . ./src src '~/src' '$HOME/src' '$TMPDIR' './src/*.c' "../$(basename "$tmp")/src"; do
	is 1 "--path $pattern is understood" "$(here "$pattern")"
done
is 'agentwatch: no events match' 'no match is told' "$("$AGENTWATCH" log "$fixture" --path /none 2>&1)"
like "did you mean 'rename'|does not know 'hook'" 'an action that never is cannot be asked for' "$("$AGENTWATCH" log "$fixture" --action hook 2>&1)"

# Long arguments are cut, and take no time.
python3 -c '
import json, sys
print(json.dumps({"v": 1, "seq": 1, "ts": "2026-11-21T10:00:00Z", "session": "s", "pid": 1, "ppid": 0, "exe": "/bin/x",
    "event": "exec", "call": "execve", "action": "exec", "path": "/bin/x", "argv": ["x"] + ["\x01" * 400000] * 4}))' >"$tmp/wide.jsonl" &&
	ok 'a command line of a megabyte is shown at once' timeout 10 "$AGENTWATCH" log "$tmp/wide.jsonl"
is yes 'and cut' "$([ "$("$AGENTWATCH" log "$tmp/wide.jsonl" | wc -c)" -lt 100000 ] && echo yes)"
if have script; then
	shown=$(on_terminal 120 "NO_COLOR=1 $AGENTWATCH log -r $fixture")
	like 'RESULT +RULE' 'the rules have a head' "$shown"
	is 0 'and with them every row fits' "$(sed 's/…/./g' <<<"$shown" | awk 'length($0) > 120' | wc -l)"
	ok 'a long word on a terminal takes no time' timeout 10 script -qec "stty cols 80; $AGENTWATCH log $tmp/wide.jsonl" /dev/null
fi

{ sed -n 1,2p "$fixture"; echo '{"v":1,"seq":3,'; echo '[]'; sed -n 5p "$fixture"; printf '{"v":1'; } >"$tmp/damaged.jsonl"
"$AGENTWATCH" log --json "$tmp/damaged.jsonl" >"$tmp/out" 2>"$tmp/err"
is 1 'damaged lines make the exit status 1' $?
is 3 'what is whole is shown all the same' "$(wc -l <"$tmp/out")"
is "agentwatch: $tmp/damaged.jsonl:3: this is not an event
agentwatch: $tmp/damaged.jsonl:4: this is not an event
agentwatch: $tmp/damaged.jsonl:6: the line is not complete" 'each damaged line is named' "$(cat "$tmp/err")"

"$AGENTWATCH" log "$fixture" --verdict dney 2>"$tmp/err"
is 2 'a filter value that does not exist is a mistake' $?
is "agentwatch: --verdict does not know 'dney'; did you mean 'deny'?" 'with a hint' "$(cat "$tmp/err")"
like "^agentwatch: --since: '4055-01-01' is not a time" 'nor is one that no nanoseconds can count' "$("$AGENTWATCH" log "$fixture" --since 4055-01-01 2>&1)"
is "agentwatch: --since: 'soon' is not a time: write 2026-11-21T21:55:01Z, or how long ago, like 5m or 2h" \
	'a time that is none too' "$("$AGENTWATCH" log "$fixture" --since soon 2>&1)"
is "agentwatch: no session 'nobody'; see: agentwatch ps --all" 'a session that does not exist' \
	"$("$AGENTWATCH" log nobody 2>&1)"
like '^agentwatch: no session yet' 'no session at all' "$("$AGENTWATCH" log 2>&1)"
like 'No such file' 'a file that does not exist' "$("$AGENTWATCH" log "$tmp/none.jsonl" 2>&1)"
is "$(wc -l <"$fixture")" '- reads standard input' "$("$AGENTWATCH" log - <"$fixture" | wc -l)"

for _ in $(seq 400); do cat "$fixture"; done >"$tmp/long.jsonl"
is '' 'a reader that goes away is no error' "$( { "$AGENTWATCH" log "$tmp/long.jsonl" | head -n 1 >/dev/null; } 2>&1)"
if [ -c /dev/full ]; then
	like 'writing to stdout' 'a full disk is' "$("$AGENTWATCH" log "$fixture" 2>&1 >/dev/full)"
fi

# A session of our own: this shell is its supervisor.
session=$XDG_STATE_HOME/agentwatch/sessions/mine
mkdir -p -m 700 "$session"
ticks() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f20; }
sleep 60 & supervisor=$!
at_end "kill $supervisor"
head -n 4 "$fixture" >"$session/events.jsonl"
printf '{"v":1,"id":"mine","pid":%d,"start_ticks":%d,"started":"2026-11-21T10:00:00.000Z","mode":"audit","log":"%s","control":"%s","argv":["a","b c"]}\n' \
	$supervisor "$(ticks $supervisor)" "$session/events.jsonl" "$tmp/none.control" >"$session/session.json"
is 4 'the latest session is the default' "$("$AGENTWATCH" log --json | wc -l)"
is 4 'the start of its name is enough' "$("$AGENTWATCH" log --json mi | wc -l)"
like '^mine +[0-9]+ +2026-11-21 10:00 audit .* running +a b c$' 'ps shows it' "$("$AGENTWATCH" ps | tail -n 1)"
like '"running":true}$' 'ps --json too' "$("$AGENTWATCH" ps --json)"
like "^agentwatch: session 'mine': .*none.control" 'stop says why it cannot be reached' "$("$AGENTWATCH" stop mine 2>&1)"

"$AGENTWATCH" log --json --follow mine >"$tmp/followed" & follower=$!
ok 'follow shows what is there' wait_for 5 grep -q '"seq":4,' "$tmp/followed"
sed -n 5p "$fixture" | head -c 40 >>"$session/events.jsonl"
sed -n 5p "$fixture" | tail -c +41 >>"$session/events.jsonl"
ok 'and what comes' wait_for 5 grep -q '"seq":5,' "$tmp/followed"
sed -n '6,$p' "$fixture" >>"$session/events.jsonl"
kill $supervisor
wait $supervisor 2>/dev/null
ok 'it ends with the session' wait_for 5 sh -c "! kill -0 $follower"
wait $follower
is 0 'without an error' $?
same "$fixture" "$tmp/followed" 'having shown every line'
is '' 'ps shows it no more' "$("$AGENTWATCH" ps)"
like ' lost +a b c$' 'but for --all' "$("$AGENTWATCH" ps --all | tail -n 1)"
is "agentwatch: session 'mine' is not running: its supervisor is gone" 'it cannot be stopped twice' "$("$AGENTWATCH" stop mine 2>&1)"

# a program that floods the log
mkdir "$tmp/flood"
echo secret >"$tmp/flood/secret"
printf 'version: 1\nfilesystem: {deny: [%s]}\nlimits: {log_size: 1m}\n' "$tmp/flood/secret" >"$tmp/flood.yaml"
cat >"$tmp/flood.py" <<-END
	import os, sys
	try: open(sys.argv[1])
	except OSError: pass
	for i in range(12000): os.open("/etc/hostname", os.O_RDONLY); os.closerange(3, 9)
END
for engine in hybrid kernel preload; do
	"$AGENTWATCH" run --quiet --engine $engine --mode enforce --runner exec --policy "$tmp/flood.yaml" --session "flood-$engine" -- \
		python3 "$tmp/flood.py" "$tmp/flood/secret" 2>"$tmp/err"
	is 0 "$engine: a flood of events ends as it should" $?
	size=$(du -sb "$XDG_STATE_HOME/agentwatch/sessions/flood-$engine" | cut -f1)
	ok "$engine: its log keeps to its limit" [ "$size" -lt 1500000 ]
	like 'deny +.*/flood/secret' "$engine: what was denied first is still there" "$("$AGENTWATCH" log --denied "flood-$engine")"
	like 'limits.log_size' "$engine: the log says that events were removed" "$("$AGENTWATCH" log -e warning "flood-$engine")"
	is '' "$engine: no line is damaged" "$("$AGENTWATCH" log --json "flood-$engine" 2>&1 >"$tmp/lines" | head -3)"
	last=$(sed -n 's/.*"seq":\([0-9]*\),.*/\1/p' "$tmp/lines" | sort -n | tail -1)
	ok "$engine: and most of the lines are gone" [ "$(wc -l <"$tmp/lines")" -lt "$last" ]
done
done_testing
