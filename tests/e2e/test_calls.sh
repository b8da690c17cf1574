#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_calls.sh - every call, allowed and refused, in every engine and every kind of program.
#
# One run a variant and engine: the probe works through a list of calls, most in the allowed
# folder, the same again where the policy refuses.  Answers are compared with the bare run's,
# files with what they were, and the log must have exactly one line for each call.
# AW_VARIANTS: only these kinds of program.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/build_probe.sh"
judge=("python3" "$root/tests/e2e/calls.py")

read -ra variants <<<"${AW_VARIANTS:-glibc glibc-static musl musl-static i386-static}"
[ -z "${AW_QUICK:-}" ] || AW_TERSE=1

cat >"$tmp/policy.yaml" <<END
version: 1
mode: enforce
runner: exec
filesystem:
  default: allow
  deny: ["$tmp/denied"]
  deny_write: ["$tmp/readonly"]
  hide: ["$tmp/hidden"]
network:
  default: deny
  allow: ["127.0.0.1:*", "127.1.0.0/16:*", "unix:$tmp/allowed/**"]
  listen: ["127.1.0.0/16:*", "unix:$tmp/allowed/**"]
  deny: ["denied.test"]
END

cases=(allowed denied hidden)
server=

fill()
{
	local name
	[ -z "$server" ] || { kill "$server"; wait "$server" 2>/dev/null; }
	rm -rf "$tmp"/{allowed,denied,readonly,hidden}
	mkdir "$tmp"/{allowed,denied,readonly,hidden}
	for name in allowed denied readonly hidden; do "$probe" --prepare "$tmp/$name"; done
	rm -f "$tmp/port"
	"$probe" --serve "$tmp/port" "$tmp/allowed" "$tmp/readonly" &
	server=$!
	wait_for 5 test -s "$tmp/port"
	PROBE_PORT=$(cat "$tmp/port")
	export PROBE_PORT
}
at_end 'kill $server'

# What the folders look like; times only where a call sets them (the year 2001).
snapshot()
{
	(cd "$tmp" && find "$@" ! -name '*mkstemp*' ! -name '*mkostemp*' ! -name '*mkdtemp*' \
		! -name '*bind.unix' ! -name '*.unix' -printf '%p %y %m %s %u %T+ %l\n' | sort |
		sed -E 's/ (20[02][2-9])-[^ ]*/ now/'
	have getfattr && getfattr -R -P -d -m user.probe "$@" 2>/dev/null)
}

run_variant()
{
	local engine=$1 variant=$2
	fill
	"${judge[@]}" plan "$tmp/list" "$tmp" "${cases[@]}" >"$tmp/plan"
	snapshot denied readonly hidden >"$tmp/before"
	"$AGENTWATCH" run --quiet --engine "$engine" --policy "$tmp/policy.yaml" --log "$log" \
		-- "$probe" --batch <"$tmp/plan" >"$tmp/watched" 2>"$tmp/stderr" ||
		note "agentwatch ended with $?" "$(cat "$tmp/stderr")"
	snapshot denied readonly hidden >"$tmp/after"
	snapshot allowed >"$tmp/tree-watched"
	case $engine$variant in kernel* | *static) unset AW_SHIMMED ;; *) export AW_SHIMMED=1 ;; esac
	relay "$engine $variant: " < <("${judge[@]}" judge "$tmp/list" "$tmp" "$log" \
		"$tmp/bare" "$tmp/watched" "${cases[@]}")
	same "$tmp/before" "$tmp/after" "$engine $variant: nothing changed where changes are refused"
	same "$tmp/tree-bare" "$tmp/tree-watched" "$engine $variant: what is allowed has the same effect as bare"
}

for variant in "${variants[@]}"; do
	if ! build_probe "$variant"; then
		skip "the calls of a $variant program" "no toolchain for it here"
		continue
	fi
	probe=$compiled
	"$probe" --list >"$tmp/list-$variant" 2>/dev/null || {
		rm -f "$tmp/list-$variant"
		skip "the calls of a $variant program" 'programs of its kind do not run here'
		continue
	}
	# Some virtual machines have the 32-bit entry in the kernel and not in the processor.
	if grep -q '^int80:' "$tmp/list-$variant" && echo "int80:stat $tmp $tmp.to" | "$probe" --batch | grep -q signal; then
		skip "$variant: calls by int 0x80" 'a program that makes one is killed here'
		sed -i '/^int80:/d' "$tmp/list-$variant"
	fi
	if [ ! -x "$AGENTWATCH" ]; then
		[ -n "${AW_BARE:-}" ] || need_agentwatch
	fi
	for engine in $(engines); do
		# A preload sees neither a static program nor a call that passes libc by, and a
		# handle has no path.
		list=$tmp/list-$variant
		cp "$list" "$tmp/list"
		if [ "$engine" = preload ]; then
			case $variant in *static) continue ;; esac
			grep -vE '^(raw|int80):|:open_by_handle_at' "$list" >"$tmp/list"
		fi
		fill
		"${judge[@]}" plan "$tmp/list" "$tmp" "${cases[@]}" >"$tmp/plan"
		"$probe" --batch <"$tmp/plan" >"$tmp/bare"
		snapshot allowed >"$tmp/tree-bare"
		run_variant "$engine" "$variant"
	done
done

build_probe glibc && probe=$compiled

# tmpfile() is always in /tmp, so it has a policy of its own.
printf 'version: 1\nmode: enforce\nrunner: exec\nfilesystem: {default: allow, deny_write: ["/tmp"]}\n' >"$tmp/no-tmp.yaml"
for engine in $(engines); do
	for call in tmpfile tmpfile64; do
		is ok "$engine: $call is allowed" "$(watched --engine "$engine" -- "$probe" $call)"
		is EACCES "$engine: $call is refused where /tmp must not change" \
			"$(watched --engine "$engine" --policy "$tmp/no-tmp.yaml" -- "$probe" $call)"
		is deny "$engine: and its refusal is in the log" \
			"$(jq -r 'select(.event == "call" and .action == "create") | .verdict' "$log" | sort -u)"
	done
done

# A handle has no name to judge, so enforce refuses it; audit does not.
mkdir -p "$tmp/allowed"; echo x >"$tmp/allowed/handle"
for engine in $(engines); do
	[ "$engine" = preload ] && continue
	for call in raw:open_by_handle_at raw:open_by_handle_at.far; do
		is "$("$probe" $call "$tmp/allowed/handle")" "$engine: audit: $call is as bare" \
			"$(watched --engine "$engine" -- "$probe" $call "$tmp/allowed/handle")"
		ok "$engine: and in the log" jq -es 'any(.[]; .event == "call" and .call == "open_by_handle_at")' "$log"
	done
done

[ -n "${AW_VARIANTS:-}" ] || relay 'the table: ' < <("${judge[@]}" covered "$root/policy/calls.def" "$tmp"/list-*)
done_testing
