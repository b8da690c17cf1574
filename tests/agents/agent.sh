#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# agent.sh NPMDIR AGENT [PREFIX...]: one real agent against the model stand-in, end to end.
#
# AGENT: claude | codex | opencode | gemini | qwen | none.  The model asks for a shell command
# and for a written file.  PREFIX wraps the agent (agentwatch run --).  Run it where loopback is
# all the network there is.  Prints PASS or FAIL, status and time; AGENT_DIR keeps the folders
# (home, w, tmp, out, err); AGENT_CMD is the shell command in place of the usual one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$1/node_modules/.bin agent=$2
shift 2
prefix=("$@")

dir=${AGENT_DIR:-$(mktemp -d)}
work=$dir/w
mkdir -p "$work" "$dir/home" "$dir/tmp"
[ -n "${AGENT_DIR:-}" ] || trap 'rm -rf "$dir"' EXIT

shell=${AGENT_CMD:-"echo agent-ran > agent-ran.txt; id -u; /bin/true"}
write=',{"path":"'$work/written.txt'","content":"written by agent\n"}'
if [ "$agent" = codex ]; then # its write tool is a patch program, so the shell writes
	shell="$shell; echo written by agent > written.txt" write=
fi
plan='{"steps":[{"cmd":"'$shell'"}'$write'],"final":"ALL DONE"}'

node "$here/fake-model.js" "$dir/port" "$dir/requests" "$plan" &
model=$!
until [ -s "$dir/port" ]; do sleep 0.02; done
url=http://127.0.0.1:$(cat "$dir/port")

cd "$work" || exit 1
git init -q . 2>/dev/null

# run NAME=VALUE... -- COMMAND...: in an environment of its own, watched by the prefix.
run()
{
	local settings=()
	while [ "$1" != -- ]; do settings+=("$1"); shift; done
	shift
	env -i "PATH=$PATH" "HOME=$dir/home" "TMPDIR=$dir/tmp" TERM=xterm ${AGENT_ENV:-} "${settings[@]}" \
		timeout -k 5 120 ${prefix[@]+"${prefix[@]}"} "$@" </dev/null >"$dir/out" 2>"$dir/err"
}

start=$(date +%s%N)
case $agent in
claude)
	run IS_SANDBOX=1 "ANTHROPIC_BASE_URL=$url" ANTHROPIC_API_KEY=dummy DISABLE_AUTOUPDATER=1 \
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 -- \
		"$bin/claude" -p 'do it' --model claude-sonnet-4-5 --dangerously-skip-permissions
	;;
codex)
	mkdir -p "$dir/home/.codex"
	cat >"$dir/home/.codex/config.toml" <<-END
		model = "fake"
		model_provider = "fake"
		[analytics]
		enabled = false
		[features]
		plugins = false
		apps = false
		[model_providers.fake]
		name = "fake"
		base_url = "$url/v1"
		wire_api = "responses"
		env_key = "FAKE_KEY"
		request_max_retries = 0
		stream_max_retries = 0
	END
	run FAKE_KEY=dummy -- \
		"$bin/codex" exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox 'do it'
	;;
opencode)
	# as its first start leaves them: it writes to its configuration only then
	mkdir -p "$dir/home/.config/opencode"
	echo '{"$schema": "https://opencode.ai/config.json"}' >"$dir/home/.config/opencode/opencode.jsonc"
	cat >opencode.json <<-END
		{"\$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled", "model": "fake/fake", "small_model": "fake/fake",
		 "permission": "allow",
		 "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake",
		  "options": {"baseURL": "$url/v1", "apiKey": "dummy"},
		  "models": {"fake": {"name": "fake", "tool_call": true, "limit": {"context": 100000, "output": 8000}}}}}}
	END
	run OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 \
		OPENCODE_DISABLE_DEFAULT_PLUGINS=1 -- "$bin/opencode" run 'do it'
	;;
gemini)
	mkdir -p "$dir/home/.gemini"
	echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false},
		"privacy": {"usageStatisticsEnabled": false}}' >"$dir/home/.gemini/settings.json"
	run GEMINI_API_KEY=dummy "GOOGLE_GEMINI_BASE_URL=$url" GEMINI_CLI_TRUST_WORKSPACE=true -- \
		"$bin/gemini" -p 'do it' -y -m gemini-2.5-flash
	;;
qwen)
	mkdir -p "$dir/home/.qwen"
	echo '{"privacy": {"usageStatisticsEnabled": false}, "$version": 4}' >"$dir/home/.qwen/settings.json"
	run OPENAI_API_KEY=dummy "OPENAI_BASE_URL=$url/v1" OPENAI_MODEL=fake -- \
		"$bin/qwen" -p 'do it' -y --auth-type openai
	;;
*) echo "agent.sh: do not know $agent" >&2; kill $model; exit 2 ;;
esac
rc=$?
ms=$((($(date +%s%N) - start) / 1000000))
kill $model
wait $model 2>/dev/null

result=FAIL
grep -q agent-ran agent-ran.txt 2>/dev/null && grep -q 'written by agent' written.txt 2>/dev/null &&
	grep -q 'ALL DONE' "$dir/out" && result=PASS
echo "$agent $result rc=$rc ${ms}ms requests=$(grep -c '"POST"' "$dir/requests")"
[ $result = PASS ] && exit 0
tail -c 600 "$dir/out"
tail -c 900 "$dir/err"
exit 1
