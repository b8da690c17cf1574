#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_same.sh - real programs and their own tests: the same results bare, in audit, and in enforce with a policy that allows all.
#
# AW_FULL=1: the longer ones too.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
. "$root/tests/e2e/as_bare.sh"
need_agentwatch
alone "$0" # servers here listen where nobody else does
export HOME=$tmp/home GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
mkdir -p "$HOME"

cat >"$tmp/all.yaml" <<-END
	version: 1
	mode: enforce
	protections: off
	filesystem: {default: allow}
	network: {default: allow, listen: ["*", "unix:**"]}
END
settings=("audit=--mode audit")
for runner in exec landlock; do
	"$AGENTWATCH" run --quiet --log none --runner $runner --on-missing-runner fail --policy "$tmp/all.yaml" -- true >/dev/null 2>&1 ||
		{ skip "enforce, $runner" 'it does not work here'; continue; }
	settings+=("enforce, $runner=--runner $runner --policy $tmp/all.yaml")
done

# compiled NAME SOURCE GCC-OPTION...: a C program in $tmp.
compiled() { printf '%s' "$2" >"$tmp/$1.c" && gcc -g -o "$tmp/$1" "$tmp/$1.c" "${@:3}" 2>"$tmp/compile.log"; }
export tmp

# shellcheck disable=SC2016
memory='#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
static void *run(void *p) { FILE *f = fopen("/etc/passwd", "r"); char line[8]; fgets(line, 8, f); fclose(f); *(int *)p = line[0]; return p; }
int main(int argc, char **argv) {
	int *p = malloc(sizeof(int)); pthread_t t;
	pthread_create(&t, NULL, run, p); pthread_join(t, NULL);
	printf("%d %d\n", *p, system("echo child"));
	if (argc > 1) { free(p); return *p & 0; }
	free(p); return 0; }
'
for with in address undefined thread leak; do
	if compiled "with_$with" "$memory" -fsanitize=$with -pthread; then
		as_bare "gcc's sanitizer: $with" "\$tmp/with_$with"
		[ $with != address ] || as_bare 'its report' '$tmp/with_address x 2>&1 | sed -n "s/^SUMMARY.*heap/heap/p; s/^==[0-9]*==ERROR//p" | sed "s/0x[0-9a-f]*/X/g"; echo ${PIPESTATUS[0]}'
	else skip "gcc's sanitizer: $with" "$(tail -n 1 "$tmp/compile.log")"; fi
done

# with the built-in rules: a debugger needs the memory of what it debugs
strict=("${settings[@]}")
for runner in exec landlock bwrap; do
	"$AGENTWATCH" run --quiet --log none --mode enforce --runner $runner --on-missing-runner fail -- true >/dev/null 2>&1 &&
		strict+=("built-in rules, $runner=--mode enforce --runner $runner")
done
with_rules()
{
	local settings=("${strict[@]}")
	as_bare "$@"
}
debugged='#include <stdio.h>
static __attribute__((noinline)) int twice(int x) { return 2 * x; }
int main(void) { printf("%d\n", twice(21)); return 3; }
'
if have gdb && compiled debugged "$debugged"; then
	with_rules 'gdb: a breakpoint, a variable that is changed, the end' '
		gdb -q -batch -nx -ex "set disable-randomization off" -ex "break twice" -ex run -ex "bt 1" -ex "set var x=50" -ex continue "$tmp/debugged" 2>/dev/null |
			sed "s/process [0-9]*/process N/; s/0x[0-9a-f]*/X/g"'
else skip gdb 'no gdb'; fi
done_testing
