#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cycles.sh - tests/cycles.py finds cycles of calls between files, and holds their size.
. "$(dirname "$0")/../tap.sh"
command -v "${CC:=cc}" >/dev/null && command -v nm >/dev/null || {
	skip 'cycles of calls' 'no compiler or no nm'
	done_testing
	exit
}
mkdir -p "$tmp/src/low"
cd "$tmp/src" || exit 1

# file NAME CALLED...: an object file whose function aw_NAME calls these.
file()
{
	local name=$1 called
	shift
	{
		for called; do echo "void aw_$called(void);"; done
		echo "void aw_${name##*/}(void) {"
		for called; do echo "aw_$called();"; done
		echo "}"
	} >"$name.c"
	"$CC" -c -o "$name.o" "$name.c"
}
cycles() { python3 -B "$root/tests/cycles.py" "$@" ./*.o ./*/*.o 2>&1; }

file main a printf
file a b
file b c
file low/c d
file d
is '' 'calls in one direction are no cycle' "$(cycles)"

file d b
is '3 files: b.c d.c low/c.c' 'three files that call each other are printed, which is allowed' "$(cycles)"
is "3 files: b.c d.c low/c.c
  b.c -> low/c.c: aw_c
  d.c -> b.c: aw_b
  low/c.c -> d.c: aw_d" '--edges shows by which functions' "$(cycles --edges)"

file d a
is "4 files: a.c b.c d.c low/c.c" 'four files are printed' "$(cycles | head -n 1)"
like 'check-cycles: cycles of more than 3 files: 4, known are none; move the function' 'which is an error' "$(cycles)"
ok 'unless it is known' cycles --known 4
like 'have become smaller: 4, known are 5; lower the list' 'one that has become smaller has to be written down' "$(cycles --known 5)"
like 'have become smaller: 4, known are 6, 4; lower' 'so has one that is gone' "$(cycles --known 6,4)"
not_ok() { ! "$@"; }
ok 'either fails' not_ok cycles --known 5

# a table of functions is as good as a call
printf 'void aw_main(void);\nvoid (*aw_table[])(void) = {aw_main};\n' >table.c && "$CC" -c -o table.o table.c
printf 'extern void (*aw_table[])(void);\nvoid aw_d(void) { aw_table[0](); }\n' >d.c && "$CC" -c -o d.o d.c
like '^6 files: .*more than 3 files: 6, known are 4' 'a call by a table counts' "$(cycles --known 4 | xargs)"

if [ -d "${tests%/tests}/supervisor" ]; then
	ok "agentwatch's own cycles are those that are known" \
		make --no-print-directory -C "$root" check-cycles BUILD="${tests%/tests}" MAKEFLAGS=
else
	skip "agentwatch's own cycles are those that are known" 'no object files here'
fi
done_testing
