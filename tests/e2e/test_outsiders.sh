#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_outsiders.sh - processes that are not of the session, by whatever number, are out of reach.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
compile next_pid "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O1 "$root/tests/e2e/next_pid.c" ||
	{ fail 'next_pid.c compiles' "$(cat "$tmp/compile.log")"; done_testing; }
next_pid=$tmp/next_pid
cp "$compiled" "$next_pid"
mkdir "$tmp/work"
cd "$tmp/work" || exit 1
printf 'version: 1\nmode: enforce\nfilesystem: {default: allow}\nnetwork: {default: allow}\n' >"$tmp/policy.yaml"
watched() { "$AGENTWATCH" run --quiet --log none --runner "$1" --policy "$tmp/policy.yaml" -- "${@:2}" 2>"$tmp/errors"; }
sleep 600 &
outside=$!
at_end "kill $outside"

# What a call answered that must not reach the process; a signal may also come to nobody.
reached() { grep -vE ' (EPERM|EACCES|ESRCH|ENOENT)$' || true; }

for runner in exec landlock bwrap; do
	if ! watched $runner true; then
		skip "$runner: outsiders" "$(cat "$tmp/errors")"
		continue
	fi
	# 1: of the machine, or in a sandbox the program that made it, which no filter holds
	watched $runner "$next_pid" touch 1 >"$tmp/first"
	ok "$runner: the calls at process 1 were made" grep -q '^ptrace' "$tmp/first"
	is '' "$runner: process 1 is no part of the session" "$(reached <"$tmp/first")"
	watched $runner "$next_pid" touch $outside >"$tmp/other"
	is '' "$runner: nor is a process that is outside" "$(reached <"$tmp/other")"
	score=$(cat /proc/$outside/oom_score_adj)
	for file in oom_score_adj coredump_filter comm task/$outside/comm; do
		watched $runner sh -c "cat /proc/$outside/$file >kept && cat kept >/proc/$outside/$file && echo written" >"$tmp/written"
		is '' "$runner: nor is its $file written" "$(cat "$tmp/written")"
	done
	watched $runner sh -c "cat /proc/self/oom_score_adj >kept && cat kept >/proc/self/oom_score_adj && echo written" >"$tmp/written"
	is written "$runner: one's own is" "$(cat "$tmp/written")"
	is "$score" "$runner: it is as it was" "$(cat /proc/$outside/oom_score_adj)"
	# those of the session may be touched
	cat >"$tmp/own.sh" <<-'END'
		sleep 60 & pid=$!
		"$1" touch $pid
		kill $pid
		wait $pid
		echo "status $?"
		kill $pid 2>/dev/null || echo "gone"
	END
	watched $runner sh "$tmp/own.sh" "$next_pid" >"$tmp/own"
	for call in kill tkill tgkill prlimit sched_setscheduler setpriority pidfd_send_signal environ; do
		ok "$runner: $call reaches a child" grep -qx "$call ok" "$tmp/own"
	done
	ok "$runner: a signal ends it" grep -qx 'status 143' "$tmp/own"
	ok "$runner: its number is nobody's then" grep -qx gone "$tmp/own"
done

# A group of which the session is but a part.
cat >"$tmp/group.sh" <<-'END'
	sleep 60 &
	echo $! >member
	"$AGENTWATCH" run --quiet --log none --runner "$1" --policy "$2" -- sh "$3"
	echo "status $?"
	kill -0 $(cat member) && echo there
	cut -d" " -f 19 /proc/$(cat member)/stat
	kill $(cat member)
END
cat >"$tmp/inside.sh" <<-'END'
	trap "echo came" USR1
	kill -USR1 0
	renice -n 7 -g 0 >&2
	sed "s/.*)//" /proc/1/stat | cut -d" " -f 18
	setsid sleep 60 & pid=$!
	sleep 0.3
	kill -9 -$pid
	wait $pid
	echo "group $?"
	kill -9 -$pid 2>/dev/null || echo none
END
for runner in exec landlock bwrap; do
	watched $runner true || continue
	is 'came 0 group 137 none status 0 there 0' "$runner: signals and priorities for a group stay in the session" \
		"$(setsid -w sh "$tmp/group.sh" $runner "$tmp/policy.yaml" "$tmp/inside.sh" 2>"$tmp/errors" | paste -sd' ')"
done

# What was handed down from outside leads to no process there, also where everything may be
# read and written that no rule names.
if have python3; then
	echo text | tee "$tmp/readable" >"$tmp/denied"
	handing=$root/tests/e2e/handed_down.py same=
	handed_down() { rm -f own; $same python3 "$handing" outside "$@" python3 "$handing" inside PID "$tmp/readable" "$tmp/denied" ${same:+same} 2>&1 | paste -sd' '; }
	numbers=(unshare --pid --fork --mount-proc)
	is_root || numbers=(unshare --user --map-root-user --pid --fork --mount-proc)
	printf '"$@" & exec 2>&1; wait $!\n' >"$tmp/second" # which is not process 1
	for rules in "default: read-only, write: [\"$PWD\"]" 'default: allow'; do
		printf 'version: 1\nmode: enforce\nfilesystem: {%s, deny: ["%s"], deny_write: ["%s"]}\n' "$rules" "$tmp/denied" "$tmp/readable" >"$tmp/reading.yaml"
		for runner in exec landlock bwrap; do
			watched $runner true || continue
			is 'own lease True tried status 0' "$runner, ${rules%%,*}: descriptors from outside lead to no process there, and hold nobody up" \
				"$(handed_down "$AGENTWATCH" run --quiet --log none --runner $runner --policy "$tmp/reading.yaml" --)"
		done
		# behind a sandbox the number may be that of one of the session's as well
		same="${numbers[*]}"
		if $same "$AGENTWATCH" run --quiet --log none --runner bwrap --policy "$tmp/reading.yaml" -- true 2>"$tmp/errors"; then
			same="$same sh $tmp/second"
			is 'own lease True tried status 0' "bwrap, ${rules%%,*}: nor where one of the session has its number" \
				"$(handed_down "$AGENTWATCH" run --quiet --log none --runner bwrap --policy "$tmp/reading.yaml" --)"
		else
			skip "bwrap, ${rules%%,*}: the same number inside" "$(tail -n 1 "$tmp/errors")"
		fi
		same=
	done
	like 'denied.*read environ.*write oom_score_adj.*signal.*lease' 'bare they do' "$(handed_down)"
else
	skip 'descriptors from outside' 'no python3'
fi

# A number that comes again while it is signalled.
if is_root && [ -w /proc/sys/kernel/ns_last_pid ]; then
	number=$(sh -c 'echo $$')
	watched exec "$next_pid" shoot "$number" 4 >/dev/null &
	shooter=$!
	is 'never hit' 'exec: no signal comes to the next one with a number' "$("$next_pid" give "$number" 2000)"
	kill $shooter 2>/dev/null
	wait $shooter 2>/dev/null
fi
ok 'the process outside is still there' kill -0 $outside
done_testing
