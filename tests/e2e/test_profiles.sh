#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_profiles.sh - MCP servers of one session, each by its name and with a policy of its own.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
need_agentwatch
have node && have jq || skip_all 'node and jq are needed'
dir=$(agents_dir mcp-server-filesystem) || skip_all 'MCP servers are not installed; see make agents'
alone "$0"
modules=$dir/node_modules/@modelcontextprotocol
host=(node "$root/tests/agents/mcp_host.js")
export HOME=$tmp/home
work=$tmp/workspace
mkdir -p "$HOME" "$work/docs" "$work/src"
echo words >"$work/docs/one.txt"
echo code >"$work/src/main.c"
cd "$work" || exit 1
git init -q . 2>/dev/null

# tool NAME ARGUMENTS; server NAME COMMAND... <tools: lines of $servers, as mcp_host.js wants them.
tool() { jq -nc --arg n "$1" --argjson a "$2" '{name: $n, arguments: $a}'; }
server() { jq -sc --arg n "$1" '{name: $n, argv: $ARGS.positional, tools: .}' --args "${@:2}"; }
read_both="$(tool read_text_file "{\"path\":\"$work/docs/one.txt\"}") $(tool read_text_file "{\"path\":\"$work/src/main.c\"}")"
filesystem=(node "$modules/server-filesystem/dist/index.js" "$work")
{
	server files "${filesystem[@]}" <<<"$read_both"
	server all node "$modules/server-everything/dist/index.js" stdio <<<"$(tool echo '{"message":"hello"}')"
} >"$tmp/servers"
jq -n '{mcpServers: {docs: {command: "node", args: $ARGS.positional}}}' --args "${filesystem[@]:1}" >.mcp.json

# Names: one server is in the workspace's file, the other only looks like one.
for engine in $(engines); do
	[ "$engine" = hybrid ] || [ -z "${AW_QUICK:-}" ] || continue
	is 'files: words files: code all: Echo: hello' "$engine: the host speaks with both servers" \
		"$(watched --engine "$engine" -- "${host[@]}" "$tmp/servers" 2>/dev/null | xargs)"
	ok "$engine: what a server reads has the name from the agent's configuration" jq -es --arg p "$work/docs/one.txt" \
		'[.[] | select(.event == "call" and .path == $p)] | length > 0 and all(.mcp == "docs")' "$log"
	ok "$engine: a server that no file names has its package's name, on its exec too" jq -es \
		'[.[] | select(.mcp == "server-everything")] | any(.event == "call") and any(.event == "exec") and any(.event == "exit")' "$log"
	ok "$engine: the host has none" jq -es '[.[] | select((.argv // []) | any(endswith("mcp_host.js")))] | all(.mcp == null)' "$log"
done
watched -- "${host[@]}" "$tmp/servers" >/dev/null 2>&1
is docs 'log --mcp shows one server alone' "$("$AGENTWATCH" log "$log" --json --mcp docs | jq -r .mcp | sort -u)"
is 0 'and a pattern takes several' "$("$AGENTWATCH" log "$log" --json --mcp 'docs' --mcp 'server-*' | jq -r '.mcp // "none"' | grep -c none)"
like 'docs:node' 'the table says which server a program is' "$("$AGENTWATCH" log "$log" --mcp docs --path docs/one.txt)"

# What it starts is part of it, also when nobody in between was ever heard of.
cat >"$work/mcp-forker.py" <<'END'
import os, sys, time
if os.fork() == 0:
    if os.fork() == 0:
        time.sleep(0.3)
        os.execv("/bin/cat", ["cat", sys.argv[1]])
    os._exit(0)
os._exit(0)
END
if have python3; then
	echo '{"name":"f","argv":["python3","'"$work/mcp-forker.py"'","'"$work/src/main.c"'"],"tools":[]}' >"$tmp/one"
	watched --keep-descendants -- "${host[@]}" "$tmp/one" >/dev/null 2>&1
	ok 'an orphan of a server belongs to it' jq -es --arg p "$work/src/main.c" \
		'[.[] | select(.event == "call" and .path == $p and (.exe | endswith("cat")))] | length > 0 and all(.mcp == "mcp-forker")' "$log"
else skip 'an orphan of a server belongs to it' 'no python3'; fi
is 0 'a pipeline that mentions the word is no server' \
	"$(watched -- sh -c 'echo mcp | grep mcp | cat' >/dev/null; jq -r 'select(.mcp) | .mcp' "$log" | wc -l)"
done_testing
