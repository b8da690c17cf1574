#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_escapes.sh - attempts to get round a denial, and the same done where it is allowed.
#
# tests/escapes has the attempts; what is expected of each stands in tests/escapes/expected.
# AW_QUICK: one engine and build; AW_FULL: all of them, and 100,000 tries for each race.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have unshare || skip_all 'no unshare'
have /usr/bin/python3 || skip_all 'no python3'
escapes=$root/tests/escapes
# another user's build folder is not ours to compile in
{ mkdir -p "$tests/escapes" && [ -w "$tests/escapes" ]; } 2>/dev/null || tests=$tmp/build
export AW_TEST_BUILD=$tests

if ! ok 'the attempts compile' "$escapes/run" --compile || [ ! -x "$tests/escapes/glibc" ]; then done_testing; fi
spaces=(-npm --fork --mount-proc)
is_root || spaces+=(-c --keep-caps)
unshare "${spaces[@]}" true 2>/dev/null || skip_all 'no namespaces here, and some attempts hit whatever they can'

users=$(id -un)
if is_root && id awtest >/dev/null 2>&1 && runuser -u awtest -- test -x "$AGENTWATCH"; then users+=,awtest; fi
static=static
[ ! -x "$tests/escapes/musl" ] || static+=,musl

# attempts OPTION...: run them and number what they print.
attempts() { relay '' < <("$escapes/run" --users "$users" "$@" 2>&1); }

sandboxes=landlock,bwrap
if [ -n "${AW_QUICK:-}" ]; then
	attempts --same --engines hybrid --runners bwrap
	attempts --loosen --engines hybrid --runners bwrap
	attempts --engines hybrid --runners $sandboxes
elif [ -z "${AW_FULL:-}" ]; then
	# the ordinary user's are run by the ordinary user
	users=$(id -un)
	attempts --engines hybrid
	attempts --engines hybrid --runners bwrap --builds "$static"
	attempts --engines kernel --runners $sandboxes
	attempts --engines preload --runners exec
	attempts --same --engines hybrid --runners $sandboxes
	attempts --loosen --engines hybrid --runners bwrap
	# a race that is not held ends early: this takes its time behind a sandbox alone
	attempts --engines hybrid --runners bwrap --only '^race_' --tries 10000
else
	attempts --same --builds "glibc,$static"
	attempts --loosen
	attempts --builds "glibc,$static" --tries 100000
fi
done_testing
