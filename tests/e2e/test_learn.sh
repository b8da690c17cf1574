#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_learn.sh - learn and policy from-log: what is learnt from real runs, and that it holds.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
golden=$root/tests/golden/learn

# A home, a workspace and a folder for temporary files of the test's own.
mkdir -p "$tmp/h/.ssh" "$tmp/w" "$tmp/t"
echo key >"$tmp/h/.ssh/id_ed25519"
export HOME=$tmp/h TMPDIR=$tmp/t LC_ALL=C
unset SSH_AUTH_SOCK
cd "$tmp/w" || exit 1
from_log() { "$AGENTWATCH" policy from-log --workspace "$tmp/w" "$@"; }

# The golden policies name the presets of their time.
mkdir "$tmp/aw"
cp "$AGENTWATCH" "$tmp/aw/agentwatch"
cp -r "$golden/presets" "$tmp/aw/presets"
golden_from_log() { "$tmp/aw/agentwatch" policy from-log --workspace "$tmp/w" "$@"; }

# Logs of real runs give the same policy every time, and the proof admits all but questions.
for file in "$golden"/*.jsonl; do
	name=$(basename "$file" .jsonl)
	sed "s#@HOME@#$tmp/h#g; s#@WORKSPACE@#$tmp/w#g; s#@TMPDIR@#$tmp/t#g" "$file" >"$tmp/$name.jsonl"
	ok "$name: the proof holds" golden_from_log --output "$tmp/$name.yaml" "$tmp/$name.jsonl"
	same "$golden/$name.yaml" "$tmp/$name.yaml" "$name: the policy is the expected one"
done
golden_from_log --quiet --default deny "$tmp/claude.jsonl" >"$tmp/claude.deny.yaml"
same "$golden/claude.deny.yaml" "$tmp/claude.deny.yaml" 'claude: the same with every read listed'
is 'no mistakes' 'policy check finds no mistake in one' \
	"$("$AGENTWATCH" policy check "$tmp/claude.yaml" | sed 's/.*: //')"

# The file: its owner's alone, and never over another.
is 600 'the policy is for its owner alone' "$(stat -c %a "$tmp/git.yaml")"
got=$(from_log --output "$tmp/git.yaml" "$tmp/make.jsonl" 2>&1)
is 1 'a file that is there is not replaced' $?
like 'is there already; --force replaces it' 'and the message says how to' "$got"
ok '--force replaces it' golden_from_log --force --output "$tmp/git.yaml" "$tmp/make.jsonl"
same "$golden/make.yaml" "$tmp/git.yaml" 'as a whole'
is "$golden/git.yaml" 'nothing is left beside it' \
	"$golden/git.yaml$(find "$tmp" -maxdepth 1 -name 'git.yaml.*')"

# Several logs, standard input, damaged lines.
from_log --quiet --also "$tmp/make.jsonl" "$tmp/git.jsonl" >"$tmp/both.yaml"
ok 'two logs make one policy' grep -q '# Learnt from 511 calls in 2 sessions' "$tmp/both.yaml"
ok 'with what each of them needs' eval "grep -q '/usr/bin/make' $tmp/both.yaml && grep -q '/usr/bin/git' $tmp/both.yaml"
golden_from_log --quiet - <"$tmp/make.jsonl" >"$tmp/stdin.yaml"
same "$golden/make.yaml" "$tmp/stdin.yaml" 'a log is read from standard input'
{ echo 'not json'; cat "$tmp/make.jsonl"; printf '{"v":1,"ev'; } >"$tmp/damaged.jsonl"
got=$(golden_from_log "$tmp/damaged.jsonl" 2>&1 >"$tmp/damaged.yaml")
like 'damaged.jsonl:1: this is not an event; passed over' 'a damaged line is said' "$got"
like '2 damaged lines were passed over' 'and counted with one that is cut short' "$got"
same "$golden/make.yaml" "$tmp/damaged.yaml" 'the rest counts'
like 'no such file|No such file' 'a log that is not there is an error' "$(from_log "$tmp/none.jsonl" 2>&1)"

# What it gives and takes.
got=$(from_log --quiet --diff "$tmp/make.jsonl")
like '\+ exec.allow: "/usr/bin/make"' '--diff shows what is new' "$got"
like '- filesystem.write: "\$WORKSPACE"' 'and what is taken away' "$got"

# A workspace's policy says nothing that it may not.
from_log --quiet --for workspace --output "$tmp/w/.agentwatch.yaml" "$tmp/node.jsonl"
is '' 'a policy for a workspace is read without a warning' "$("$AGENTWATCH" policy show 2>&1 >"$tmp/shown")"
ok 'and counts' grep -q 'package-lock' "$tmp/shown"
rm "$tmp/w/.agentwatch.yaml"

# A real command: its streams and its status are its own.
cat >job.sh <<'END'
cat >copy.txt
mkdir -p ~/.cache/job && date >~/.cache/job/state
name=$(mktemp) && echo x >"$name" && cat "$name" && rm "$name"
cat /proc/self/cgroup >/dev/null
exit 3
END
printf 'a\0b' >"$tmp/input"
"$AGENTWATCH" learn --quiet --output "$tmp/job.yaml" -- sh job.sh <"$tmp/input" >"$tmp/out" 2>"$tmp/err"
is 3 'the exit status of the command is kept' $?
is x 'and its output' "$(tr '\n' ' ' <"$tmp/out" | sed 's/ $//')"
same "$tmp/input" copy.txt 'and its input'
is '' 'nothing is said with --quiet' "$(cat "$tmp/err")"
session=$(ls "$XDG_STATE_HOME/agentwatch/sessions")
like '^learn-[0-9]+-[0-9]+-[0-9]+$' 'the session is kept' "$session"
"$AGENTWATCH" policy from-log --quiet "$session" >"$tmp/again.yaml"
sed -n '/^filesystem/,/^network/p' "$tmp/job.yaml" >"$tmp/job.rules"
sed -n '/^filesystem/,/^network/p' "$tmp/again.yaml" >"$tmp/again.rules"
same "$tmp/job.rules" "$tmp/again.rules" 'and can be learnt from again, by its name'

# ... and works with what was learnt, behind every sandbox, while nothing else does.
sandboxes=
for runner in exec landlock bwrap; do
	"$AGENTWATCH" run --quiet --log none --mode enforce --runner $runner -- true 2>/dev/null && sandboxes="$sandboxes $runner"
done
for runner in $sandboxes; do
	rm -f copy.txt
	"$AGENTWATCH" run --log "$log" --runner "$runner" --policy "$tmp/job.yaml" -- sh job.sh \
		<"$tmp/input" >"$tmp/out" 2>"$tmp/err"
	is 3 "$runner: the command works with what was learnt" $?
	same "$tmp/input" copy.txt "$runner: and does the same"
	is '' "$runner: nothing was refused" "$("$AGENTWATCH" log --denied "$log" | head -n 3)$(grep -v '^$\|without a sandbox\|running as root' "$tmp/err" | head -n 3)"
	got=$("$AGENTWATCH" run --quiet --log none --runner "$runner" --policy "$tmp/job.yaml" -- \
		sh -c 'echo x >other.txt; cat ~/.ssh/id_ed25519; id' 2>&1)
	ok "$runner: another file cannot be written" test ! -e other.txt
	is '' "$runner: a key cannot be read, another program not be run" "$(grep -E 'key$|uid=' <<<"$got")"
done

# Secrets are questions, and a person's answer counts.
echo S=1 >.env
"$AGENTWATCH" learn --output "$tmp/secret.yaml" -- cat .env "$HOME/.ssh/id_ed25519" job.sh >"$tmp/out" 2>"$tmp/err"
like 'question: .*/w/.env was read 1 time, by cat: settings with secrets' 'a secret is said' "$(cat "$tmp/err")"
like 'id_ed25519 was read 1 time, by cat: protected \(private-keys\)' 'and what is protected' "$(cat "$tmp/err")"
like 'replay: [0-9]+ events, [0-9]+ admitted, 2 questions' 'the proof counts them' "$(cat "$tmp/err")"
try() { "$AGENTWATCH" run --quiet --log none --policy "$1" -- cat .env 2>&1; }
like 'Permission denied' 'until then it is refused' "$(try "$tmp/secret.yaml")"
sed 's/# - "!\$WORKSPACE/- "!$WORKSPACE/' "$tmp/secret.yaml" >"$tmp/allowed.yaml"
is S=1 'uncommented it is allowed' "$(try "$tmp/allowed.yaml")"
printf 'version: 1\nfilesystem: {deny: ["%s/h/mine"]}\n' "$tmp" >"$tmp/present.yaml"
echo m >"$tmp/h/mine"
"$AGENTWATCH" learn --policy "$tmp/present.yaml" --output "$tmp/denied.yaml" -- cat "$tmp/h/mine" >/dev/null 2>"$tmp/err"
like 'h/mine was read 1 time, by cat: denied by .*present.yaml:2' 'what the present policy denies is one, too' "$(cat "$tmp/err")"
GH_TOKEN=x "$AGENTWATCH" learn --quiet --output "$tmp/env.yaml" -- true
ok 'a credential that the command was given is one' grep -q '# question: the command was given GH_TOKEN' "$tmp/env.yaml"

# Mistakes.
"$AGENTWATCH" learn 2>/dev/null
is 125 'without a command nothing is done' $?
"$AGENTWATCH" learn --output "$tmp/job.yaml" -- touch touched 2>/dev/null
is 125 'a file that is there is noticed first' $?
ok 'before the command runs' test ! -e touched
"$AGENTWATCH" learn --quiet -- /none/such 2>/dev/null
is 127 'a command that is not there' $?
"$AGENTWATCH" policy from-log --fold 1 x 2>/dev/null
is 2 'a number that makes no sense' $?
done_testing
