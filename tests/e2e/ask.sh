# SPDX-License-Identifier: Apache-2.0
# ask.sh - what the tests of questions share; source it after tap.sh.
# shellcheck shell=bash
need_agentwatch
compile ask "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -pthread -O1 -g "$root/tests/e2e/ask.c" ||
	{ fail 'ask.c compiles' "$(cat "$tmp/compile.log")"; done_testing; }
ask=$compiled
mkdir "$tmp/work" "$tmp/work/docs" "$tmp/bin"
cd "$tmp/work" || exit 1
for name in a b c; do echo $name >docs/$name; done
printf '#!/bin/sh\necho pushed "$@"\n' >"$tmp/bin/vcs"
chmod 755 "$tmp/bin/vcs"
cp -r "$tmp/bin" "$tmp/bin2" # a second folder of PATH that has it
export PATH=$tmp/bin:$PATH

# begin NAME [OPTION...] -- COMMAND...: a session in the background, its output in $tmp/NAME.
begin()
{
	local name=$1
	shift
	"$AGENTWATCH" run --quiet --session "$name" ${policy:+--policy "$policy"} "$@" >"$tmp/$name" 2>&1 </dev/null &
	running=$!
}
has_ended() { case $(ps -o stat= -p $running) in '' | Z*) ;; *) return 1 ;; esac; }
# finish NAME: wait for the session; what it printed.
finish()
{
	wait_for 20 has_ended
	cat "$tmp/$1"
}
not() { ! "$@"; }
questions() { "$AGENTWATCH" approve --json | jq -r "select(.session == \"$1\") | .question"; }
# asks NAME NUMBER: exactly this question is open.
asks() { [ "$(questions "$1" | xargs)" = "$2" ]; }
answer() { "$AGENTWATCH" approve "$@" >"$tmp/approve" 2>&1; }
events() { echo "$XDG_STATE_HOME/agentwatch/sessions/$1/events.jsonl"; }
# told NAME PATH: verdict and answer of what was asked about it.
told() { jq -r "select(.answer and (.path // \"\" | endswith(\"$2\"))) | \"\(.verdict) \(.answer)\"" "$(events "$1")"; }
