#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_limits.sh - the known differences of a watched program, and that there are no others.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
run() { "$AGENTWATCH" run --quiet --log "$log" --engine "$engine" -- "$@"; }

for engine in $(engines); do
	is '' "$engine: only LD_PRELOAD and AGENTWATCH_* are added to the environment" \
		"$(diff <(env | cut -d= -f1 | sort) <(run env | cut -d= -f1 | sort) | grep '^[<>]' | grep -vE '^> (LD_PRELOAD|AGENTWATCH_[A-Z_]+)$')"
	# Lines of status that differ; those that count things of the moment are left out.
	differ=$(diff <(cat /proc/self/status) <(run cat /proc/self/status) | grep '^>' | cut -f1 | tr -d '> :' |
		grep -vE '^(Pid|Tgid|PPid|NStgid|NSpid|NSpgid|NSsid|Vm.*|Rss.*|HugetlbPages|SigQ|.*ctxt_switches|Ngid|TracerPid|Threads)$' | xargs)
	if [ "$engine" = preload ]; then want=; elif is_root; then want='Seccomp Seccomp_filters'; else want='NoNewPrivs Seccomp Seccomp_filters'; fi
	is "$want" "$engine: /proc/self/status differs in these lines only" "$differ"
	is "$(sh -c 'ls -l /proc/self/ns' | sed 's/.*-> //' | sort)" "$engine: every namespace is the caller's" \
		"$(run sh -c 'ls -l /proc/self/ns' | sed 's/.*-> //' | sort)"
	is "$(cat /proc/self/cgroup)" "$engine: so is the control group" "$(run cat /proc/self/cgroup)"
	is "$(cat /proc/self/mountinfo | cksum)" "$engine: so are the mounts" "$(run cat /proc/self/mountinfo | cksum)"
	if [ "$engine" = preload ]; then
		like 'preload' "$engine: the gap is stated on stderr" "$("$AGENTWATCH" run --log "$log" --engine preload -- true 2>&1)"
		ok "$engine: and in the log" jq -es 'any(.[]; .event == "warning")' "$log"
	fi

	# A program that wants to raise its privileges.
	setid=$(find /usr/bin /bin -maxdepth 1 -type f -perm -4000 -user root 2>/dev/null | grep -E '/(su|passwd|chsh|mount|newgrp)$' | head -n 1)
	if [ -z "$setid" ]; then
		skip "$engine: a set-id program" 'there is none'
	elif is_root || [ "$engine" = preload ]; then
		is "$("$setid" --help 2>&1 | head -n 1)" "$engine: a set-id program works" "$(run "$setid" --help 2>&1 | head -n 1)"
	else
		err=$("$AGENTWATCH" run --log "$log" --engine "$engine" -- "$setid" --help 2>&1 >/dev/null | grep '^agentwatch: ')
		like "$(basename "$setid")|privilege|set-id|setuid" "$engine: a set-id program does not raise its privileges, and stderr says so" "$err"
		ok "$engine: and the log" jq -es 'any(.[]; .event == "warning")' "$log"
	fi
	if have strace && [ "$engine" != preload ]; then
		run strace --seccomp-bpf -f -o "$tmp/trace" -e trace=openat cat /etc/hostname >/dev/null 2>&1
		ok "$engine: strace --seccomp-bpf inside ends all the same" test -f "$tmp/trace"
	fi
done
done_testing
