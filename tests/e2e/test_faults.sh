#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_faults.sh - a selection of what can go wrong; AW_FULL=1, or `make faults`: all of it.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
for program in work killpoint; do
	compile "faults/$program" gcc -std=gnu11 -D_GNU_SOURCE "-I$root" -O2 "$root/tests/faults/$program.c" ||
		{ fail "$program compiles" "$(cat "$tmp/compile.log")"; done_testing; }
	mkdir -p "$tmp/built/faults"
	cp "$compiled" "$tmp/built/faults/"
done
compile "faults/nomem" gcc -std=gnu11 -D_GNU_SOURCE -O2 -shared -fPIC "$root/tests/faults/nomem.c" ||
	{ fail "nomem compiles" "$(cat "$tmp/compile.log")"; done_testing; }
cp "$compiled" "$tmp/built/faults/nomem.so"
# what has gone wrong before, and one of each kind
some='^(service: SIGKILL|service: every|service: stopped|front: SIGKILL|front: SIGTERM|front and'
some+='|log: /dev/full|log: deleted|runtime|policy: broken|memory: .*service|descriptors: (few|none (left|free))'
some+='|descriptors: .*program|clock: put|ring|the command|bwrap|start: (files|a stack|1[68] desc))'
wanted=(--quick --only "$some" --points 701)
[ -z "${AW_FULL:-}" ] || wanted=(--pairs 6 --points 17)
relay '' < <(AW_TEST_BUILD=$tmp/built python3 "$root/tests/faults/faults.py" "${wanted[@]}" |
	sed -E 's/^((not )?ok) [0-9]+ - /\1 - /; /^1\.\./d')
done_testing
