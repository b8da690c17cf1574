# SPDX-License-Identifier: Apache-2.0
# sandbox.sh - what every sandbox made by another program must do; sourced with $runner set.
# shellcheck shell=bash disable=SC2154

need_agentwatch
have "$runner" || skip_all "no $runner; apt-get install it"
aw=$AGENTWATCH
"$aw" run -q --log none --on-missing-runner fail --runner "$runner" -- true 2>"$tmp/why" ||
	skip_all "$runner does not work here: $(head -n 1 "$tmp/why")"

repo=$tmp/repo
export HOME=$tmp/home GIT_CONFIG_NOSYSTEM=1
mkdir -p "$HOME/.ssh" "$repo/src" "$tmp/outside"
echo KEY >"$HOME/.ssh/id"
echo TOKEN >"$repo/.env"
echo text >"$tmp/outside/file"
printf 'all: out\nout: in\n\tcat in >out\n' >"$repo/Makefile"
echo input >"$repo/in"
cat >"$tmp/policy.yaml" <<END
version: 1
filesystem:
  default: read-only
  write: ["$repo"]
  deny: ["$HOME/.ssh", "$repo/.env", "$HOME/.aws"]
END
# Make is told where to put temporary files, which are for the workspace alone.
cd "$repo" || exit 1
export TMPDIR=$repo/src
git init -q . && git config user.name ann && git config user.email ann@example.com
git config maintenance.auto false
compile static/nothing gcc -static "$root/tests/bench/nothing.c" || compiled=

# in_wall MODE COMMAND...: with the policy, quietly.
in_wall()
{
	local mode=$1
	shift
	"$aw" run -q --log "$log" --mode "$mode" --policy "$tmp/policy.yaml" --runner "$runner" -- "$@"
}

tree() { (cd "$tmp" && find home repo outside | sort); }

refusal='Read-only file system|Permission denied'
for mode in audit enforce; do
	tree >"$tmp/before"
	ok "$mode: writing in the workspace works" in_wall $mode sh -c 'echo a >new && rm new'
	like "$refusal" "$mode: writing outside is refused" \
		"$(in_wall $mode sh -c "echo a >'$tmp/outside/new'" 2>&1)"
	like "$refusal" "$mode: changing a file outside is refused" \
		"$(in_wall $mode sh -c "echo a >>'$tmp/outside/file'" 2>&1)"
	is text "$mode: reading outside works" "$(in_wall $mode cat "$tmp/outside/file")"
	is '' "$mode: a denied file is not to be read" "$(in_wall $mode cat .env 2>/dev/null)"
	is '' "$mode: nor what is in a denied folder" "$(in_wall $mode cat "$HOME/.ssh/id" 2>/dev/null)"
	is '' "$mode: nor listed" "$(in_wall $mode ls "$HOME/.ssh" 2>/dev/null)"
	in_wall $mode sh -c 'rm -f .env; mv .env x; ln .env y; chmod 600 .env; rmdir "$HOME/.ssh"' 2>/dev/null
	is TOKEN "$mode: it is still there, and only for others" "$(cat .env)"
	is 7 "$mode: the status is the command's" "$(in_wall $mode sh -c 'exit 7'; echo $?)"
	is 137 "$mode: 137 when a signal ended it" "$(in_wall $mode sh -c 'kill -9 $$' 2>/dev/null; echo $?)"
	is 127 "$mode: 127 when it is not there" "$(in_wall $mode no-such-command 2>/dev/null; echo $?)"
	tree >"$tmp/after"
	same "$tmp/before" "$tmp/after" "$mode: nothing was made in the user's tree"

	sleep 54321 &
	outsider=$!
	in_wall $mode ps -eo args >"$tmp/ps" 2>/dev/null
	kill $outsider
	wait $outsider 2>/dev/null
	ok "$mode: ps sees its own processes" grep -q '^ps -eo args' "$tmp/ps"
	ok "$mode: and no others" sh -c '! grep -q 54321 "$1"' - "$tmp/ps"

	ok "$mode: git commits" in_wall $mode sh -c "echo $mode >f && git add f && git commit -qm $mode"
	rm -f out
	ok "$mode: make makes" in_wall $mode make -s
	is 42 "$mode: python runs" "$(in_wall $mode python3 -c 'print(6 * 7)')"
	! have node || is 42 "$mode: node runs" "$(in_wall $mode node -e 'console.log(6 * 7)')"
	[ -z "$compiled" ] || ok "$mode: a static program runs" in_wall $mode "$compiled"

	head -c 3000000 /dev/urandom >"$tmp/bytes"
	in_wall $mode cat <"$tmp/bytes" >"$tmp/back"
	same "$tmp/bytes" "$tmp/back" "$mode: stdin and stdout, byte for byte"
done

# A conversation by lines, as JSON-RPC over stdio is.
coproc peer { in_wall enforce cat; }
# shellcheck disable=SC2154
for n in 1 2 3; do
	echo "{\"jsonrpc\":\"2.0\",\"id\":$n}" >&"${peer[1]}"
	read -r -t 5 line <&"${peer[0]}"
	is "{\"jsonrpc\":\"2.0\",\"id\":$n}" "message $n comes back at once" "$line"
done
exec {peer[1]}>&-
wait

# The environment, the working directory, the mask of signals.
env -0 | sort -z | grep -zv '^_=' >"$tmp/env.bare"
"$aw" run -q --log none --engine kernel --runner "$runner" -- env -0 | sort -z | grep -zv '^_=' >"$tmp/env.sandbox"
same "$tmp/env.bare" "$tmp/env.sandbox" 'the environment is the same as without'
is "$repo/src" 'the working directory too' "$(cd src && in_wall audit pwd -P)"
(trap '' INT CHLD; grep -E '^Sig(Blk|Ign)' /proc/self/status >"$tmp/signals.bare"
	in_wall audit grep -E '^Sig(Blk|Ign)' /proc/self/status >"$tmp/signals.sandbox")
same "$tmp/signals.bare" "$tmp/signals.sandbox" 'blocked and ignored signals too'

printf '\nnetwork: {default: deny}\n' >>"$tmp/policy.yaml"
is lo 'no network: nothing but lo' \
	"$(in_wall audit sh -c "sed -n 's/^ *\([a-z0-9]*\):.*/\1/p' /proc/net/dev")"

# What the session says.
"$aw" run -q --session told --policy "$tmp/policy.yaml" --runner "$runner" -- true
session=$XDG_STATE_HOME/agentwatch/sessions/told
is "$runner" 'session.json names the runner' "$(jq -r .runner "$session/session.json")"
like "runner $runner" 'and so does the log' "$(jq -r 'select(.event == "start") | .text // .rule // tostring' "$session/events.jsonl")"
ok 'plan.txt has the plan' grep -q "^write   $repo " "$session/plan.txt"
ok 'and the command line' grep -q "^runner  $runner" "$session/plan.txt"
"$aw" policy show --plan --policy "$tmp/policy.yaml" --runner "$runner" -- true >"$tmp/shown"
ok 'policy show --plan says the same' grep -q "^write   $repo " "$tmp/shown"

# Signals, stop, and an end that leaves nothing.
"$aw" run -q --log none --mode enforce --policy "$tmp/policy.yaml" --runner "$runner" -- \
	bash -c 'trap "echo got term; exit 9" TERM; echo up; while :; do sleep 0.05; done' >"$tmp/out" &
pid=$!
wait_for 5 grep -q up "$tmp/out"
kill -TERM $pid
wait $pid
is 9 'SIGTERM reaches the command, and its status comes back' $?
"$aw" run -q --session halt --policy "$tmp/policy.yaml" --mode enforce --runner "$runner" -- sleep 54322 &
pid=$!
wait_for 5 pgrep -f '^sleep 54322'
ok 'stop is answered' "$aw" stop halt
wait $pid
like '^(143|137)$' 'and the run ends by the signal' $?
in_wall enforce sh -c 'setsid sleep 54323 & sleep 0.2'
is '' 'nothing is left running' "$(pgrep -f '^sleep 5432')"
is '' 'no socket is left' "$(find "$XDG_RUNTIME_DIR" ! -type d)"

# The supervisor is killed.
"$aw" run -q --log none --mode enforce --policy "$tmp/policy.yaml" --runner "$runner" -- sleep 54324 2>/dev/null &
pid=$!
wait_for 5 pgrep -f '^sleep 54324'
kill -9 "$(pgrep -P $pid)"
wait $pid
ok 'enforce: killed with its supervisor' wait_for 3 sh -c '! pgrep -f "^sleep 54324"'

if have python3; then
	relay 'terminal: ' < <(cd "$tmp" && AGENTWATCH_RUNNER=$runner python3 "$root/tests/e2e/terminal.py" "$aw" "$tmp" 2>&1)
fi
