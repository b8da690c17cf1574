#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh: watch something real, and show what the log says.  `make quickstart` runs it.
#
# A small project is cloned, changed by scripts and committed under watch.  A coding agent
# that is installed (on PATH, or by `make agents`) then does a task of two steps; its model
# is a stand-in on this machine, so that no account is needed.  Where there is none, the
# last lines say how to watch yours.
set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
aw=$(cd "${BUILD:-build}" && pwd)/agentwatch
[ -x "$aw" ] || { echo "quickstart: $aw is not built; run make" >&2; exit 1; }

tmp=$(mktemp -d "${TMPDIR:-/tmp}/agentwatch-quickstart.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
name=quickstart-$(date +%Y%m%d-%H%M%S)

title() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || title() { printf '\n== %s\n' "$*"; }
show() { printf '$ %s\n' "$*"; }
# The last COUNT lines, as wide as a terminal.
last() { tail -n "$1" | sed "s|$tmp|...|g" | cut -c1-150; }

# --- a project with a secret in it, and a policy that knows ---
export GIT_CONFIG_GLOBAL=$tmp/gitconfig GIT_CONFIG_SYSTEM=/dev/null
export GIT_TEMPLATE_DIR= # no sample hooks: fourteen lines about files that nobody asked for
git config --global user.name 'Quick Start'
git config --global user.email quickstart@example.com
git config --global init.defaultBranch main
git init -q "$tmp/origin"
echo 'TOKEN=not-a-real-one' >"$tmp/origin/.env"
cat >"$tmp/origin/test.py" <<'END'
import json, os, socket, subprocess
print("settings:", open(".env").read().strip())
json.dump({"passed": 3}, open("result.json", "w"))
subprocess.run(["true"], check=True)
try:
    socket.create_connection(("127.0.0.1", 9), timeout=1)
except OSError as e:
    print("connect:", e.strerror)
END
cat >"$tmp/origin/test.js" <<'END'
require('fs').appendFileSync('result.json', '\n');
console.log('node:', require('child_process').execSync('git rev-parse --abbrev-ref HEAD').toString().trim());
END
git -C "$tmp/origin" add . && git -C "$tmp/origin" commit -qm 'A small project'
cat >"$tmp/policy.yaml" <<END
version: 1
filesystem:
  deny: ["**/.env"]
network:
  deny: ["127.0.0.1:9"]
END
script=$tmp/task.sh
cat >"$script" <<'END'
set -e
git clone -q ../origin project
cd project
for python in /usr/bin/python3 python3; do ! command -v $python >/dev/null || { $python test.py; break; }; done
! command -v node >/dev/null || node test.js
git add . && git commit -qm 'Results'
git log --oneline
END
mkdir "$tmp/work"
cd "$tmp/work" || exit 1

title 'A command under watch. Nothing is refused: the mode is audit.'
show "agentwatch run --policy policy.yaml -- sh task.sh"
"$aw" run --session "$name" --policy "$tmp/policy.yaml" --workspace "$tmp/work" -- sh "$script"
rc=$?
[ $rc = 0 ] || { echo "quickstart: the command ended with $rc" >&2; exit 1; }

title 'What it did that the policy would refuse'
show 'agentwatch log --denied'
"$aw" log "$name" --denied | last 10
title 'Which programs it ran'
show 'agentwatch log --event exec'
"$aw" log "$name" --event exec | last 12
title 'What it wrote in the workspace (the last lines)'
show "agentwatch log --action write --action create --action rename --path 'project/**'"
"$aw" log "$name" --action write --action create --action rename --path "$tmp/work/project" | last 8

title 'The same, enforced: the file cannot be read'
show "agentwatch run --mode enforce --policy policy.yaml -- cat project/.env"
"$aw" run --session "$name-enforce" --mode enforce --policy "$tmp/policy.yaml" -- cat project/.env
echo "(status $?)"

title 'Without a policy: what holds all the same, and who holds it'
show "agentwatch policy explain --mode enforce --read ~/.ssh/id_ed25519 --write ~/.bashrc --write result.json"
(cd project && "$aw" policy explain --mode enforce --read ~/.ssh/id_ed25519 --write ~/.bashrc --write result.json)

# --- a real agent, when there is one ---
# found AGENT: where it is installed.
found()
{
	local local_agents=${AW_AGENTS_DIR:-$root/build/agents}
	case $local_agents in /*) ;; *) local_agents=$root/$local_agents ;; esac
	if [ -x "$local_agents/node_modules/.bin/$1" ]; then echo "$local_agents/node_modules/.bin/$1"; else command -v "$1"; fi
}
agent=
if command -v node >/dev/null; then
	for candidate in codex claude gemini opencode qwen; do
		if path=$(found $candidate); then agent=$candidate; break; fi
	done
fi
if [ -n "$agent" ]; then
	title "A real agent under watch: $agent"
	mkdir -p "$tmp/npm/node_modules/.bin" "$tmp/agent"
	ln -s "$path" "$tmp/npm/node_modules/.bin/$agent"
	show "agentwatch run -- $agent ..."
	AGENT_DIR=$tmp/agent AGENT_ENV="XDG_STATE_HOME=${XDG_STATE_HOME:-$HOME/.local/state}" \
		bash "$root/tests/agents/agent.sh" "$tmp/npm" "$agent" \
		"$aw" run --session "$name-$agent" -- || agent_failed=1
	show "agentwatch log --action create --action write --path '$agent-workspace'"
	"$aw" log "$name-$agent" --action create --action write --path "$tmp/agent/w" | last 6
	show 'agentwatch log --event exec'
	"$aw" log "$name-$agent" --event exec | last 8
	[ -z "${agent_failed:-}" ] || { echo "quickstart: $agent did not finish its task" >&2; exit 1; }
else
	title 'No coding agent was found.'
	echo 'To watch yours: agentwatch run -- claude (or codex, opencode, gemini, qwen, any command)'
	echo 'To install some for a trial: make agents'
fi
title 'The logs stay for you to read:'
echo "  $aw log $name"
