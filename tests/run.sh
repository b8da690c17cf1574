#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [-t SECONDS] [-u] [-v] PROGRAM...: run TAP programs, binaries and scripts alike.
#
# Prints one line a program and the failures with their diagnostics, and ends with
# `N passed, N failed, N skipped`; status 1 when anything failed.  A program fails as a whole
# when it dies, prints no test, or runs other than its plan says.  With -u all of them run as
# a throwaway ordinary user (when root).
limit=${AW_TEST_TIMEOUT:-300} user= verbose=
while getopts t:uv option; do
	case $option in t) limit=$OPTARG ;; u) user=1 ;; v) verbose=1 ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
cd "$(dirname "$0")/.." || exit 1

scratch=$(mktemp -d "${TMPDIR:-/tmp}/aw-run.XXXXXX") || exit 1
account= passed=0 failed=0 skipped=0

clean()
{
	if [ -n "$account" ]; then
		local pids
		pids=$(ps -o pid= -u "$account")
		# shellcheck disable=SC2086
		[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
		userdel "$account" 2>/dev/null
	fi
	rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

as=()
if [ -n "$user" ] && [ "$(id -u)" = 0 ]; then
	account=aw-test-$$
	useradd --no-create-home --home-dir "$scratch/home" --shell /bin/bash "$account" || exit 1
	mkdir "$scratch/home" "$scratch/tmp"
	chmod 755 "$scratch"
	chown "$account:" "$scratch/home" "$scratch/tmp"
	as=(setpriv "--reuid=$account" "--regid=$(id -g "$account")" --init-groups --
		env -u XDG_RUNTIME_DIR "HOME=$scratch/home" "USER=$account" "LOGNAME=$account"
		"TMPDIR=$scratch/tmp")
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

for program; do
	case $program in /*) ;; *) program=./$program ;; esac
	start=$SECONDS
	command=("$program")
	case $program in *.sh) command=(bash "$program") ;; *.py) command=(python3 "$program") ;; esac
	timeout -k 10 "$limit" "${as[@]}" "${command[@]}" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	read -r pass fail skip problem < <(count $status "$scratch/out")
	[ -z "$problem" ] || fail=$((fail + 1))
	passed=$((passed + pass)) failed=$((failed + fail)) skipped=$((skipped + skip))
	word=ok
	[ "$fail" = 0 ] || word=FAILED
	printf '%-6s %s: %d passed, %d failed, %d skipped (%d s)\n' \
		$word "${program#./}" "$pass" "$fail" "$skip" $((SECONDS - start))
	[ -z "$verbose" ] || sed 's/^/    /' "$scratch/out"
	if [ "$fail" != 0 ]; then
		# A failure and the "#" lines behind it.
		awk '/^not ok |^Bail out!/ { on = 1 } /^ok |^1\.\./ { on = 0 } on { print "    " $0 }' "$scratch/out"
		[ -z "$problem" ] || echo "    ${program#./} $problem"
		tail -n 15 "$scratch/err" | sed 's/^/    stderr: /'
	fi
	grep -a '# SKIP' "$scratch/out" | sed 's/^/    /'
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ $((passed + skipped)) != 0 ]
