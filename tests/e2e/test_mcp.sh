#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_mcp.sh - MCP servers under watch: driven by the inspector, and byte for byte on their own.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
need_agentwatch
have node && have npm || skip_all 'node and npm are needed for MCP servers'
dir=${AW_AGENTS_DIR:-$root/build/agents}
if [ ! -x "$dir/node_modules/.bin/mcp-server-filesystem" ]; then
	bash "$root/tests/agents/install.sh" "$dir" mcp >"$tmp/install.log" 2>&1 ||
		skip_all "MCP servers cannot be installed: $(tail -n 1 "$tmp/install.log")"
fi
alone "$0"
modules=$dir/node_modules/@modelcontextprotocol
inspector=("$dir/node_modules/.bin/mcp-inspector" --cli)
driver=(node "$root/tests/agents/mcp.js")
export HOME=$tmp/home MEMORY_FILE_PATH=$tmp/memory.json
mkdir -p "$HOME" "$tmp/files"
echo 'some words' >"$tmp/files/one.txt"

# requests NAME LINE...: a script that begins as every client does.
requests()
{
	local file=$tmp/$1.jsonl
	shift
	{
		echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}'
		echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
		echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
		printf '%s\n' "$@"
	} >"$file"
}
# tool ID NAME ARGUMENTS
tool() { echo '{"jsonrpc":"2.0","id":'"$1"',"method":"tools/call","params":{"name":"'"$2"'","arguments":'"$3"'}}'; }

requests filesystem \
	"$(tool 3 read_text_file '{"path":"'"$tmp"'/files/one.txt"}')" \
	"$(tool 4 write_file '{"path":"'"$tmp"'/files/two.txt","content":"written"}')" \
	"$(tool 5 read_text_file '{"path":"/etc/passwd"}')" \
	"$(tool 6 list_directory '{"path":"'"$tmp"'/files"}')" \
	"$(tool 7 create_directory '{"path":"'"$tmp"'/files/sub"}')" \
	"$(tool 8 search_files '{"path":"'"$tmp"'/files","pattern":"*.txt"}')"
requests memory \
	"$(tool 3 create_entities '{"entities":[{"name":"a","entityType":"t","observations":["one"]}]}')" \
	"$(tool 4 read_graph '{}')" "$(tool 5 search_nodes '{"query":"one"}')"
requests everything "$(tool 3 echo '{"message":"hello \u00e9\u4e2d"}')" \
	'{"jsonrpc":"2.0","id":4,"method":"resources/list"}' '{"jsonrpc":"2.0","id":5,"method":"prompts/list"}'

reset() { rm -rf "$MEMORY_FILE_PATH" "$tmp/files/two.txt" "$tmp/files/sub"; }

for engine in $(engines); do
	[ "$engine" = hybrid ] || [ -z "${AW_QUICK:-}" ] || continue
	for server in filesystem memory everything; do
		command=(node "$modules/server-$server/dist/index.js")
		[ $server != filesystem ] || command+=("$tmp/files")
		[ $server != everything ] || command+=(stdio)
		reset; "${driver[@]}" "$tmp/$server.jsonl" "${command[@]}" >"$tmp/bare" 2>"$tmp/bare.err"
		reset; "${driver[@]}" "$tmp/$server.jsonl" "${command[@]}" >"$tmp/again" 2>/dev/null
		reset; "${driver[@]}" "$tmp/$server.jsonl" "$AGENTWATCH" run --quiet --engine "$engine" --log "$log" -- \
			"${command[@]}" >"$tmp/watched" 2>"$tmp/watched.err"
		is 0 "$engine: $server ends with status 0 when its input ends" $?
		ok "$engine: $server answered" test "$(wc -l <"$tmp/watched")" -ge 3
		if cmp -s "$tmp/bare" "$tmp/again"; then
			same "$tmp/bare" "$tmp/watched" "$engine: $server, wrapped, says the same byte for byte"
		else # it sends notifications when it likes: the answers, in order
			for file in bare watched; do jq -c 'select(has("id") and (has("method") | not))' "$tmp/$file" >"$tmp/$file.answers"; done
			same "$tmp/bare.answers" "$tmp/watched.answers" "$engine: $server, wrapped, gives the same answers"
		fi
		same "$tmp/bare.err" "$tmp/watched.err" "$engine: $server, wrapped, has the same stderr"
	done
	ok "$engine: a server's own file operations are in the log" sh -c "[ -s '$log' ]"
done

engine=$(engines | cut -d' ' -f1)
inspect() { "$AGENTWATCH" run --quiet --engine "$engine" --log "$log" -- "${inspector[@]}" "$@" 2>"$tmp/err"; }
filesystem=(node "$modules/server-filesystem/dist/index.js" "$tmp/files")
reset
is "$("${inspector[@]}" "${filesystem[@]}" --method tools/list 2>/dev/null)" \
	'the inspector lists the tools of server-filesystem' "$(inspect "${filesystem[@]}" --method tools/list)"
like 'some words' 'the inspector reads a file through it' \
	"$(inspect "${filesystem[@]}" --method tools/call --tool-name read_text_file --tool-arg "path=$tmp/files/one.txt")"
ok 'the log has the read, with the server as its program' jq -es --arg p "$tmp/files/one.txt" \
	'any(.[]; .event == "call" and .action == "read" and .path == $p and (.exe | endswith("node")))' "$log"
ok 'the log has the exec of the server' jq -es 'any(.[]; (.argv // []) | any(test("server-filesystem")))' "$log"
inspect "${filesystem[@]}" --method tools/call --tool-name write_file --tool-arg "path=$tmp/files/two.txt" --tool-arg content=x >/dev/null
ok 'the log has a write through it' jq -es --arg p "$tmp/files/two.txt" \
	'any(.[]; .event == "call" and (.action == "create" or .action == "write" or .action == "rename") and (.path == $p or .path2 == $p))' "$log"
for server in memory everything; do
	command=(node "$modules/server-$server/dist/index.js")
	[ $server != everything ] || command+=(stdio)
	is "$("${inspector[@]}" "${command[@]}" --method tools/list 2>/dev/null)" \
		"the inspector lists the tools of server-$server" "$(inspect "${command[@]}" --method tools/list)"
done
printf 'version: 1\nmode: enforce\nrunner: exec\nfilesystem: {default: allow, deny: ["%s/files/one.txt"]}\n' "$tmp" >"$tmp/policy.yaml"
like 'EACCES|ermission denied' 'a denied file is an error that the host can read' "$("$AGENTWATCH" run --quiet --policy "$tmp/policy.yaml" --log "$log" -- \
	"${inspector[@]}" "${filesystem[@]}" --method tools/call --tool-name read_text_file --tool-arg "path=$tmp/files/one.txt" 2>&1)"

# In enforce behind a sandbox, without a policy file: the workspace is what the servers work on.
cd "$tmp/files" || exit 1
requests filesystem \
	"$(tool 3 read_text_file '{"path":"'"$tmp"'/files/one.txt"}')" \
	"$(tool 4 write_file '{"path":"'"$tmp"'/files/two.txt","content":"written"}')" \
	"$(tool 5 list_directory '{"path":"'"$tmp"'/files"}')"
export MEMORY_FILE_PATH=$tmp/files/memory.json
walled=$tmp/walled.jsonl
for runner in bwrap landlock; do
	sandbox=("$AGENTWATCH" run --quiet --mode enforce --runner "$runner" --log "$walled" --)
	"${sandbox[@]}" true >/dev/null 2>"$tmp/err" || { skip "MCP servers behind $runner" "$(tail -n 1 "$tmp/err")"; continue; }
	for server in filesystem memory everything; do
		command=(node "$modules/server-$server/dist/index.js")
		[ $server != filesystem ] || command+=("$tmp/files")
		[ $server != everything ] || command+=(stdio)
		reset; "${driver[@]}" "$tmp/$server.jsonl" "${command[@]}" >"$tmp/bare" 2>"$tmp/bare.err"
		reset; "${driver[@]}" "$tmp/$server.jsonl" "${sandbox[@]}" "${command[@]}" >"$tmp/watched" 2>"$tmp/watched.err"
		is 0 "$runner: $server ends with status 0 when its input ends" $?
		if [ $server = everything ]; then # it sends notifications when it likes
			for file in bare watched; do jq -c 'select(has("id") and (has("method") | not))' "$tmp/$file" >"$tmp/$file.answers"; done
			same "$tmp/bare.answers" "$tmp/watched.answers" "$runner: $server gives the same answers"
			ok "$runner: $server answered" test "$(wc -l <"$tmp/watched.answers")" -ge 3
		else
			same "$tmp/bare" "$tmp/watched" "$runner: $server says the same byte for byte"
			ok "$runner: $server answered" test "$(wc -l <"$tmp/watched")" -ge 3
		fi
		same "$tmp/bare.err" "$tmp/watched.err" "$runner: $server has the same stderr"
		is "$("${inspector[@]}" "${command[@]}" --method tools/list 2>/dev/null)" \
			"$runner: the inspector lists the tools of server-$server" \
			"$("${sandbox[@]}" "${inspector[@]}" "${command[@]}" --method tools/list 2>"$tmp/err")"
	done
	mkdir -p "$HOME/.ssh" && echo PRIVATE >"$HOME/.ssh/id_ed25519"
	like 'EACCES|ENOENT|ermission denied' "$runner: a key is out of reach of a server" "$("${sandbox[@]}" \
		"${inspector[@]}" node "$modules/server-filesystem/dist/index.js" "$HOME" \
		--method tools/call --tool-name read_text_file --tool-arg "path=$HOME/.ssh/id_ed25519" 2>&1)"
done
done_testing
