#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_agents.sh - real agents end to end under watch, against a model stand-in on loopback.
#
# AW_AGENTS_DIR is where they are or will be installed (default build/agents); AW_AGENTS names
# the ones to test.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
need_agentwatch
have node && have npm || skip_all 'node and npm are needed for agents'
have python3 || skip_all 'no python3'

dir=${AW_AGENTS_DIR:-$root/build/agents}
agents=(${AW_AGENTS:-claude codex opencode gemini qwen})
[ -z "${AW_QUICK:-}" ] || agents=(${AW_AGENTS:-claude codex})
declare -A package=([claude]=claude-code [codex]=codex [opencode]=opencode [gemini]=gemini [qwen]=qwen)
if [ -z "${AW_ALONE:-}" ]; then # while there is a network
	for agent in "${agents[@]}"; do
		[ -x "$dir/node_modules/.bin/$agent" ] && continue
		bash "$root/tests/agents/install.sh" "$dir" "${package[$agent]}" >"$tmp/install.log" 2>&1 ||
			note "installing $agent failed: $(tail -n 2 "$tmp/install.log")"
	done
fi
alone "$0"

# codex refuses to work from a home below the temporary folder, so the folders have a place of their own.
place=$(mktemp -d "${AW_AGENT_PLACE:-${TMPDIR:-/tmp}}/aw-agent.XXXXXX")
at_end "rm -rf '$place'"

cat >"$tmp/deny.yaml" <<'END'
version: 1
mode: enforce
runner: exec
filesystem:
  default: allow
  deny_write: ["**/written.txt"]
END

# run NAME [PREFIX...]: the agent in a folder of its own; prints agent.sh's words.
run()
{
	local name=$1
	shift
	rm -rf "${place:?}/$name"
	mkdir -p "$place/$name"
	AGENT_DIR=$place/$name AGENT_ENV="XDG_STATE_HOME=$XDG_STATE_HOME XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" \
		bash "$root/tests/agents/agent.sh" "$dir" "$agent" "$@"
}

for agent in "${agents[@]}"; do
	if [ ! -x "$dir/node_modules/.bin/$agent" ]; then
		skip "$agent under watch" 'it could not be installed'
		continue
	fi
	bare=$(run bare)
	if [[ $bare != *PASS* ]]; then
		skip "$agent under watch" "it does not work bare here: $(head -c 200 <<<"$bare" | tr '\n#' '  ')"
		continue
	fi
	for engine in $(engines); do
		[ "$engine" = hybrid ] || [ -z "${AW_QUICK:-}" ] || continue
		got=$(run audit "$AGENTWATCH" run --quiet --engine "$engine" --log "$log" --)
		like "^$agent PASS rc=0" "$agent works under audit, engine $engine" "$got"
		note "bare: $(head -n 1 <<<"$bare"); watched: $(head -n 1 <<<"$got")"
		[ "$engine" != preload ] || continue # it does not see the agents' own raw calls
		relay "$agent, $engine: " < <(python3 "$root/tests/e2e/agent_log.py" \
			"$log" "$place/audit/w" "$(cat "$place/audit/port")" "$agent" 2>&1)
		got=$(run enforce "$AGENTWATCH" run --quiet --engine "$engine" --policy "$tmp/deny.yaml" --log "$log" --)
		like "^$agent FAIL" "$agent, $engine: with the written file denied it fails" "$got"
		ok "$agent, $engine: its shell command still ran" grep -q agent-ran "$place/enforce/w/agent-ran.txt"
		ok "$agent, $engine: the file was not written" test ! -s "$place/enforce/w/written.txt"
		ok "$agent, $engine: the refusal is in the log" jq -es --arg p "$place/enforce/w/written.txt" \
			'any(.[]; .event == "call" and .verdict == "deny" and .enforced == true and (.path == $p or .path2 == $p))' "$log"
	done
done

# A normal run breaks no rule: no alarm is false, in audit and enforce, in each engine and sandbox.  The
# home is not below the temporary folder, where each session may write; the shell does a day's work.
alarms() { jq -r 'select(.verdict == "deny" or .verdict == "hide") | "\(.exe) \(.call) \(.path // .host // .address // "") \(.reason)"' "$log" | sort | uniq -c; }
day='echo agent-ran > agent-ran.txt; ls -la / ~ . /tmp >/dev/null; cat nothere ~/.npmrc; mkdir -p /usr/local src/x; mktemp'
day+='; git add . && git -c user.name=a -c user.email=a@b.example commit -qm x; git status; git log; git branch other'
day+='; ps aux; find . -name x; grep -r agent src; npm --version; python3 -c pass; tar cf x.tar src; df .; which foo; curl -s 127.0.0.1:1; true'
place_of_tests=$place
for base in "${AW_AGENT_PLACE:-$HOME}" /home/"$(id -un)" /var/lib; do
	[ -z "${base##/tmp*}" ] && continue
	place=$(mktemp -d "$base/aw-agent.XXXXXX" 2>/dev/null) && break
done
[ -n "$place" ] || place=$place_of_tests
[ "$place" = "$place_of_tests" ] || at_end "rm -rf '$place'"
for agent in "${agents[@]}"; do
	[ -x "$dir/node_modules/.bin/$agent" ] || { skip "$agent without alarm" 'it could not be installed'; continue; }
	for how in 'audit hybrid exec' 'audit kernel exec' 'audit preload exec' 'enforce hybrid bwrap' 'enforce hybrid landlock'; do
		read -r mode engine runner <<<"$how"
		[ "$runner" = bwrap ] || [ -z "${AW_QUICK:-}" ] || continue
		"$AGENTWATCH" run -q --log none --on-missing-runner fail --mode enforce --runner "$runner" -- true 2>/dev/null || {
			skip "$agent, $how: no alarm" "runner $runner does not work here"
			continue
		}
		got=$(AGENT_CMD=$day run calm "$AGENTWATCH" run --quiet --mode "$mode" --engine "$engine" --runner "$runner" --log "$log" --)
		like "^$agent PASS rc=0" "$agent, $how: it works without a policy" "$got"
		is '' "$agent, $how: nothing is denied" "$(alarms)"
	done
done
place=$place_of_tests

# What a real agent's run has taught is enough for the next one, behind a sandbox too.
agent=codex
if [ -x "$dir/node_modules/.bin/codex" ]; then
	got=$(run learn "$AGENTWATCH" learn --quiet --output "$tmp/learnt.yaml" --)
	like '^codex PASS rc=0' 'codex works while it is learnt from' "$got"
	ok 'its preset is named' grep -q '^preset: \[codex\]$' "$tmp/learnt.yaml"
	got=$(run learnt "$AGENTWATCH" run --quiet --policy "$tmp/learnt.yaml" --log "$log" --)
	like '^codex PASS rc=0' 'codex works with what was learnt' "$got"
	is 0 'nothing was refused but looking for programs' \
		"$(jq -es 'map(select(.verdict == "deny" and .action != "exec")) | length' "$log")"
fi

# Hosts talk to agents over stdio (ACP).
acp() { (cd "$place" && timeout 90 node "$root/tests/agents/acp.js" "$@" 2>/dev/null); }
agent=gemini
if [ -z "${AW_QUICK:-}" ] && [ -x "$dir/node_modules/.bin/gemini" ]; then
	mkdir -p "$place/acp/home/.gemini"
	echo '{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}' \
		>"$place/acp/home/.gemini/settings.json"
	node "$root/tests/agents/fake-model.js" "$place/acp/port" "$place/acp/requests" '{"steps":[],"final":"ALL DONE"}' &
	model=$!
	at_end "kill $model"
	wait_for 5 test -s "$place/acp/port"
	settings=("HOME=$place/acp/home" GEMINI_API_KEY=dummy "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$(cat "$place/acp/port")" GEMINI_CLI_TRUST_WORKSPACE=true)
	bare=$(acp env "${settings[@]}" "$dir/node_modules/.bin/gemini" --experimental-acp)
	watched=$(acp "$AGENTWATCH" run --quiet --log "$log" -- env "${settings[@]}" "$dir/node_modules/.bin/gemini" --experimental-acp)
	like '"stopReason":"end_turn"' 'gemini answers an ACP host under watch' "$watched"
	is "$bare" 'with the same messages as bare' "$watched"
else
	skip 'an agent behind an ACP host' 'gemini is not installed, or AW_QUICK'
fi
done_testing
