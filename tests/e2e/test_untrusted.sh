#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_untrusted.sh - a workspace's file that is not trusted only tightens: runner, engine, presets,
# defaults and all else are those of a run without it, whatever stands in it.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
umask 022
unset AGENTWATCH_RUNNER # the default is what this is about

export HOME=$tmp/home TMPDIR=$tmp/scratch
ws=$tmp/ws file=$tmp/ws/.agentwatch.yaml global=$XDG_CONFIG_HOME/agentwatch/policy.yaml
mkdir -p "$HOME" "$TMPDIR" "$ws" "${global%/*}"
cd "$ws" || exit 1
git init -q . 2>/dev/null

# shown: the policy for claude in enforce, without remarks, the default runner and what is judged apart.
shown() { "$AGENTWATCH" policy show --mode enforce --agent claude 2>/dev/null | sed '/^intersect:/,$d; /^ *#/d; /^runner: [a-z]*$/d'; }
# session ARG...: mode, runner and engine of a run, and what it could do outside the workspace.
session()
{
	rm -f "$HOME/x"
	"$AGENTWATCH" run --session probe "$@" --quiet --log none -- \
		sh -c "touch '$HOME/x'; readlink /proc/self/ns/mnt >'$ws/ns'" >/dev/null 2>&1
	"$AGENTWATCH" ps -a --json | jq -r 'select(.id == "probe") | "\(.mode) \(.runner) \(.engine)"'
	rm -rf "$XDG_STATE_HOME/agentwatch/sessions/probe"
	[ ! -e "$HOME/x" ] && echo refused
	[ "$(cat ns)" = "$(readlink /proc/self/ns/mnt)" ] && echo "the host's mounts"
}

contents=(
	'version: 1'
	'{version: 1}'
	$'version: 1\nrunner: exec\nengine: preload\nverdicts: ask\non_missing_runner: exec\nrequire: kernel'
	$'version: 1\nmerge: replace\npreset: []\nprotections: off\nfilesystem: {default: allow, write: [/]}\nnetwork: {default: allow, allow: ["*"]}'
	$'version: 1\nmode: audit\nbase: open\nenvironment: {inherit: all, unset: ["!*"]}'
	$'version: 1\nrestricted_runner: {type: exec, merge_strategy: replace, restrictions: {allow_networking: true}}'
	$'version: 1\nrestricted_runners: {exec: {merge_strategy: replace, restrictions: {allow_networking: true}}}'
	$'version: 1\nagents: {claude: {runner: exec}}\nintersect: {system: {filesystem: {default: allow}}}'
)
broken=('' 'nonsense' $'version: 2\nrunner: exec' $'runner: exec\n\tx' '[')

for below in '' 'filesystem: {deny: [/nowhere]}' $'mode: enforce\nnetwork: {listen: []}' $'runner: landlock\nengine: kernel'; do
	rm -f "$global" "$file"
	[ -z "$below" ] || printf 'version: 1\n%s\n' "$below" >"$global"
	name=${below:-no other file} name="with ${name//$'\n'/, }"
	policy=$(shown) plain=$(session) strict=$(session --mode enforce)
	note "$name: $(echo $plain), $(echo $strict)"
	for content in "${contents[@]}"; do
		printf '%s\n' "$content" >"$file"
		about=${content#version: 1} about=${about//$'\n'/, }
		is "$policy" "$name: the same policy beside '${about:-nothing}'" "$(shown)"
		is "$strict" "$name: the same session in enforce beside '${about:-nothing}'" "$(session --mode enforce)"
	done
	printf '%s\n' "${contents[2]}" >"$file"
	is "$plain" "$name: and without a word on the mode" "$(session)"
	printf 'version: 1\nmode: enforce\n' >"$file"
	rm "$global" 2>/dev/null
	like '^enforce (bwrap|landlock) ' "$name: its mode counts, behind the default sandbox" "$(session)"
	[ -z "$below" ] || printf 'version: 1\n%s\n' "$below" >"$global"
	for content in "${broken[@]}"; do
		printf '%s' "$content" >"$file"
		"$AGENTWATCH" run --mode enforce --quiet --log none -- touch "$HOME/y" 2>/dev/null
		is "125 no" "$name: nothing starts beside a broken file '${content//$'\n'/, }'" \
			"$? $([ -e "$HOME/y" ] && echo yes || echo no)"
	done
done
done_testing
