#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_profiles.sh - MCP servers of one session, each by its name and with a policy of its own.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
need_agentwatch
alone "$0"
export HOME=$tmp/home
work=$tmp/workspace
mkdir -p "$HOME" "$work/docs" "$work/src"
echo words >"$work/docs/one.txt"
echo code >"$work/src/main.c"
cd "$work" || exit 1
git init -q . 2>/dev/null
all=$(engines)
is_root || all=hybrid # what differs for an ordinary user is not the engine

# --- a probe: whose call it is, and since when ---

compile profile_probe gcc -O1 -Wall -D_GNU_SOURCE -I"$root" -pthread "$root/tests/e2e/profile_probe.c" || skip_all 'no compiler'
dynamic=$compiled static=
compile profile_probe.static gcc -static -O1 -Wall -D_GNU_SOURCE -I"$root" -pthread "$root/tests/e2e/profile_probe.c" && static=$compiled
cat >policy.yaml <<END
version: 1
filesystem: {default: allow}
network: {default: allow}
profiles:
  files:
    when: {exec: "profile_probe* *in:files*"}
    filesystem: {deny: ["$work/src"]}
  offline:
    when: {exec: ["profile_probe* in:offline*", "$work/by-path"]}
    network: {default: deny}
  loose:
    when: {exec: "profile_probe* in:loose*"}
    filesystem: {default: allow, read: ["/"], deny: ["!$work/src"]}
END
mv policy.yaml "$tmp/policy.yaml"
printf 'not a program\n' >"$work/text"
chmod +x "$work/text"
secret=$work/src/main.c
port=$((20000 + RANDOM % 20000))
have python3 && { python3 -m http.server --bind 127.0.0.1 "$port" >/dev/null 2>&1 & at_end "kill $!"; }
have python3 && wait_for 5 bash -c "</dev/tcp/127.0.0.1/$port"

# steps WHAT EXPECTED SENTENCE STEP...: the probe's steps, in mode enforce.
steps()
{
	local expected=$1 sentence=$2
	shift 2
	is "$expected" "$engine, ${probe##*profile_}: $sentence" "$(watched --mode enforce --engine "$engine" \
		--policy "$tmp/policy.yaml" -- "$probe" "$@" 2>&1 | xargs)"
}
for engine in $all; do
	for probe in $dynamic $static; do
		case $engine.$probe in preload.*.static) continue ;; esac
		# what a program without the library does differently one engine tells
		case ${AW_FULL:-}.$engine.$probe in .kernel.*.static) continue ;; esac
		steps 'read ok read EACCES' 'a profile holds from the exec on' read="$secret" exec "$probe" in:files read="$secret"
		steps 'read EACCES' 'another one, entered from it, loosens nothing' \
			exec "$probe" in:files exec "$probe" in:loose read="$secret"
		steps 'read EACCES' 'nor does a program that enters none' exec "$probe" in:files exec "$probe" read="$secret"
		steps 'read EACCES net EACCES' 'two hold together' exec "$probe" in:files exec "$probe" in:offline read="$secret" net="$port"
		[ "$engine" = preload ] || [ -z "$static" ] ||
			steps 'read EACCES' 'a static child is in it' exec "$probe" in:files exec "$static" read="$secret"
		steps 'fail ENOEXEC read ok' 'an exec that fails enters nothing' fail="$work/text" read="$secret"
		steps 'vfail ok read ok' 'nor in a vfork child' vfail="$work/text" read="$secret"
		steps 'read EACCES' 'a thread may make the exec' thread "$probe" in:files read="$secret"
		steps 'read EACCES' 'an orphan is in it, whose parents were never heard of' exec "$probe" in:files orphan read="$secret"
		if [ -n "$(pgrep -f "http.server --bind 127.0.0.1 $port")" ]; then
			steps 'net ok net EACCES' 'one has no network' net="$port" exec "$probe" in:offline net="$port"
		fi
	done
done

engine=${all%% *} probe=$dynamic
# behind a sandbox that holds all that the session may not read, openat from the gate would pass
sed 's/^version: 1/&\nprotections: off/' "$tmp/policy.yaml" >"$tmp/gated.yaml"
for runner in exec bwrap; do
	is 'gate ok gate EACCES' "$runner: no gate leads out of a profile" "$(watched --mode enforce --runner $runner \
		--policy "$tmp/gated.yaml" -- "$probe" gate="$secret" exec "$probe" in:files gate="$secret" 2>&1 | xargs)"
done
for runner in exec bwrap; do
	watched --mode enforce --runner $runner --policy "$tmp/policy.yaml" -- sh -c '
		"$0" wait='"$tmp/never"' & other=$!
		"$0" vm=$other fd=$other mem=$other pipe=$other exec "$0" in:files vm=$other fd=$other mem=$other pipe=$other
		kill $other' "$probe" >"$tmp/out" 2>&1
	if grep -q '^vm ok' "$tmp/out"; then
		is 'vm EPERM fd EPERM mem EACCES pipe EACCES' "$runner: from a profile nobody outside of it is looked into" \
			"$(sed 1,4d "$tmp/out" | xargs)"
	else skip "$runner: from a profile nobody outside of it is looked into" 'processes cannot look into each other here'; fi
done
printf '#!%s in:files\n' "$dynamic" >by-interpreter
printf '#!%s\n' "$dynamic" >by-path
chmod +x by-*
is 'read EACCES' 'the interpreter of a script enters' "$(watched --mode enforce --policy "$tmp/policy.yaml" -- ./by-interpreter read="$secret" | xargs)"
is 'net EACCES' 'so does the script itself' "$(watched --mode enforce --policy "$tmp/policy.yaml" -- "$work/by-path" net="$port" | xargs)"
is 'read ok' 'audit refuses nothing' "$(watched --policy "$tmp/policy.yaml" -- "$probe" in:files read="$secret")"
ok 'and says what would be denied, in which profile and by which line' jq -es --arg p "$secret" 'any(.[]; .path == $p
	and .verdict == "deny" and .enforced == false and .profile == "files" and .rule.line == 7)' "$log"
is deny 'policy explain --profile asks for it' \
	"$("$AGENTWATCH" policy explain --policy "$tmp/policy.yaml" --runner exec --profile files --read "$secret" | awk 'NR == 1 {print $1}')"
is allow 'and without it not' "$("$AGENTWATCH" policy explain --policy "$tmp/policy.yaml" --runner exec --read "$secret" | awk 'NR == 1 {print $1}')"
like 'profiles.offline.network.default: deny' 'its default is named' \
	"$("$AGENTWATCH" policy explain --policy "$tmp/policy.yaml" --runner exec --profile offline --connect 10.0.0.1:1)"
like "no profile 'x'" 'one that is not there is an error' "$("$AGENTWATCH" policy explain --policy "$tmp/policy.yaml" --profile x --read / 2>&1)"

case " $all " in *" preload "*)
	like 'network.default of profile offline is held by shim' '--require lists what a profile is held by' \
		"$(watched --mode enforce --engine preload --require supervisor --policy "$tmp/policy.yaml" -- true 2>&1)" ;;
esac

# A reload keeps who is in what, and changes what it means.
watched --mode enforce --session reloaded --policy "$tmp/policy.yaml" -- "$probe" in:files read="$secret" wait="$tmp/go" read="$secret" \
	read="$work/docs/one.txt" >"$tmp/out" 2>&1 &
wait_for 5 grep -q read "$tmp/out"
sed -i "s|^profiles:|profiles:\n  first: {when: {exec: nothing}}|; s|deny: \[\"$work/src\"\]|deny: [\"$work/docs\"]|" "$tmp/policy.yaml"
"$AGENTWATCH" policy reload reloaded >/dev/null 2>"$tmp/err" || note "$(cat "$tmp/err")"
touch "$tmp/go"
wait $!
is 'read EACCES read ok read EACCES' 'a reload keeps a process in its profile' "$(xargs <"$tmp/out")"

# --- real servers behind a host ---

have node && have jq || { skip 'MCP servers' 'node and jq are needed'; done_testing; }
dir=$(agents_dir mcp-server-filesystem) || { skip 'MCP servers' 'they are not installed; see make agents'; done_testing; }
modules=$dir/node_modules/@modelcontextprotocol
host=(node "$root/tests/agents/mcp_host.js")

# tool NAME ARGUMENTS; server NAME COMMAND... <TOOLS: a line of $tmp/servers.
tool() { jq -nc --arg n "$1" --argjson a "$2" '{name: $n, arguments: $a}'; }
server() { jq -sc --arg n "$1" '{name: $n, argv: $ARGS.positional, tools: .}' --args "${@:2}"; }
filesystem=(node "$modules/server-filesystem/dist/index.js" "$work")
{
	{ tool read_text_file "{\"path\":\"$work/docs/one.txt\"}"; tool read_text_file "{\"path\":\"$secret\"}"; } |
		server files "${filesystem[@]}"
	tool echo '{"message":"hello"}' | server all node "$modules/server-everything/dist/index.js" stdio
} >"$tmp/servers"
# one of them stands in the workspace's file, the other only looks like a server
jq -n '{mcpServers: {docs: {command: "node", args: $ARGS.positional}}}' --args "${filesystem[@]:1}" >.mcp.json
cat >"$tmp/policy.yaml" <<END
version: 1
filesystem: {default: read-only, write: ["\$WORKSPACE"]}
profiles:
  docs-only:
    when: {mcp: docs}
    filesystem: {default: deny, read: ["\$WORKSPACE/docs", "/usr", "/etc", "/sys", "$dir", "$(dirname "$(readlink -f "$(command -v node)")")"]}
  offline:
    when: {mcp: "server-*"}
    network: {default: deny}
END
# servers SENTENCE OPTION...: both under one session in mode enforce.
servers()
{
	local name=$1
	shift
	watched --mode enforce --policy "$tmp/policy.yaml" "$@" -- "${host[@]}" "$tmp/servers" >"$tmp/out" 2>"$tmp/err"
	is "files: words|files: EACCES: permission denied, open '$secret'|all: Echo: hello" \
		"$name: one server reads its folder alone, the other works" "$(paste -sd '|' "$tmp/out")"
	ok "$name: the denial has profile, server and strength" jq -es --arg p "$secret" --arg n "$name" 'any(.[]; .path == $p and
		.verdict == "deny" and .profile == "docs-only" and .mcp == "docs" and .strength == (if $n == "preload" then "shim" else "supervisor" end))' "$log"
}
for engine in $all; do
	[ "$engine" != kernel ] || continue # the probe has told
	servers "$engine" --engine "$engine"
	ok "$engine: all that a server does has both, its exec and end too" jq -es '[.[] | select(.mcp == "docs")]
		| length > 5 and all(.profile == "docs-only") and any(.event == "exec") and any(.event == "exit")' "$log"
	ok "$engine: a server that no file names has its package's" jq -es '[.[] | select(.mcp == "server-everything")]
		| all(.profile == "offline") and any(.event == "exec") and any(.event == "call")' "$log"
	ok "$engine: the host has none" jq -es '[.[] | select((.argv // []) | any(endswith("mcp_host.js")))]
		| all(.mcp == null and .profile == null)' "$log"
done
is docs 'log --mcp shows one server alone' "$("$AGENTWATCH" log "$log" --json --mcp docs | jq -r .mcp | sort -u)"
is 'docs server-everything' 'a pattern takes several' "$("$AGENTWATCH" log "$log" --json --mcp '*' | jq -r .mcp | sort -u | xargs)"
is offline 'log --profile does the same for profiles' "$("$AGENTWATCH" log "$log" --json --profile off* | jq -r .profile | sort -u)"
like 'docs:node' 'the table says which server a program is' "$("$AGENTWATCH" log "$log" --mcp docs --path docs/one.txt)"
for runner in bwrap landlock; do
	is_root || [ $runner = bwrap ] || continue
	if "$AGENTWATCH" run --quiet --mode enforce --runner $runner --log none -- true >/dev/null 2>"$tmp/err"; then
		servers $runner --runner $runner
	else skip "servers behind $runner" "$(tail -n 1 "$tmp/err")"; fi
done
is 0 'a pipeline that mentions the word is no server' \
	"$(watched -- sh -c 'echo mcp | grep mcp | cat' >/dev/null; jq -r 'select(.mcp) | .mcp' "$log" | wc -l)"
done_testing
