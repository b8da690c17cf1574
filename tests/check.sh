#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh PROGRAMS PROGRAMS-AGAIN: run tests, then some again as an ordinary user when root.
# check.sh --unit BUILD: build and run the unit tests with every compiler and sanitizer.
#
# Ends in one line with the totals of all runs.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0 skipped=0
jobs=${AW_TEST_JOBS:-$(nproc)} # scripts at a time
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT

# add SENTENCE COMMAND...: run tests and add their totals.
add()
{
	local what=$1 rc p f s
	shift
	echo "-- $what"
	"$@" 2>&1 | tee "$output" | grep -vE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'
	rc=${PIPESTATUS[0]}
	read -r p f s < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$output" | tail -n 1)
	if [ "$rc" != 0 ] && [ "${f:-0}" = 0 ]; then f=$((${f:-0} + 1)); fi
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
}

if [ "$1" = --unit ]; then
	for compiler in gcc clang; do
		add "$compiler, address and undefined" make --no-print-directory -j"$(nproc)" unit \
			BUILD="$2/asan-$compiler" CC=$compiler SAN=address,undefined EXTRA=-Werror
	done
	add 'gcc, threads' make --no-print-directory -j"$(nproc)" unit-threads \
		BUILD="$2/tsan" SAN=thread EXTRA=-Werror
else
	# shellcheck disable=SC2086
	add "tests as $(id -un)" tests/run.sh -j "$jobs" $1
	# shellcheck disable=SC2086
	[ "$(id -u)" != 0 ] || AW_QUICK=1 add 'again as an ordinary user, what takes long in short' tests/run.sh -u -j "$jobs" $2
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
