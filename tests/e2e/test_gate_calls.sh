#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_gate_calls.sh - what an ordinary call refuses, the same call from the gate page refuses, too.
#
# tests/escapes/gate.c makes the calls, gate.py what is denied. AW_GATE_ALL: every call in every way, by every runner.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have /usr/bin/python3 || skip_all 'no python3'
compile gate_calls "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -I"$root" -O1 -static "$root/tests/escapes/gate.c" "$root/policy/calls.c" ||
	{ fail 'gate.c compiles' "$(cat "$tmp/compile.log")"; done_testing; }
users=$(id -un)
if is_root && id awtest >/dev/null 2>&1 && runuser -u awtest -- test -x "$AGENTWATCH"; then users+=,awtest; fi
export AGENTWATCH
relay '' < <(/usr/bin/python3 -u "$root/tests/escapes/gate.py" ${AW_GATE_ALL:+--long} --users "$users" "$compiled" 2>&1)
done_testing
