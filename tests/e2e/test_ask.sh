#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_ask.sh - calls that wait for a human, and all the ways in which they stop waiting.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/ask.sh"
policy=$tmp/policy.yaml
cat >"$tmp/policy.yaml" <<END
version: 1
mode: enforce
runner: exec
filesystem: {default: allow, ask: ["$tmp/work/docs"]}
exec: {ask: ["vcs push *"]}
ask: {deadline: 60s}
END

read -ra all <<<"$(engines)"
[ "${all[0]}" != none ] || skip_all 'no engine works here'
# The best one and the one that asks over a socket; AW_FULL takes all.
[ -n "${AW_FULL:-}" ] || [ ${#all[@]} = 1 ] || all=("${all[0]}" "${all[-1]}")
for engine in "${all[@]}"; do
	s=$engine
	begin $s-once --engine $engine -- "$ask" open docs/a
	ok "$engine: a call that asks waits" wait_for 5 asks $s-once 1
	question=$("$AGENTWATCH" approve --json)
	is "read $tmp/work/docs/a $tmp/work/docs $ask true" "$engine: the question says what, why and who" \
		"$(jq -r '"\(.action) \(.path) \(.rule.text) \(.exe) \(.left_ms <= 60000 and .left_ms > 50000)"' <<<"$question")"
	is "$tmp/work true" "$engine: and where, and that it waits" "$(jq -r '"\(.cwd) \(.waiting == 1)"' <<<"$question")"
	ok "$engine: --once from another shell" answer $s-once/1 --once
	is ok "$engine: lets it go on" "$(finish $s-once)"
	is "ask-allow once user $(id -un) 1 true" "$engine: the log says who said so" \
		"$(jq -r 'select(.answer) | "\(.verdict) \(.answer) \(.answered_by) \(.question) \(.waited_ms > 0)"' "$(events $s-once)")"

	begin $s-deny --engine $engine -- "$ask" open docs/a
	wait_for 5 asks $s-deny 1
	ok "$engine: --deny" answer $s-deny/1 --deny
	is EACCES "$engine: refuses it" "$(finish $s-deny)"

	begin $s-session --engine $engine -- sh -c "$ask open docs/a; $ask open docs/a; $ask open docs/b; echo x >>docs/a"
	wait_for 5 asks $s-session 1
	answer $s-session/1 --session
	wait_for 5 asks $s-session 2
	is 2 "$engine: --session holds for this file alone" "$(questions $s-session)"
	answer $s-session/2 --deny
	ok "$engine: and for reading alone" wait_for 5 asks $s-session 3
	answer $s-session/3 --deny
	is 'ok ok EACCES' "$engine: what was answered came about" "$(finish $s-session | grep -v denied | xargs)"

	begin $s-git --engine $engine -- sh -c 'vcs push origin main; vcs status; vcs push -f'
	wait_for 5 asks $s-git 1
	is "push origin main" "$engine: an exec is asked about with its arguments" \
		"$("$AGENTWATCH" approve --json | jq -r 'select(.session == "'$s-git'") | .argv[-3:] | join(" ")')"
	answer $s-git/1 --once
	wait_for 5 asks $s-git 2
	answer $s-git/2 --deny
	is 'pushed push origin main pushed status' "$engine: each program as it was answered" \
		"$(finish $s-git | grep ^pushed | xargs)"

	begin $s-path --engine $engine -- sh -c "PATH=$tmp/bin2:\$PATH; vcs push"
	wait_for 5 asks $s-path 1
	answer $s-path/1 --deny
	like 'vcs: .*denied' "$engine: a shell that is told no is not asked about the next folder" "$(finish $s-path)"

	begin $s-threads --engine $engine -- "$ask" threads docs/a 8
	waits() { [ "$("$AGENTWATCH" approve --json | jq -r 'select(.session == "'$s-threads'") | .waiting')" = 8 ]; }
	ok "$engine: eight threads with the same question" wait_for 5 waits
	is 1 "$engine: are one question" "$(questions $s-threads)"
	answer $s-threads/1 --once
	is 8 "$engine: one answer is for all that wait" "$(finish $s-threads)"

	begin $s-late --engine $engine --ask-deadline 1s -- "$ask" open docs/a
	is EACCES "$engine: at the deadline the answer is no" "$(finish $s-late)"
	is 'ask-deny deadline' "$engine: the log says so" "$(told $s-late docs/a)"
	ok "$engine: with a warning" grep -q '"kind":"ask","text":"question 1 (read) was not answered in 1 s' \
		"$(events $s-late)"

	begin $s-signal --engine $engine -- "$ask" alarm docs/a 0
	is 'EINTR after signals' "$engine: a signal without SA_RESTART interrupts" "$(finish $s-signal)"
	begin $s-restart --engine $engine -- "$ask" alarm docs/a 1
	wait_for 5 asks $s-restart 1
	sleep 0.3
	is 1 "$engine: with SA_RESTART it stays one question" "$(questions $s-restart)"
	answer $s-restart/1 --once
	is 'ok after signals' "$engine: which can be answered" "$(finish $s-restart)"

	begin $s-thread --engine $engine -- "$ask" alarm docs/a 2
	wait_for 5 asks $s-thread 1
	sleep 0.2
	answer $s-thread/1 --once
	is 'ok after signals' "$engine: in a program with threads, too" "$(finish $s-thread)"

	begin $s-killed --engine $engine -- sh -c "$ask open docs/a & until [ -e $tmp/$s-asked ]; do sleep 0.05; done; kill -KILL \$!; wait; sleep 0.4; echo on"
	wait_for 5 asks $s-killed 1
	: >"$tmp/$s-asked"
	ok "$engine: who is killed while it waits leaves no question" wait_for 5 asks $s-killed ''
	is on "$engine: and the others go on" "$(finish $s-killed | tail -n 1)"
	is 'ask-deny gone' "$engine: the log has it" "$(told $s-killed docs/a)"

	begin $s-stop --engine $engine -- "$ask" open docs/a
	wait_for 5 asks $s-stop 1
	ok "$engine: a session is stopped while it asks" "$AGENTWATCH" stop $s-stop
	wait $running
	is '' "$engine: and is gone" "$("$AGENTWATCH" ps --json | jq -r 'select(.id == "'$s-stop'") | .id')"

	begin $s-lost --engine $engine -- "$ask" open docs/a
	wait_for 5 asks $s-lost 1
	kill -KILL "$(pgrep -P $running)"
	like 'supervisor was killed' "$engine: without its supervisor the call is not made" "$(finish $s-lost)"
	is '' "$engine: and nobody waits on" "$(pgrep -f "^$ask open" -x)"

	begin $s-moot --engine $engine -- "$ask" open docs/none
	is other "$engine: nobody is asked about what is not there" "$(finish $s-moot)"
done
done_testing
