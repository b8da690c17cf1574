#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_inside.sh - what belongs to a session controls no session; what only looks may.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
export HOME=$tmp/home
mkdir -m 700 "$HOME" "$tmp/ws" "$tmp/ws/run" "$tmp/ws/state"
cd "$tmp/ws" || exit 1
printf 'version: 1\nfilesystem: {default: read-only, write: ["~/x", "$WORKSPACE"]}\n' >.agentwatch.yaml
aw=$AGENTWATCH

"$aw" run --quiet --session other -- sleep 600 &
other=$!
at_end "kill -9 $other 2>/dev/null"
for _ in $(seq 100); do "$aw" ps | grep -q other && break; sleep 0.05; done

# raw REQUEST: say it to the other session's socket without our program.
cat >raw.py <<'END'
import json, os, socket, sys
path = json.load(open(os.path.expanduser(sys.argv[2])))["control"]
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(path)
except OSError as e:
    sys.exit(f"cannot connect: {e}")
s.sendall(json.dumps({"request": sys.argv[1]}).encode() + b"\n")
print(json.loads(s.recv(4096))["ok"])
END
json=$(find "$tmp/state" -name session.json -path '*other*')

# tries RUN...: each command as it is called by RUN, which is a prefix.
tries() {
	local how=$1 command out
	shift
	for command in 'trust .' 'untrust .' 'stop other' 'policy reload other' 'approve --all --once' 'approve --watch'; do
		# shellcheck disable=SC2086
		out=$("$@" "$aw" $command </dev/null 2>&1; echo "status $?")
		is "1 agentwatch: $(sed 's/ [.-].*//; s/ other//' <<<"$command") was called from inside of a session" "$how: $command is refused" \
			"$(sed -n 's/^status //p' <<<"$out") $(grep -o '^agentwatch: .* was called from inside of a session' <<<"$out")"
	done
}
# Nobody is above it but the first process, or who adopts it.
cat >away.sh <<'END'
rm -f status
(setsid sh -c '"$@" >out 2>&1; echo $? >status.new; mv status.new status' away "$@" &)
for _ in $(seq 100); do [ -e status ] && break; sleep 0.05; done
cat out
exit "$(cat status)"
END

set_ups=('hybrid exec' 'kernel bwrap' 'preload bwrap')
[ -z "${AW_FULL:-}" ] || set_ups+=('kernel exec' 'hybrid landlock' 'hybrid bwrap' 'preload exec')
for mode in audit enforce; do
	for what in "${set_ups[@]}"; do
		read -r engine runner <<<"$what"
		run=("$aw" run --quiet --log none --mode $mode --engine "$engine" --runner "$runner" --)
		"${run[@]}" true 2>/dev/null || { skip "$mode, $what" 'not to be had here'; continue; }
		tries "$mode, $what" "${run[@]}"
	done
	run=("$aw" run --quiet --log none --mode $mode --runner exec --)
	tries "$mode, an orphan in a session of its own" "${run[@]}" sh away.sh
	tries "$mode, without a word in the environment" "${run[@]}" env -i "HOME=$HOME" "XDG_STATE_HOME=$XDG_STATE_HOME"
	"${run[@]}" env "XDG_RUNTIME_DIR=$tmp/ws/run" "XDG_STATE_HOME=$tmp/ws/state" "$aw" run --quiet --log none -- true 2>/dev/null && again=1 || again=
	[ -z "$again" ] && skip "$mode, in a run inside of it" 'it does not start here' ||
		tries "$mode, in a run inside of it" "${run[@]}" env "XDG_RUNTIME_DIR=$tmp/ws/run" "XDG_STATE_HOME=$tmp/ws/state" "$aw" run --quiet --log none -- env "XDG_STATE_HOME=$XDG_STATE_HOME"
	if have tmux; then
		cat >tmux.sh <<-'END'
			rm -f status
			tmux -S ./tmux.sock -f /dev/null new-session -d "$* >out 2>&1; echo \$? >status.new; mv status.new status" || exit 9
			for _ in $(seq 100); do [ -e status ] && break; sleep 0.05; done
			cat out
			exit "$(cat status)"
		END
		tries "$mode, in a tmux that was started there" "${run[@]}" sh tmux.sh
		is 0 "$mode: one that was started outside is outside" "$(sh tmux.sh "$aw" untrust /nowhere >/dev/null; sh tmux.sh "$aw" trust . >/dev/null; echo $?)"
		"$aw" untrust . >/dev/null
	else
		skip "$mode, tmux" 'it is not here'
	fi
	for request in stop reload; do # audit: by its own word; enforce: nobody gets there
		out=$("${run[@]}" /usr/bin/python3 raw.py $request "$json" 2>&1)
		[ $mode = audit ] && want=False || want='cannot connect: [Errno 13] Permission denied'
		is "$want" "$mode: the other's socket takes no $request from inside" "$out"
	done
	for command in 'ps' 'log other' 'policy check' 'policy presets' 'trust --list'; do
		# shellcheck disable=SC2086
		ok "$mode: $command is let go on" "${run[@]}" "$aw" $command
	done
	is 'not trusted' "$mode: nothing is trusted" "$("$aw" trust --list | grep -q . && echo trusted || echo 'not trusted')"
done
"$aw" run --quiet --log "$tmp/log" --runner exec -- /usr/bin/python3 raw.py stop "$json" >/dev/null 2>&1
ok 'the other session is still there' sh -c "'$aw' ps | grep -q other"
ok 'and its log says who asked' grep -q "inside of a session, asked for 'stop' and was refused" "$(find "$tmp/state" -path '*other*' -name '*.jsonl' | head -1)" /dev/null
ok 'from outside its policy is read again' "$aw" policy reload other
is True 'by its socket, too' "$(/usr/bin/python3 raw.py reload "$json")"
ok 'from outside the workspace is trusted' "$aw" trust .
ok 'and not any more' "$aw" untrust .
ok 'from outside the other session is ended' "$aw" stop other
# A session within a session, with folders of its own.
mkdir -m 700 "$tmp/ws/inner" "$tmp/ws/inner/run"
for runner in exec landlock bwrap; do
	"$aw" run --quiet --mode enforce --runner $runner --log none -- true 2>/dev/null || { skip "behind $runner" 'it does not work here'; continue; }
	is $'inside\n7' "$runner: agentwatch runs within a session in enforce" "$("$aw" run --quiet --mode enforce --runner $runner --log "$tmp/log" -- \
		env XDG_STATE_HOME="$tmp/ws/inner" XDG_RUNTIME_DIR="$tmp/ws/inner/run" "$aw" run --quiet -- sh -c 'echo inside; exit 7' 2>&1 | xargs; echo ${PIPESTATUS[0]})"
done
done_testing
