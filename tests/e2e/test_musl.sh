#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_musl.sh - the one shim also works in programs of another C library.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have musl-gcc || skip_all 'no musl-gcc'
cd "$root" || exit 1
compile musl-dynamic musl-gcc -O1 tests/e2e/musl.c
dynamic=$compiled
compile musl-static musl-gcc -O1 -static tests/e2e/musl.c
static=$compiled
[ -x "$dynamic" ] && [ -x "$static" ] || { fail 'the program compiles' "$(cat "$tmp/compile.log")"; done_testing; }

mkdir "$tmp/d"
bare=$("$dynamic" "$tmp/d" 2>&1)
like 'open in a child ok' 'the program works by itself' "$bare"
is "$bare" 'with the library preloaded, outside a session' \
	"$(LD_PRELOAD=$(dirname "$AGENTWATCH")/libagentwatch.so "$dynamic" "$tmp/d" 2>&1)"

# seen FILTER: the log has such a line.
seen() { jq -es --arg d "$tmp/d" "any(.[]; $1)" "$log"; }
for engine in $(engines); do
	is "$bare" "$engine: the same under watch" "$(watched --engine "$engine" -- "$dynamic" "$tmp/d" 2>&1)"
	for want in '.action == "create" and .path == $d + "/made"' '.action == "rename" and .path2 == $d + "/folder/moved"' \
		'.action == "create" and .path == $d + "/folder"' '.action == "delete" and .path == $d + "/nothing"' \
		'.action == "connect" and .address == "/no/such/socket"' '.event == "exec" and (.argv // [])[0] == "true"' \
		'.action == "read" and .path == "/etc/passwd"'; do
		ok "$engine: logged: $want" seen "$want"
	done
	if [ "$engine" = hybrid ]; then
		ok "$engine: the shim said hello" seen '.event == "hello" and (.exe | endswith("musl-dynamic"))'
		ok "$engine: and opens went through the gate" seen '.source == "shim" and .path == $d + "/made"'
	fi
	[ "$engine" != preload ] || continue
	is "$bare" "$engine: a static one too" "$(watched --engine "$engine" -- "$static" "$tmp/d" 2>&1)"
	ok "$engine: by the kernel layer" seen '.source == "kernel" and .path == $d + "/made"'
done
done_testing
