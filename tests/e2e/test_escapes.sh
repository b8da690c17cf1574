#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_escapes.sh - attempts to get round a denial, and the same done where it is allowed.
#
# tests/escapes has the attempts; what is expected of each stands in tests/escapes/expected.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have unshare || skip_all 'no unshare'
escapes=$root/tests/escapes
# another user's build folder is not ours to compile in
{ mkdir -p "$tests/escapes" && [ -w "$tests/escapes" ]; } 2>/dev/null || tests=$tmp/build
export AW_TEST_BUILD=$tests

if ! ok 'the attempts compile' "$escapes/run" --compile || [ ! -x "$tests/escapes/glibc" ]; then done_testing; fi
spaces=(-npm --fork --mount-proc)
is_root || spaces+=(-c --keep-caps)
unshare "${spaces[@]}" true 2>/dev/null || skip_all 'no namespaces here, and some attempts hit whatever they can'

users=$(id -un) builds=glibc tries=10000
if is_root && id awtest >/dev/null 2>&1 && runuser -u awtest -- test -x "$AGENTWATCH"; then users+=,awtest; fi
if [ -z "${AW_QUICK:-}" ]; then
	builds+=,static
	[ ! -x "$tests/escapes/musl" ] || builds+=,musl
	[ -z "${AW_FULL:-}" ] || tries=100000
	engines=hybrid,kernel,preload
else
	engines=hybrid tries=2000
fi
relay '' < <("$escapes/run" --same --users "$users" --builds "$builds" --engines "$engines" 2>&1)
relay '' < <("$escapes/run" --loosen --users "$users" --engines "$engines" 2>&1)
relay '' < <("$escapes/run" --users "$users" --builds "$builds" --engines "$engines" --tries "$tries" 2>&1)
done_testing
