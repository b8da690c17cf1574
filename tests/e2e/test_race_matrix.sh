#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_race_matrix.sh - every call that names a path, while what stands there is exchanged.
#
# tests/escapes/matrix.c has what is done, matrix.py what may not come of it.  AW_MATRIX_MS is the
# time of one run; `make escapes-long` takes longer.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have /usr/bin/python3 || skip_all 'no python3'
{ mkdir -p "$tests/escapes" && [ -w "$tests/escapes" ]; } 2>/dev/null || tests=$tmp/build
export AW_TEST_BUILD=$tests
if ! ok 'the matrix compiles' "$root/tests/escapes/run" --compile-matrix; then done_testing; fi

users=$(id -un)
if is_root && id awtest >/dev/null 2>&1 && runuser -u awtest -- test -x "$AGENTWATCH"; then users+=,awtest; fi
# matrix OPTION...: run it and number what it prints.
matrix()
{
	relay '' < <(/usr/bin/python3 -B "$root/tests/escapes/matrix.py" --program "$tests/escapes/matrix" \
		--agentwatch "$AGENTWATCH" --users "$users" "$@" 2>&1)
}

matrix --ms "${AW_MATRIX_MS:-2000}" --seed "${AW_MATRIX_SEED:-$RANDOM}"
# windows so narrow that one call among all is tried too seldom
if [ -n "${AW_MATRIX_FOCUS_MS:-}" ]; then
	for seed in 1 2 3; do
		for focus in open:folder:link-to-file creat:folder:link-to-file openat:file:link-to-folder \
			rename:file:folder renameat2:file:folder bind:folder:link-to-folder truncate:file:link-to-file; do
			matrix --ms "$AW_MATRIX_FOCUS_MS" --seed $seed --focus $focus
		done
	done
fi
done_testing
