# SPDX-License-Identifier: Apache-2.0
# network.sh - run a script again where loopback is all the network there is.
# shellcheck shell=bash

# alone "$0": does not return when the script has been run in a network namespace of its own.
alone()
{
	[ -z "${AW_ALONE:-}" ] || return 0
	local flags=-n
	is_root || flags=-rn
	if ! have ip || ! unshare $flags true 2>/dev/null; then
		note 'no network namespace here: the tests use the loopback of the machine'
		return 0
	fi
	rm -rf "$tmp"
	trap - EXIT
	AW_ALONE=1 exec unshare $flags bash -c 'ip link set lo up; exec bash "$0"' "$1"
}

# alone_with_mounts "$0": the same with mounts of its own, without which it is skipped; loopback is not up yet.
alone_with_mounts()
{
	[ -z "${AW_ALONE:-}" ] || return 0
	local flags=-mn
	is_root || flags=-rmn
	have ip && unshare $flags true 2>/dev/null || skip_all 'no namespaces of its own here'
	rm -rf "$tmp"
	trap - EXIT
	AW_ALONE=1 exec unshare $flags bash "$1"
}

# The folder of installed agents that holds bin NAME; installs WHAT into the cache when it must.
agents_dir()
{
	local dir=${AW_AGENTS_DIR:-$root/build/agents}
	[ -x "$dir/node_modules/.bin/$1" ] && { echo "$dir"; return 0; }
	return 1
}
