#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [-t SECONDS] [-j JOBS] [-u] [-v] PROGRAM...: run TAP programs, binaries and scripts alike.
#
# Prints one line a program and the failures with their diagnostics, and ends with
# `N passed, N failed, N skipped`; status 1 when anything failed.  A program fails as a whole
# when it dies, prints no test, or runs other than its plan says.  With -u all of them run as
# throwaway ordinary users (when root), one for each that run at a time.
limit=${AW_TEST_TIMEOUT:-300} user= verbose= jobs=1
while getopts t:j:uv option; do
	case $option in t) limit=$OPTARG ;; j) jobs=$OPTARG ;; u) user=1 ;; v) verbose=1 ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
cd "$(dirname "$0")/.." || exit 1

scratch=$(mktemp -d "${TMPDIR:-/tmp}/aw-run.XXXXXX") || exit 1
accounts=() passed=0 failed=0 skipped=0

clean()
{
	local account pids
	for account in "${accounts[@]}"; do
		pids=$(ps -o pid= -u "$account")
		# shellcheck disable=SC2086
		[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
		userdel "$account" 2>/dev/null
	done
	rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# become SLOT: the words that make a command run as the user of that slot.
become()
{
	local account=aw-test-$$-$1 home=$scratch/home.$1
	[ -n "$user" ] && [ "$(id -u)" = 0 ] || return 0
	printf '%s\n' setpriv "--reuid=$account" "--regid=$(id -g "$account")" --init-groups -- \
		env -u XDG_RUNTIME_DIR "HOME=$home" "USER=$account" "LOGNAME=$account" "TMPDIR=$home/tmp"
}

if [ -n "$user" ] && [ "$(id -u)" = 0 ]; then
	chmod 755 "$scratch"
	for ((slot = 0; slot < jobs; slot++)); do
		home=$scratch/home.$slot
		useradd --no-create-home --home-dir "$home" --shell /bin/bash "aw-test-$$-$slot" || exit 1
		accounts+=("aw-test-$$-$slot")
		mkdir "$home" "$home/tmp"
		chown -R "aw-test-$$-$slot:" "$home"
	done
	mapfile -t as < <(become 0)
	if ! "${as[@]}" test -r "$PWD/tests/run.sh"; then
		echo "ok 1 - everything again as an ordinary user # SKIP $PWD is not readable for others"
		echo "0 passed, 0 failed, 1 skipped"
		exit 0
	fi
fi

# Count one program's output; the summary line of awk is "passed failed skipped problem".
count()
{
	awk -v status="$1" '
		/^ok / { if (/# SKIP/) skip++; else pass++ }
		/^not ok / { fail++ }
		/^1\.\.[0-9]+/ { split($1, part, /\.\./); plan = part[2] + 0; planned = 1
			if (plan == 0 && /SKIP/) skip++ }
		/^Bail out!/ { bail = 1 }
		END {
			seen = pass + fail + skip
			if (bail) problem = "bailed out"
			else if (status == 124) problem = "took too long"
			else if (!planned) problem = "printed no plan"
			else if (plan == 0 && skip == 0) problem = "has no test"
			else if (plan > 0 && plan != seen) problem = "planned " plan " tests and ran " seen
			else if (status != 0 && fail == 0) problem = "ended with status " status
			printf "%d %d %d %s\n", pass, fail, skip, problem
		}' "$2"
}

# one SLOT PROGRAM: run it and leave its report, the numbers first, in $scratch/SLOT.report.
one()
{
	local slot=$1 program=$2 out=$scratch/$1.out err=$scratch/$1.err start=$SECONDS as command status
	local pass fail skip problem word=ok
	: >"$scratch/$slot.report"
	case $program in /*) ;; *) program=./$program ;; esac
	command=("$program")
	case $program in *.sh) command=(bash "$program") ;; *.py) command=(python3 "$program") ;; esac
	mapfile -t as < <(become "$slot")
	timeout -k 10 "$limit" "${as[@]}" "${command[@]}" >"$out" 2>"$err" </dev/null
	status=$?
	read -r pass fail skip problem < <(count $status "$out")
	[ -z "$problem" ] || fail=$((fail + 1))
	[ "$fail" = 0 ] || word=FAILED
	{
		echo "$pass $fail $skip"
		printf '%-6s %s: %d passed, %d failed, %d skipped (%d s)\n' \
			$word "${program#./}" "$pass" "$fail" "$skip" $((SECONDS - start))
		[ -z "$verbose" ] || sed 's/^/    /' "$out"
		if [ "$fail" != 0 ]; then
			# A failure and the "#" lines behind it.
			awk '/^not ok |^Bail out!/ { on = 1 } /^ok |^1\.\./ { on = 0 } on { print "    " $0 }' "$out"
			[ -z "$problem" ] || echo "    ${program#./} $problem"
			tail -n 15 "$err" | sed 's/^/    stderr: /'
		fi
		grep -a '# SKIP' "$out" | sed 's/^/    /'
	} >"$scratch/$slot.report"
}

# collect: wait for one of those that run, print its report, and free its slot.
slots=()
collect()
{
	local slot pass fail skip
	wait -n
	for slot in "${!slots[@]}"; do
		kill -0 "${slots[slot]}" 2>/dev/null && continue
		unset "slots[$slot]"
		read -r pass fail skip <"$scratch/$slot.report" || pass=0 fail=1 skip=0
		passed=$((passed + pass)) failed=$((failed + fail)) skipped=$((skipped + skip))
		tail -n +2 "$scratch/$slot.report"
	done
}

for program; do
	while [ "${#slots[@]}" -ge "$jobs" ]; do collect; done
	for ((slot = 0; slot < jobs; slot++)); do
		[ -z "${slots[slot]:-}" ] || continue
		one "$slot" "$program" &
		slots[slot]=$!
		break
	done
done
while [ "${#slots[@]}" -gt 0 ]; do collect; done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ $((passed + skipped)) != 0 ]
