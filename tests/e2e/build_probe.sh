# SPDX-License-Identifier: Apache-2.0
# build_probe.sh - the probe in each build that this machine has a toolchain for.
# shellcheck shell=bash
here=$root/tests/e2e
probe_sources=("$here/probe.c" "$here/probe_raw.c" "$here/probe_libc.c" "$here/probe.h")

# build_probe VARIANT: sets $compiled; fails when it cannot be built here.
build_probe()
{
	local flags=(-O1 -Wno-deprecated-declarations)
	case $1 in
	glibc) compile "probe-$1" "${CC:-cc}" "${flags[@]}" "${probe_sources[@]:0:3}" ;;
	glibc-static) compile "probe-$1" "${CC:-cc}" -static -DPROBE_STATIC "${flags[@]}" "${probe_sources[@]:0:3}" ;;
	musl) have musl-gcc && compile "probe-$1" musl-gcc "${flags[@]}" "${probe_sources[@]:0:3}" ;;
	musl-static) have musl-gcc && compile "probe-$1" musl-gcc -static -DPROBE_STATIC "${flags[@]}" "${probe_sources[@]:0:3}" ;;
	i386-static) have i686-linux-gnu-gcc && compile "probe-$1" i686-linux-gnu-gcc -static -DPROBE_STATIC "${flags[@]}" "${probe_sources[@]:0:3}" ;;
	esac
}
