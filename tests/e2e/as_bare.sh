# SPDX-License-Identifier: Apache-2.0
# as_bare.sh - a script's output, files and status, compared with those of a run without agentwatch.
# shellcheck shell=bash disable=SC2154

# in_folder NAME PREFIX... COMMAND: run the shell command in a fresh folder of a fixed name.
in_folder()
{
	local name=$1 rc
	shift
	rm -rf "$tmp/here"
	mkdir "$tmp/here"
	(cd "$tmp/here" && timeout "${AW_TIME:-300}" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null)
	rc=$?
	echo "status $rc" >>"$tmp/$name.out"
	# Names, kinds, modes, links and contents; not times.
	(cd "$tmp/here" && find . -printf '%P %y %m %n %l\n' | sort
		find . -type f ! -path '*/.git/index' ! -path '*/__pycache__/*' ! -name '*.sock' ! -name 'timing*' -print0 | sort -z | xargs -0r cksum) >"$tmp/$name.tree"
}

# compare SENTENCE: what the bare run and the watched one left.
compare()
{
	local what
	for what in out err tree; do
		if ! cmp -s "$tmp/bare.$what" "$tmp/watched.$what"; then
			same "$tmp/bare.$what" "$tmp/watched.$what" "$1"
			[ "$what" = err ] || [ ! -s "$tmp/watched.err" ] || note "$(tail -n 5 "$tmp/watched.err")"
			return
		fi
	done
	pass "$1"
}

# as_bare SENTENCE SCRIPT: in every one of $settings, a name and the options of a run.
as_bare()
{
	local setting name
	in_folder bare bash -c "$2"
	[ -z "${AW_VERBOSE:-}" ] || note "$(cat "$tmp/bare.out" "$tmp/bare.err")"
	[ "$(wc -l <"$tmp/bare.out")" -gt 1 ] || fail "bare, it has something to say: $1" "$(cat "$tmp/bare.err")"
	for setting in "${settings[@]}"; do
		name=${setting%%=*}
		# shellcheck disable=SC2086
		in_folder watched "$AGENTWATCH" run --quiet --log none ${setting#*=} -- bash -c "$2"
		compare "$name: $1"
	done
}
