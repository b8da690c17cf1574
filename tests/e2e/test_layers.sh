#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_layers.sh - system, global, agent, workspace and --policy together: what holds, what is
# printed, which word wins, and that all of it can be read again.

# The system policy stands in a mount namespace of our own, whose /etc can be written to.
if [ -z "${AW_ETC:-}" ]; then
	make_etc='mount -t tmpfs none /mnt && mkdir -p /mnt/u/agentwatch /mnt/w && chmod 755 /mnt/u &&
		mount -t overlay overlay -o "lowerdir=/etc,upperdir=/mnt/u,workdir=/mnt/w$0" /etc && exec "$@"'
	enter=(unshare -m bash -c "$make_etc" '')
	[ "$(id -u)" = 0 ] || enter=(unshare -rm bash -c "$make_etc" ,userxattr unshare -U --map-user="$(id -u)")
	if "${enter[@]}" true 2>/dev/null; then AW_ETC=1 exec "${enter[@]}" bash "$0"; fi
	AW_ETC=none
fi
. "$(dirname "$0")/../tap.sh"
need_agentwatch
unset AGENTWATCH_RUNNER AW_TEST_RUNNER

export HOME=$tmp/home
ws=$tmp/ws global=$XDG_CONFIG_HOME/agentwatch system=/etc/agentwatch/policy.yaml
mkdir -p "$HOME" "$ws/d" "$tmp/bin" "$tmp/data" "$global/agents"
for name in system global entry agent workspace top exec landlock other; do echo "$name" >"$tmp/data/$name"; done
ln -s "$(command -v bash)" "$tmp/bin/helper"
cd "$ws" || exit 1

# --- four layers and one on top
have_system=
if [ "$AW_ETC" = 1 ]; then
	have_system=1
	cat >$system <<END
version: 1
filesystem: {deny: ["$tmp/data/system"]}
limits: {processes: 400}
END
fi
cat >"$global/policy.yaml" <<END
version: 1
mode: enforce
runner: exec
filesystem: {default: read-only, write: ["\$WORKSPACE", "\$TMPDIR"], deny: ["$tmp/data/global", "!$tmp/data/system"]}
environment: {set: {PLACE: "\$HOME/\\\\\$here"}}
restricted_runners:
  exec: {restrictions: {deny_folders: ["$tmp/data/exec"]}}
  landlock: {restrictions: {filesystem: {deny: ["$tmp/data/landlock"]}}}
agents:
  helper: {filesystem: {deny: ["$tmp/data/entry", "$tmp/data/agent"]}}
  other: {merge: replace, mode: enforce, filesystem: {deny: ["$tmp/data/other"]}}
END
cat >"$global/agents/helper.yaml" <<END
version: 1
filesystem: {deny: ["!$tmp/data/agent"]}
END
cat >"$ws/.agentwatch.yaml" <<END
version: 1
runner: landlock
filesystem: {deny: ["$tmp/data/workspace", "!$tmp/data/global"]}
END
cat >"$tmp/top.yaml" <<END
version: 1
filesystem: {deny: ["$tmp/data/top"]}
END

# readable OPTION... -- SHELL: the data that the shell can read.
readable()
{
	"$AGENTWATCH" run --quiet --log none "$@" -c \
		'for f in "$0"/*; do read -r x <"$f" && echo "$x"; done 2>/dev/null' "$tmp/data" 2>/dev/null | sort | xargs
}
is 'agent landlock other' 'every layer denies its own, and the agent file takes out' \
	"$(readable --policy "$tmp/top.yaml" -- "$tmp/bin/helper" | sed 's/ system//')"
if [ -n "$have_system" ]; then
	is 'agent landlock other top' "the system's deny is held against the user's '!'" "$(readable -- "$tmp/bin/helper")"
else
	skip 'the system policy' 'no mount namespace with an /etc of our own can be made here'
fi
is 'agent entry landlock other top' 'without the agent its layers do not count' "$(readable -- bash | sed 's/ system//')"
is 'agent entry exec global landlock top' 'an agent that replaces the global policy; the workspace stands above' \
	"$(readable --agent other -- bash | sed 's/ system//')"
like '^(agent entry exec other top|)$' 'behind another runner its rules count instead' \
	"$(readable --runner landlock -- bash | sed 's/ system//')"

# --- policy show
show() { "$AGENTWATCH" policy show "$@" 2>/dev/null; }
plain() { sed '/^ *#/d; s/  # .*//'; }
four=(--agent helper --policy "$tmp/top.yaml")
show "${four[@]}" >"$tmp/first.yaml"
origin() { grep -F "\"$1\"" "$tmp/first.yaml" | sed 's/.*  # //'; }
is "$global/policy.yaml:4 (global)" 'an entry has its file, line and layer' "$(origin "$tmp/data/global")"
is "$global/policy.yaml:10 (agent)" 'of an agent' "$(origin "$tmp/data/entry")"
is "$global/agents/helper.yaml:2 (agent)" "of an agent's file" "$(origin "!$tmp/data/agent")"
is "$ws/.agentwatch.yaml:3 (workspace)" 'of the workspace' "$(origin "$tmp/data/workspace")"
is "$global/policy.yaml:7 (global)" 'of rules for the runner' "$(origin "$tmp/data/exec")"
[ -z "$have_system" ] || is "$system:2 (system)" 'of the system' "$(origin "$tmp/data/system")"
like '# in any case, whatever the rules say: .*held by the supervisor.*#   devices .*#   terminals .*#   settings ' \
	'what is refused without a rule is listed, and who holds it' "$(tr '\n' ' ' <"$tmp/first.yaml")"
ok 'it is a policy without mistakes' "$AGENTWATCH" policy check "$tmp/first.yaml"
plain <"$tmp/first.yaml" >"$tmp/first"
show --policy "$tmp/first.yaml" | plain >"$tmp/second"
same "$tmp/first" "$tmp/second" 'given back, it is printed the same'
show --json "${four[@]}" >"$tmp/both.json"
jq .policy "$tmp/both.json" >"$tmp/policy.json"
show --policy "$tmp/policy.json" | plain >"$tmp/second"
same "$tmp/first" "$tmp/second" 'so it is as JSON'
is true 'whose origins have the same shape' "$(jq "(.policy | [paths(scalars)]) as \$p |
	.origins as \$o | \$p | map(. as \$at | \$o | getpath(\$at) | (type == \"object\" and has(\"line\")) or . == null) | all" "$tmp/both.json")"
is "$global/policy.yaml 2 global" 'and say file, line and layer' \
	"$(jq -r '.origins.mode | "\(.file) \(.line) \(.layer)"' "$tmp/both.json")"
rm "$ws/.agentwatch.yaml"
mv "$global" "$global.away"
is 'agent landlock other' 'a session with the printed policy alone refuses the same' \
	"$(readable --policy "$tmp/first.yaml" -- bash | sed 's/ system//')"
is "$HOME/\$here" 'and sets the same' "$("$AGENTWATCH" run --quiet --log none --policy "$tmp/first.yaml" -- sh -c 'echo "$PLACE"' 2>/dev/null)"
mv "$global.away" "$global"

# --- flags over environment over files over defaults
rm -rf "$global" "$system"
one=$tmp/one.yaml aw=$AGENTWATCH
last() { jq -r "$1" "$(ls -td "$XDG_STATE_HOME"/agentwatch/sessions/* | head -n 1)/session.json"; }
see_mode() { "$@" -- true 2>/dev/null; last .mode; }
see_engine() { "$@" -- true 2>/dev/null; last .engine; }
see_runner() { "$@" -- true 2>/dev/null; last .runner; }
see_verdicts() { "$@" --log "$log" -- cat /etc/hostname >/dev/null 2>&1; jq -rs 'map(select(.path == "/etc/hostname") | .source)[0]' "$log"; }
see_on_missing_runner() { "$@" --runner docker -- true >/dev/null 2>&1; echo $?; }
see_require() { "$@" --mode enforce --runner exec -- true >/dev/null 2>&1; echo $?; }
see_quiet() { : >"$tmp/none"; "$@" -- cat "$tmp/none" 2>&1 | grep -c '^agentwatch: '; }
see_keep_descendants()
{
	"$@" --quiet -- sh -c "sleep 77 </dev/null >/dev/null 2>&1 & echo \$! >'$tmp/pid'" 2>/dev/null
	kill "$(cat "$tmp/pid")" 2>/dev/null && echo kept || echo ended
}
see_log() { rm -f "$tmp"/log-*; "$@" -- true 2>/dev/null; (cd "$tmp" && ls log-* 2>/dev/null) || echo session; }

# order KEY FILE ENVIRONMENT FLAG SEEN...: what is seen without a word, and as each is added.
order()
{
	local key=$1 option=${1//_/-} file=$2 environment=$3 flag=$4 variable seen
	variable=AGENTWATCH_$(tr a-z- A-Z_ <<<"$option")
	shift 4
	printf 'version: 1\nfilesystem: {deny: ["%s/none"]}\n' "$tmp" >"$one"
	seen=$(see_"$key" "$aw" run --policy "$one")
	echo "$key: \"$file\"" >>"$one"
	is "$*" "$key: flags over environment over files over defaults" "$(echo "$seen" \
		"$(see_"$key" "$aw" run --policy "$one")" \
		"$(see_"$key" env "$variable=$environment" "$aw" run --policy "$one")" \
		"$(see_"$key" env "$variable=$environment" "$aw" run --policy "$one" "--$option=$flag")")"
}
best=$(see_engine "$aw" run)
order mode enforce audit enforce audit enforce audit enforce
order on_missing_runner fail exec fail 0 125 0 125
order quiet true no yes 1 0 1 0
order keep_descendants true no yes ended kept ended kept
order log "$tmp/log-file" "$tmp/log-environment" "$tmp/log-flag" session log-file log-environment log-flag
if [ "$best" = hybrid ]; then
	order engine preload kernel preload hybrid preload kernel preload
	order verdicts ask local ask shim kernel shim kernel
	order require kernel supervisor kernel 0 125 0 125
else
	skip 'engine, verdicts and require' "the engine is $best here"
fi
"$aw" run --quiet --runner landlock -- true 2>/dev/null &&
	order runner landlock exec landlock exec landlock exec landlock ||
	skip 'runner' 'no Landlock here'

# What chooses the files has no place in them.
mkdir -p "$global" "$tmp/w1" "$tmp/w2"
cat >"$global/policy.yaml" <<END
version: 1
environment: {set: {WHERE: "\$WORKSPACE"}}
agents: {helper: {environment: {set: {WHO: helper}}}, one: {environment: {set: {WHO: one}}}, two: {environment: {set: {WHO: two}}}}
END
for name in a b; do printf 'version: 1\nenvironment: {set: {FROM: %s}}\n' $name >"$tmp/$name.yaml"; done
tell() { "$@" --quiet --log none -- "$tmp/bin/helper" -c 'echo "$WHO ${WHERE##*/} $FROM"' 2>/dev/null; }
is 'helper ws ' 'agent, workspace and policy: defaults' "$(tell "$aw" run)"
chosen=(env AGENTWATCH_AGENT=one AGENTWATCH_WORKSPACE="$tmp/w1" AGENTWATCH_POLICY="$tmp/a.yaml" "$aw" run)
is 'one w1 a' 'environment over defaults' "$(tell "${chosen[@]}")"
is 'two w2 b' 'flags over environment' "$(tell "${chosen[@]}" --agent two --workspace "$tmp/w2" --policy "$tmp/b.yaml")"
rm -rf "$global"

# --- nothing wins over the system policy
if [ -n "$have_system" ]; then
	printf 'version: 1\nmode: enforce\nrunner: exec\nquiet: false\nlog: "%s/log-system"\n' "$tmp" >$system
	said=$("$aw" run --mode audit --runner landlock --quiet --log "$tmp/log-flag" -- true 2>&1)
	is 'enforce exec' 'a flag changes neither mode nor runner of the system policy' "$(last .mode) $(last .runner)"
	like 'mode audit is ignored: the system policy says enforce' 'which is said' "$said"
	like 'runner landlock is ignored.*log .*is ignored.*quiet true is ignored' 'for each' "$(xargs <<<"$said")"
	ok 'the log is where it says' test -s "$tmp/log-system"
	rm $system
fi

# --- a runner that is not there: the rules of the one that is taken count
cat >"$one" <<END
version: 1
runner: docker
on_missing_runner: exec
mode: enforce
filesystem: {default: allow}
restricted_runners:
  docker: {restrictions: {allow_networking: false, docker: {image: "x:latest"}}}
  exec: {restrictions: {deny_folders: ["$tmp/data"]}}
END
is '' 'going on with exec, its rules count' "$(readable --policy "$one" -- bash)"

# --- all layers are read again, with those that have come since
mkdir -p "$global/agents"
printf 'version: 1\nmode: enforce\nagents: {helper: {restricted_runners: {exec: {restrictions: {}}}}}\n' >"$global/policy.yaml"
printf 'version: 1\n' >"$ws/.agentwatch.yaml"
printf 'version: 1\nfilesystem: {default: allow}\n' >"$one"
"$aw" run --quiet --runner exec --log "$log" --policy "$one" -- "$tmp/bin/helper" -c "
	look() { for f in '$tmp'/data/*; do read -r x <\$f && echo \$x; done 2>/dev/null | xargs; }
	for n in 1 2; do look; touch '$tmp/started'; until [ -e '$tmp/reloaded'\$n ]; do sleep 0.02; done; done; look" >"$tmp/out" 2>"$tmp/err" &
session=$!
wait_for 10 test -e "$tmp/started"
[ -z "$have_system" ] || printf 'version: 1\nfilesystem: {deny: ["%s/data/system"]}\n' "$tmp" >$system
cat >"$global/policy.yaml" <<END
version: 1
filesystem: {deny: ["$tmp/data/global"]}
agents: {helper: {restricted_runners: {exec: {restrictions: {deny_folders: ["$tmp/data/exec", "$tmp/data/entry"]}}}}}
END
printf 'version: 1\nfilesystem: {deny: ["%s/data/agent"]}\n' "$tmp" >"$global/agents/helper.yaml"
printf 'version: 1\nfilesystem: {deny: ["%s/data/workspace"]}\n' "$tmp" >"$ws/.agentwatch.yaml"
printf 'version: 1\nfilesystem: {deny: ["%s/data/top"]}\n' "$tmp" >"$one"
kill -HUP $session
ok 'SIGHUP reads them' wait_for 5 grep -q 'was read again' "$log"
rm "$tmp/started"
touch "$tmp/reloaded1"
wait_for 5 test -e "$tmp/started"
rm "$ws/.agentwatch.yaml"
printf 'version: 1\n' >"$one"
kill -HUP $session
ok 'a file that is gone changes nothing' wait_for 5 grep -q "old policy stays: $ws/.agentwatch.yaml is gone" "$log"
touch "$tmp/reloaded2"
wait $session
rest='landlock other'
[ -n "$have_system" ] || rest='landlock other system'
is 'agent entry exec global landlock other system top workspace' 'before, nothing is denied' "$(sed -n 1p "$tmp/out")"
is "$rest" 'then what each layer says now' "$(sed -n 2p "$tmp/out")"
is "$rest" 'and so it stays' "$(sed -n 3p "$tmp/out")"
done_testing
