#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# soak.sh - saturates the machine under watch, then accounts for every event.
#
# SOAK_SECONDS (120) in all, shared by SOAK_RUNS (ENGINE/MODE/RUNNER ...).  Ends in one line of
# figures, which is written to SOAK_FIGURES, too.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
seconds=${SOAK_SECONDS:-120}
read -ra runs <<<"${SOAK_RUNS:-hybrid/audit/exec hybrid/enforce/exec}"
[ -z "${SOAK_SANITIZED:-}" ] || export TSAN_OPTIONS="log_path=$tmp/tsan exitcode=0 suppressions=$root/tests/soak/tsan.supp"
each=$((seconds / ${#runs[@]}))
[ $each -ge 4 ] || each=4
workers=${SOAK_WORKERS:-$(($(nproc) * 2))}
flags=(gcc -std=gnu11 -D_GNU_SOURCE "-I$root" -O2 -pthread)
compile soak/soak-load "${flags[@]}" "$root/tests/soak/load.c" "$root/tests/soak/tally.h" && load=$compiled &&
	compile soak/soak-static "${flags[@]}" -static -DSOAK_LEAF_KIND=SOAK_STATIC "$root/tests/soak/load.c" "$root/tests/soak/tally.h" && static=$compiled &&
	compile soak/soak-count "${flags[@]}" "$root/tests/soak/count.c" "$root/tests/soak/tally.h" && count=$compiled ||
	{ fail 'the load compiles' "$(cat "$tmp/compile.log")"; done_testing; }

# policy FILE DIR PORT FLIP: k-flip is refused when FLIP is 1.
policy()
{
	local flip=
	[ "$4" = 0 ] || flip=", \"$2/k-flip\""
	cat >"$1.new" <<-END
		version: 1
		filesystem: {default: allow, deny: ["$2/k-denied"$flip]}
		network: {default: allow, deny: ["127.0.0.1:$(($3 + 1))"]}
	END
	mv "$1.new" "$1"
}

free_port()
{
	local port
	while port=$((20000 + RANDOM % 12000 * 2)); do
		ss -tlnH "( sport = :$port or sport = :$((port + 1)) )" | grep -q . || break
	done
	echo $port
}

memory() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status" 2>/dev/null; }

# Descriptors of a process by what they are; rings that wait for a process are not of any.
descriptors()
{
	find "/proc/$1/fd" -mindepth 1 -printf '%l\n' 2>/dev/null |
		sed -E 's/:\[[0-9]+\]$//; s/ \(deleted\)$//' | grep -v 'memfd:agentwatch-ring' | sort | uniq -c | sort -k2
}

rings() { find "/proc/$1/fd" -lname '*memfd:agentwatch-ring*' 2>/dev/null | wc -l; }

middle() { sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : 0 }'; }

# One reload; whoever does not get to answer within two seconds, since the load leaves it
# no time, is asked again.
reload()
{
	local try answer began took
	for try in 1 2 3 4; do
		began=$(date +%s%3N)
		answer=$("$AGENTWATCH" policy reload "$1" 2>&1) && break
		unanswered=$((unanswered + 1))
		[[ $answer == *'does not answer'* ]] || break
	done
	took=$(($(date +%s%3N) - began))
	[ $took -le $slowest ] || slowest=$took
	[[ $answer == *'was read again'* ]] || echo "try $try: $answer" >>"$2"
}

# While the load works: a reload twice a second, and a look at the memory.
meanwhile()
{
	local session=$1 pid=$2 dir=$3 port=$4 until=$((SECONDS + each)) n=0
	unanswered=0 slowest=0
	while [ $SECONDS -lt $until ]; do
		n=$((n + 1))
		policy "$dir.yaml" "$dir" "$port" $((n % 2))
		reload "$session" "$dir.reload-failed"
		memory "$pid" >>"$dir.memory"
		sleep 0.5
	done
	reloads=$n
}

# tally KIND [3]: how often the load has done it, or begun to
tally() { awk -v key="$1" -v field="${2:-4}" 'NF == 4 && $1 == key { print $field }' "$dir.count"; }
value() { awk -v key="$1" '$1 == key { print $2 }' "$dir.count"; }

# Every kind of call: what the log has against what the load has done.
account()
{
	local kind lines begun done
	while read -r kind lines begun done; do
		case $kind in
		kills | processes | seen | k-victim) ;;
		*) is "$done" "$what: each call of kind $kind is in the log once" "$lines" ;;
		esac
		[ "$kind" != k-victim ] || ok "$what: those of killed processes too ($done to $begun)" \
			test "$lines" -ge "$done" -a "$lines" -le "$begun"
	done < <(awk 'NF == 4' "$dir.count")
	is 0 "$what: seq has no gap" "$(value gaps)"
	is 0 "$what: no line is damaged" "$(value damaged)"
	is 0 "$what: no warning" "$(value warnings)"
	# who is killed before its first call has not been heard of
	local others=$(($(tally processes) - $(tally kills)))
	ok "$what: every process's end is in the log once ($(value exits))" \
		test "$(value exits)" -ge $((others + $(tally seen))) -a \
		"$(value exits)" -le $((others + $(tally seen 3)))
	ok "$what: so is every reload" test "$(value policies)" -gt "$reloads" -a "$(value policies)" -le $((reloads + unanswered + 1))
	is '' "$what: every reload was done" "$(cat "$dir.reload-failed" 2>/dev/null)"
}

settled() { [ "$(descriptors "$service")" = "$fds_before" ]; }

# It hangs: say where, and end what was started.
give_up()
{
	local pid
	for pid in $(pgrep -f "$1/soak-load"); do
		note "$pid: $(cat "/proc/$pid/wchan"), system call $(cut -d' ' -f1 "/proc/$pid/syscall")"
	done
	fail "$what: the load ends in time" "$(tail -n 5 "$1.err")"
	pgrep -f "$1/soak-load" | xargs -r kill -KILL
	kill -KILL "$2"
}

left_behind()
{
	is '' "$what: no process is left" "$(pgrep -f "$dir/soak-" | tr '\n' ' ')"
	is '' "$what: no socket or file is left in the runtime folder" "$(find "$XDG_RUNTIME_DIR" -mindepth 1 ! -type d)"
	is 'policy.txt session.json ' "$what: the session's folder has its files and no other" \
		"$(find "$XDG_STATE_HOME/agentwatch/sessions/$session" -mindepth 1 -printf '%f\n' | grep -v '^plan.txt$' | sort | tr '\n' ' ')"
	is "$shm_before" "$what: no shared memory is left" "$(ipcs -m | wc -l) $(ls /dev/shm | wc -l)"
	ok "$what: no file that the load did not leave" test -z "$(find "$dir" -name 'k-made.*' -o -name 'k-moved.*')"
}

soak()
{
	local engine mode runner front service early late fds_before fds_after shm_before session port dir what
	IFS=/ read -r engine mode runner <<<"$1"
	what=$1 session=soak-$mode-$runner dir=$tmp/$engine-$mode-$runner port=$(free_port)
	mkdir -p "$dir"
	touch "$dir"/k-{open,raw,denied,flip,forked,thread,leaf,static,victim} "$dir.memory"
	cp "$load" "$dir/soak-load"
	cp "$static" "$dir/soak-static"
	policy "$dir.yaml" "$dir" "$port" 0
	shm_before="$(ipcs -m | wc -l) $(ls /dev/shm | wc -l)"
	mkfifo "$dir.log"
	"$count" "$dir" "$port" <"$dir.log" >"$dir.count" 2>"$dir.warnings" &
	local counter=$!
	"$AGENTWATCH" run --quiet --mode "$mode" --engine "$engine" --runner "$runner" --session "$session" \
		--workspace "$dir" --policy "$dir.yaml" --log "$dir.log" -- \
		"$dir/soak-load" run "$each" "$workers" "$dir" "$port" 2>"$dir.err" &
	front=$!
	wait_for 20 test -e "$dir/ready"
	service=$(pgrep -P $front | head -n 1)
	"$AGENTWATCH" policy reload "$session" >"$dir.reload" # the first one stays beside the newest
	sleep 0.7
	fds_before=$(descriptors "$service")
	meanwhile "$session" "$service" "$dir" "$port"
	wait_for 30 test -e "$dir/quiet" || give_up "$dir" $front
	wait_for 20 settled # all that was noted is written, and what is over released
	fds_after=$(descriptors "$service")
	local spare
	spare=$(rings "$service")
	touch "$dir/go"
	wait $front
	is 0 "$what: the load came through" $?
	[ ! -s "$dir.err" ] || note "$(tail -n 20 "$dir.err")"
	wait $counter
	[ ! -s "$dir.warnings" ] || note "$(head -n 5 "$dir.warnings" | cut -c1-400)"
	account
	early=$(sed -n "$(($(wc -l <"$dir.memory") / 4)),+4p" "$dir.memory" | middle)
	late=$(tail -n 5 "$dir.memory" | middle)
	if [ -z "${SOAK_SANITIZED:-}" ]; then
		ok "$what: the supervisor's memory is flat ($early KB after a quarter, $late KB at the end)" \
			test "$late" -le $((early + early / 10 + 512)) -a "$late" -gt 0
	fi
	is "$fds_before" "$what: the supervisor holds the descriptors that it held before" "$fds_after"
	ok "$what: and few rings that nobody has yet ($spare)" test "$spare" -le 32
	left_behind
	if [ -n "${SOAK_SANITIZED:-}" ]; then
		is '' "$what: the thread sanitizer has nothing to say" "$(cat "$tmp"/tsan.* 2>/dev/null | head -n 60)"
	fi
	figures="${figures:+$figures; }$what ${each} s: $(value lines) events ($(($(value lines) / each))/s), $(tally processes) processes, $(tally kills) killed, $(value denied) denied, $reloads reloads (slowest $slowest ms, $unanswered asked again), $(value gaps) gaps, memory $early to $late KB"
}

figures=
for run in "${runs[@]}"; do
	soak "$run"
done
note "soak: $figures"
[ -z "${SOAK_FIGURES:-}" ] || echo "soak: $figures, $tap_failed of $tap_count checks failed" >"$SOAK_FIGURES"
done_testing
