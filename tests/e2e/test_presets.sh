#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_presets.sh - enforce without a line of configuration: what it refuses, what it leaves
# alone, and that each agent does its task in it.
#
# AW_AGENTS_DIR is where agents are installed; AW_AGENTS names the ones to test.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
need_agentwatch
alone "$0"

unset ANTHROPIC_BASE_URL OPENAI_BASE_URL HTTPS_PROXY HTTP_PROXY
export HOME=$tmp/home TMPDIR=$tmp/tmp GITHUB_TOKEN=secret MY_API_KEY=secret HARMLESS=kept
work=$tmp/workspace
mkdir -p "$HOME/.ssh" "$HOME/.config/gh" "$TMPDIR" "$work" "$tmp/elsewhere"
echo PRIVATE >"$HOME/.ssh/id_ed25519"
echo PRIVATE >"$HOME/.config/gh/hosts.yml"
echo old >"$HOME/.bashrc"
cd "$work" || exit 1
git init -q . 2>/dev/null
git config user.name x && git config user.email x@example.com

run() { "$AGENTWATCH" run --quiet --mode enforce --runner exec --log "$log" -- "$@" 2>&1; }

# refused_by NAME SENTENCE: the log has a refusal whose rule is that protection's.
refused_by()
{
	ok "$2" jq -es --arg name "$1: " 'any(.[]; .event == "call" and .verdict == "deny" and .enforced == true
		and .rule.file == "protections" and .rule.layer == "built-in" and .rule.line > 0
		and (.rule.text | startswith($name)))' "$log"
}

is done 'the workspace can be changed' "$(run sh -c 'echo x >new && mkdir -p d && mv new d/ && rm -r d && echo done')"
is done 'so can the temporary folder' "$(run sh -c 'f=$(mktemp) && rm $f && echo done')"
like 'ermission denied' 'other folders cannot' "$(run sh -c "echo x >'$tmp/elsewhere/new'")"
ok 'nothing was made there' test ! -e "$tmp/elsewhere/new"
is '1 file changed' 'git commits' "$(run sh -c 'echo a >a && git add a && git commit -qm a && git show --stat --format= | tail -n 1 | cut -d, -f1' | xargs)"
is ok 'git makes and clones repositories' \
	"$(run sh -c 'git init -q fresh && git clone -q fresh copy 2>/dev/null && git -C copy status >/dev/null && echo ok; rm -rf fresh copy')"
like 'ermission denied' 'a private key cannot be read' "$(run cat "$HOME/.ssh/id_ed25519")"
refused_by private-keys 'which the log says by name'
like 'ermission denied' 'nor a credential' "$(run cat "$HOME/.config/gh/hosts.yml")"
refused_by cloud-credentials 'by another name'
like 'ermission denied' 'a start-up file cannot be changed' "$(run sh -c 'echo evil >>~/.bashrc')"
is old 'and is not' "$(cat "$HOME/.bashrc")"
like 'ermission denied' 'nor a hook planted' "$(run sh -c 'echo evil >.git/hooks/post-checkout')"
refused_by git-hooks 'which the log says'
like 'ermission denied' 'nor by a rename' "$(run sh -c 'echo evil >x && mv x .git/hooks/post-commit')"
ok 'there is no hook' test ! -e .git/hooks/post-commit
like 'ermission denied' 'nor an editor task' "$(run sh -c 'mkdir -p .vscode; echo {} >.vscode/tasks.json')"
like 'ermission denied' 'nor a server for agents' "$(run sh -c 'echo {} >.mcp.json')"
like 'ermission denied' 'nor a policy' "$(run sh -c 'echo version: 1 >.agentwatch.yaml')"
like 'ermission denied' 'nor the log' "$(run sh -c "echo x >>'$log'")"
if have python3; then
	like 'ermission denied' 'there is no network' \
		"$(run python3 -c 'import socket; socket.create_connection(("127.0.0.1", 9))' | tail -n 1)"
	like 'ermission denied' 'least of all to where clouds hand out credentials' \
		"$(run python3 -c 'import socket; socket.create_connection(("169.254.169.254", 80))' | tail -n 1)"
	refused_by metadata-address 'which the log says'
else skip 'there is no network' 'no python3'; fi
is 'kept' 'credentials are taken out of the environment, other variables are not' \
	"$(run sh -c 'echo "$GITHUB_TOKEN$MY_API_KEY$HARMLESS"')"

# A .git file that leads to a folder of the workspace's own, which names somebody else's.
mkdir -p "$tmp/forged/evil" "$tmp/others"
echo "gitdir: $tmp/forged/evil" >"$tmp/forged/.git"
echo "$tmp/forged/.git" >"$tmp/forged/evil/gitdir"
echo ../../others >"$tmp/forged/evil/commondir"
(cd "$tmp/forged" && TMPDIR=/dev/shm "$AGENTWATCH" run --quiet --mode enforce --log none -- touch "$tmp/others/made" 2>/dev/null)
ok 'a forged .git file opens no folder' test ! -e "$tmp/others/made"
# A linked worktree commits into a repository elsewhere.
git worktree add -q "$tmp/linked" -b linked 2>/dev/null
is '1' 'git commits in a linked worktree' \
	"$(cd "$tmp/linked" && run sh -c 'echo b >b && git add b && git commit -qm b; git log --format=%s -1 | grep -c b')"
mkdir -p "$tmp/forged"
echo "gitdir: $tmp/elsewhere" >"$tmp/forged/.git"
echo "$tmp/linked/.git" >"$tmp/elsewhere/gitdir"
echo . >"$tmp/elsewhere/commondir"
like 'ermission denied' 'a .git file that names a folder does not open that folder' \
	"$(cd "$tmp/forged" && run sh -c "echo x >'$tmp/elsewhere/new'")"

# Audit says what enforce would refuse, and refuses nothing.
is PRIVATE 'audit lets a key be read' "$("$AGENTWATCH" run --quiet --log "$log" -- cat "$HOME/.ssh/id_ed25519" 2>&1)"
ok 'and says what enforce would have done' jq -es 'any(.[]; .event == "call" and .verdict == "deny" and .enforced == false
	and .rule.file == "protections")' "$log"
is secret 'audit leaves the environment alone' "$("$AGENTWATCH" run --quiet --log "$log" -- sh -c 'echo $GITHUB_TOKEN')"

# A file switches protections off, when it is trusted.
printf 'version: 1\nprotections: {private-keys: off}\n' >"$tmp/off.yaml"
is PRIVATE 'a protection can be switched off' \
	"$("$AGENTWATCH" run --quiet --mode enforce --runner exec --policy "$tmp/off.yaml" --log "$log" -- cat "$HOME/.ssh/id_ed25519" 2>&1)"
printf 'version: 1\nprotections: off\n' >.agentwatch.yaml
like "'protections' is ignored" 'but not by the workspace' "$(run true)"
like 'ermission denied' 'whose word does not count' "$(run cat "$HOME/.ssh/id_ed25519")"
rm .agentwatch.yaml

# The preset of a name.
mkdir "$tmp/bin"
ln -s "$(command -v sh)" "$tmp/bin/codex"
err=$("$AGENTWATCH" run --mode enforce --runner exec --log "$log" -- "$tmp/bin/codex" -c 'mkdir -p ~/.codex && echo x >~/.codex/state' 2>&1)
is "agentwatch: preset codex (from the command's name)" 'a preset goes by the command, and is named on stderr' \
	"$(grep '^agentwatch: preset' <<<"$err")"
is x "the agent's own folder can be changed" "$(cat "$HOME/.codex/state")"
is '' 'quiet does not name it' "$(run "$tmp/bin/codex" -c true)"
like 'ermission denied' "the agent's settings cannot" "$(run "$tmp/bin/codex" -c 'echo x >~/.codex/config.toml')"
refused_by agent-config 'which the log says'
# picked POLICY [OPTION...]: what is said of presets beside a file with this in it.
picked()
{
	printf 'version: 1\n%s\n' "$1" >"$tmp/own.yaml"
	"$AGENTWATCH" run --mode enforce --runner exec --policy "$tmp/own.yaml" --log "$log" "${@:2}" -- "$tmp/bin/codex" -c true 2>&1 | grep preset
}
is "agentwatch: preset codex (from the command's name)" 'a policy with rules adds to the preset' "$(picked 'filesystem: {deny: [/nowhere]}')"
is 'agentwatch: preset codex (from --agent)' 'it is said who chose it' "$(picked 'filesystem: {}' --agent codex)"
is '' 'one that names it has none picked' "$(picked 'preset: [codex]')"
is '' 'an empty list of presets means none' "$(picked 'preset: []')"
is '' 'an open base needs none' "$(picked 'base: open' | grep -v 'base: open')"

mkdir -p "$XDG_CONFIG_HOME/agentwatch/agents"
printf 'version: 1\npreset: [codex]\nfilesystem: {write: ["%s"]}\n' "$tmp/elsewhere" >"$XDG_CONFIG_HOME/agentwatch/agents/codex.yaml"
is '' "a file for the agent goes by the command's name" "$(run "$tmp/bin/codex" -c "echo x >'$tmp/elsewhere/agent' && echo x >~/.codex/state")"
like 'ermission denied' "and is not the agent's to change" \
	"$(run "$tmp/bin/codex" -c "echo x >'$XDG_CONFIG_HOME/agentwatch/agents/codex.yaml'")"
rm -r "$XDG_CONFIG_HOME/agentwatch"
is x 'a log to a device leaves it to the command' \
	"$("$AGENTWATCH" run --quiet --mode enforce --runner exec --log /dev/null -- sh -c 'echo gone >/dev/null && echo x' 2>&1)"

# Each agent, end to end, behind each sandbox; with AW_FULL=1 as root also as the user awtest.
dir=${AW_AGENTS_DIR:-$root/build/agents}
agents=(${AW_AGENTS:-claude codex opencode gemini qwen})
[ -z "${AW_QUICK:-}" ] || agents=(${AW_AGENTS:-claude codex})
runners=(bwrap landlock)
[ -z "${AW_FULL:-}" ] || runners+=(exec)
users=("$(id -un)")
[ -n "${AW_FULL:-}" ] && is_root && id awtest >/dev/null 2>&1 && runuser -u awtest -- test -x "$AGENTWATCH" 2>/dev/null && users+=(awtest)
at_end 'rm -rf "$place"'
place=$(mktemp -d "${AW_AGENT_PLACE:-/var/tmp}/aw-agent.XXXXXX")
chmod 755 "$place"

# as USER COMMAND...
as()
{
	local user=$1
	shift
	if [ "$user" = "$(id -un)" ]; then "$@"; else runuser -u "$user" -- "$@"; fi
}

# agent USER NAME [PREFIX...]: in a folder of its own, with a key in its home.
agent()
{
	local user=$1 at=$place/$2
	shift 2
	rm -rf "${at:?}"
	mkdir -p "$at/home/.ssh" "$at/state"
	mkdir -m 700 "$at/run"
	echo PRIVATE >"$at/home/.ssh/id_ed25519"
	chown -R "$user" "$at"
	as "$user" env AGENT_CMD='echo agent-ran > agent-ran.txt; cat ~/.ssh/id_ed25519 > key.txt; /bin/true' \
		AGENT_DIR="$at" AGENT_ENV="XDG_STATE_HOME=$at/state XDG_RUNTIME_DIR=$at/run" \
		bash "$root/tests/agents/agent.sh" "$dir" "$agent" "$@"
}

# watch_agent USER RUNNER: its task is done, the key is not read.
watch_agent()
{
	local user=$1 runner=$2 what="$agent, $2, $1" got log=$place/watched/log
	got=$(agent "$user" watched "$AGENTWATCH" run --mode enforce --runner "$runner" --engine hybrid --log "$log" --)
	like "^$agent PASS rc=0" "$what: it does its task in enforce, without a policy file" "$got"
	note "bare: $(head -n 1 <<<"$bare"); watched: $(head -n 1 <<<"$got")"
	[[ $got == *PASS* ]] || note "$(jq -r 'select(.event == "call" and .verdict != "allow") | "\(.call) \(.path // .address) \(.rule.text // "default")"' "$log" | sort | uniq -c | sort -rn | head -n 12)"
	like "agentwatch: preset [a-z-]+ \(from the command's name\)" "$what: its preset is named" "$(cat "$place/watched/err")"
	ok "$what: the log names that runner" jq -es --arg r "runner $runner" 'any(.[]; (.text // .message // "") | contains($r))' "$log"
	is '' "$what: the key was not read" "$(cat "$place/watched/w/key.txt" 2>&1)"
	ok "$what: the refusal is in the log, with its protection" jq -es --arg p "$place/watched/home/.ssh/id_ed25519" \
		'any(.[]; .event == "call" and .verdict == "deny" and .enforced == true and .path == $p
			and .rule.file == "protections" and .rule.text == "private-keys: ~/.ssh")' "$log"
	ok "$what: making the home once more is no denial" jq -es --arg p "$place/watched/home" \
		'all(.[]; .event != "call" or .path != $p or .verdict == "allow")' "$log"
}

for runner in "${runners[@]}"; do
	"$AGENTWATCH" run --quiet --mode enforce --runner "$runner" --log none -- true >/dev/null 2>"$tmp/err" && continue
	skip "agents behind $runner" "$(tail -n 1 "$tmp/err")"
	runners=("${runners[@]/#$runner/}")
done
for agent in "${agents[@]}"; do
	if [ ! -x "$dir/node_modules/.bin/$agent" ]; then
		skip "$agent in enforce" 'it is not installed (test_agents.sh installs it)'
		continue
	fi
	for user in "${users[@]}"; do
		bare=$(agent "$user" bare)
		if [[ $bare != *PASS* ]]; then
			skip "$agent in enforce, $user" "it does not work bare here: $(head -c 200 <<<"$bare" | tr '\n#' '  ')"
			continue
		fi
		is PRIVATE "$agent, $user: reads the key when nobody watches" "$(cat "$place/bare/w/key.txt")"
		for runner in "${runners[@]}"; do
			[ -z "$runner" ] || watch_agent "$user" "$runner"
		done
	done
done

# Hosts talk to agents over stdio (ACP): the same messages behind a sandbox.
acp() { (cd "$place/acp/w" && timeout 90 env "${settings[@]}" node "$root/tests/agents/acp.js" "$@" 2>/dev/null); }
acp_model()
{
	mkdir -p "$place/acp/home/.gemini" "$place/acp/w"
	echo '{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}' \
		>"$place/acp/home/.gemini/settings.json"
	node "$root/tests/agents/fake-model.js" "$place/acp/port" "$place/acp/requests" '{"steps":[],"final":"ALL DONE"}' &
	model=$!
	at_end 'kill $model'
	wait_for 5 test -s "$place/acp/port"
	url=http://127.0.0.1:$(cat "$place/acp/port")
	settings=("HOME=$place/acp/home" GEMINI_API_KEY=dummy "GOOGLE_GEMINI_BASE_URL=$url" GEMINI_CLI_TRUST_WORKSPACE=true
		IS_SANDBOX=1 "ANTHROPIC_BASE_URL=$url" ANTHROPIC_API_KEY=dummy DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1)
}

hosts=('claude-agent-acp' 'claude-code-acp' 'gemini --experimental-acp')
[ -z "${AW_QUICK:-}" ] || hosts=("${hosts[@]:0:1}")
for command in "${hosts[@]}"; do
	read -ra words <<<"$command"
	if [ ! -x "$dir/node_modules/.bin/${words[0]}" ]; then
		skip "${words[0]} behind an ACP host" 'it is not installed'
		continue
	fi
	[ -d "$place/acp" ] || acp_model
	bare=$(acp "$dir/node_modules/.bin/${words[0]}" "${words[@]:1}")
	if [[ $bare != *'"stopReason":"end_turn"'* ]]; then
		skip "${words[0]} behind an ACP host" "it does not work bare here: $(head -c 200 <<<"$bare" | tr '\n#' '  ')"
		continue
	fi
	for runner in "${runners[@]}"; do
		[ -z "$runner" ] || is "$bare" "${words[0]}, $runner: an ACP host is told the same as bare" \
			"$(acp "$AGENTWATCH" run --quiet --mode enforce --runner "$runner" --log "$log" -- "$dir/node_modules/.bin/${words[0]}" "${words[@]:1}")"
	done
done
done_testing
