# SPDX-License-Identifier: Apache-2.0
# tap.sh - sentences that a test script prints; source it first and call done_testing last.
#
# The expectation comes first: `is 3 'the status is kept' "$rc"`.  Every script gets a scratch
# directory $tmp and session folders of its own, and leaves nothing behind.
# shellcheck shell=bash

set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
AGENTWATCH=${AGENTWATCH:-build/agentwatch}
case $AGENTWATCH in /*) ;; *) AGENTWATCH=$root/$AGENTWATCH ;; esac
tests=${AW_TEST_BUILD:-$root/build/tests}

# A watched shell must not inherit what an outer session or the caller has set.
for tap_name in $(compgen -e AGENTWATCH_); do unset "$tap_name"; done
unset LD_PRELOAD CDPATH
# Without a sandbox, unless a test names one: enforce alone would build the best there is.
export AGENTWATCH_RUNNER=${AW_TEST_RUNNER:-exec}

tmp=$(mktemp -d "${TMPDIR:-/tmp}/aw-test.XXXXXX") || exit 1
tmp=$(cd "$tmp" && pwd -P)
mkdir -m 700 "$tmp/state" "$tmp/run" "$tmp/config"
export AGENTWATCH XDG_STATE_HOME=$tmp/state XDG_RUNTIME_DIR=$tmp/run XDG_CONFIG_HOME=$tmp/config

tap_count=0 tap_failed=0 tap_finished= tap_cleanup=()

# Register a command for the end of the script, last one first.
at_end() { tap_cleanup=("$1" "${tap_cleanup[@]}"); }

tap_exit()
{
	local rc=$? command
	trap - EXIT
	for command in "${tap_cleanup[@]}"; do eval "$command" >/dev/null 2>&1; done
	chmod -R u+rwX "$tmp" 2>/dev/null
	rm -rf "$tmp"
	if [ -z "$tap_finished" ]; then
		echo "Bail out! the script ended early with status $rc"
		exit 1
	fi
	[ "$tap_failed" = 0 ] || rc=1
	exit "$rc"
}
trap tap_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

note() { printf '%s\n' "$*" | sed 's/^/# /'; }

pass() { tap_count=$((tap_count + 1)); echo "ok $tap_count - $1"; }

# fail SENTENCE [DIAGNOSTIC...]
fail()
{
	tap_count=$((tap_count + 1)) tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	shift
	[ $# -eq 0 ] || note "$@"
}

# skip SENTENCE REASON
skip() { tap_count=$((tap_count + 1)); echo "ok $tap_count - $1 # SKIP $2"; }

# ok SENTENCE COMMAND...: the command succeeds; what it prints is the diagnostic.
ok()
{
	local sentence=$1 output rc
	shift
	output=$("$@" 2>&1)
	rc=$?
	if [ $rc = 0 ]; then pass "$sentence"; else fail "$sentence" "status $rc of: $*" "$output"; fi
}

# is EXPECTED SENTENCE ACTUAL
is()
{
	if [ "$1" = "$3" ]; then pass "$2"; else
		fail "$2"
		note "expected: $1"
		note "     got: $3"
	fi
}

# like REGEX SENTENCE ACTUAL
like()
{
	if [[ $3 =~ $1 ]]; then pass "$2"; else
		fail "$2"
		note "expected a match of: $1"
		note "     got: $3"
	fi
}

# same FILE FILE SENTENCE: equal byte for byte.
same()
{
	if cmp -s "$1" "$2"; then pass "$3"; else
		fail "$3"
		diff -a "$1" "$2" | head -n 20 | cut -c1-300 | sed 's/^/# /'
	fi
}

# check RESULT SENTENCE CALL [PATH...]: the probe's one call ends with RESULT ("ok" or an errno name).
check() { local want=$1 sentence=$2; shift 2; is "$want" "$sentence" "$("${probe[@]}" "$@" 2>&1)"; }

# allowed SENTENCE CALL [PATH...], denied SENTENCE CALL [PATH...]: the same with the result implied.
allowed() { check ok "$@"; }
denied() { check "${denied_errno:-EACCES}" "$@"; }

# Print the plan; a script that does not come here has failed.
done_testing() { echo "1..$tap_count"; tap_finished=1; exit 0; }

# skip_all REASON: nothing of this script can run here.
skip_all() { echo "1..0 # SKIP $1"; tap_finished=1; exit 0; }

need_agentwatch() { [ -x "$AGENTWATCH" ] || { fail "agentwatch is built" "no $AGENTWATCH; run make"; done_testing; }; }

have() { command -v "$1" >/dev/null 2>&1; }
is_root() { [ "$(id -u)" = 0 ]; }

# compile NAME COMMAND...: build $tests/NAME (or one in $tmp where that is not ours to write)
# when it is older than a source; sets $compiled, fails when the toolchain cannot do it.
compile()
{
	local name=$1 word new=
	shift
	compiled=$tests/$name
	for word; do
		case $word in *.c | *.h | *.go) [ "$word" -nt "$compiled" ] && new=1 ;; esac
	done
	[ -z "$new" ] && [ -x "$compiled" ] && return 0
	mkdir -p "$(dirname "$compiled")" 2>/dev/null
	[ -w "$(dirname "$compiled")" ] || compiled=$tmp/$name
	mkdir -p "$(dirname "$compiled")"
	"$@" -o "$compiled.$$" >"$tmp/compile.log" 2>&1 && mv "$compiled.$$" "$compiled"
}

# watched [OPTION...] -- COMMAND...: run under agentwatch, quietly, with the log in $log.
log=$tmp/events.jsonl
watched() { "$AGENTWATCH" run --quiet --log "$log" "$@"; }

# Engines that work here, best first.  Cached for the scripts that follow in the same run.
engines()
{
	local engine
	[ -n "${AW_ENGINES:-}" ] || for engine in hybrid kernel preload; do
		"$AGENTWATCH" run --quiet --log none --engine "$engine" -- true >/dev/null 2>&1 &&
			AW_ENGINES="${AW_ENGINES:-}${AW_ENGINES:+ }$engine"
	done
	export AW_ENGINES=${AW_ENGINES:-none}
	echo "$AW_ENGINES"
}

# Wait until a command succeeds, for at most SECONDS.
wait_for()
{
	local until=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.02
	done
}

# Number the `ok - ...` and `not ok - ...` lines of a helper; AW_TERSE folds the passes into one.
relay()
{
	local prefix=$1 line passed=0
	while IFS= read -r line; do
		case $line in
		"ok - "*)
			if [ -n "${AW_TERSE:-}" ]; then passed=$((passed + 1)); else pass "$prefix${line#ok - }"; fi ;;
		"not ok - "*) fail "$prefix${line#not ok - }" ;;
		*) echo "$line" ;;
		esac
	done
	[ $passed = 0 ] || pass "$prefix$passed cases"
}
