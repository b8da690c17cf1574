#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_examples.sh - every policy in examples/ loads, and does what its README says in the sandbox that it names.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
need_agentwatch
unset AGENTWATCH_RUNNER # each names its own
alone "$0"

export HOME=$tmp/home TMPDIR=$tmp/tmp GITHUB_TOKEN=secret AWS_KEY=secret MY_TOKEN=secret
work=$tmp/workspace
mkdir -p "$HOME/.ssh" "$TMPDIR" "$work/.git/hooks" "$tmp/elsewhere"
echo key >"$HOME/.ssh/id_test"
echo old >"$tmp/elsewhere/file"
echo SECRET=1 | tee "$work/.env" >"$work/.env.example"
git init -q "$work" 2>/dev/null
cd "$work" || exit 1

"$AGENTWATCH" run --quiet --mode enforce --runner bwrap --log none -- true 2>"$tmp/why" || skip_all "$(cat "$tmp/why")"

for policy in "$root"/examples/*/policy.yaml; do
	name=$(basename "$(dirname "$policy")")
	run() { "$AGENTWATCH" run --quiet --workspace "$work" --policy "$policy" --log "$log" -- "$@" 2>&1; }
	ok "$name: has a README" test -s "$(dirname "$policy")/README.md"
	is "$policy: no mistakes" "$name: the policy is right" "$("$AGENTWATCH" policy check "$policy" 2>&1)"
	ok "$name: and does what its tests say" "$AGENTWATCH" policy test "$policy"
	is bwrap "$name: it names a sandbox" "$(sed -n 's/^runner: //p' "$policy")"
	ok "$name: which is built" test "$(run readlink /proc/self/ns/mnt)" != "$(readlink /proc/self/ns/mnt)"
	is done "$name: the workspace can be changed" "$(run sh -c 'echo x >new && mkdir -p d && mv new d/ && rm -r d && echo done')"
	is done "$name: the temporary folder too" "$(run sh -c 'f=$(mktemp) && rm $f && echo done')"
	like 'ermission denied|Read-only' "$name: other folders cannot" "$(run sh -c "echo new >'$tmp/elsewhere/file'")"
	is old "$name: and are unchanged" "$(cat "$tmp/elsewhere/file")"
	is old "$name: but can be read" "$(run cat "$tmp/elsewhere/file")"
	like 'ermission denied|No such file' "$name: keys cannot be read" "$(run cat "$HOME/.ssh/id_test")"
	like 'ermission denied' "$name: nor .env" "$(run cat .env)"
	is SECRET=1 "$name: the example of one can" "$(run cat .env.example)"
	like 'ermission denied|Read-only' "$name: hooks cannot be planted" "$(run sh -c 'echo x >.git/hooks/post-checkout')"
	is '' "$name: cloud credentials are not in the environment" "$(run sh -c 'echo $AWS_KEY')"
	like 'refused|ECONNREFUSED' "$name: loopback may be spoken to" \
		"$(run python3 -c 'import socket; socket.create_connection(("127.0.0.1", 9))' | tail -n 1)"
	like 'ermission denied' "$name: other addresses may not" \
		"$(run python3 -c 'import socket; socket.create_connection(("192.0.2.1", 443))' | tail -n 1)"
	like 'ermission denied|126' "$name: sudo is refused" "$(run sh -c "cp /bin/true ./sudo; ./sudo; echo \$?; rm sudo" | tail -n 2 | xargs)"
done

if have node; then
	mkdir -p "$work/test"
	echo "require('node:test')('adds', () => require('fs').writeFileSync('out.txt', String(1 + 1)))" >"$work/test/a.test.js"
	"$AGENTWATCH" run --quiet --workspace "$work" --policy "$root/examples/node/policy.yaml" -- node --test test/ >"$tmp/out" 2>&1
	is 0 'node: a test run works to its end' $?
	is 2 'node: with its result' "$(cat "$work/out.txt")"
else skip 'node: a test run' 'no node'; fi
mkdir -p "$work/py"
printf 'import unittest, tempfile, subprocess\nclass T(unittest.TestCase):\n  def test_a(self):\n    with tempfile.TemporaryFile() as f: f.write(b"x")\n    self.assertEqual(subprocess.check_output(["echo", "a"]), b"a\\n")\n' >"$work/py/test_a.py"
(cd "$work/py" && "$AGENTWATCH" run --quiet --workspace "$work" --policy "$root/examples/python/policy.yaml" -- python3 -m unittest -q) >"$tmp/out" 2>&1
is 0 'python: a test run works to its end' $?

# Several tools at once, by presets.
behind() { "$AGENTWATCH" run --quiet --workspace "$work" --policy "$root/examples/$1/policy.yaml" --log "$log" -- "${@:2}" 2>&1; }
git config user.name x && git config user.email x@example.com
is 1 'tools: git commits' "$(behind tools sh -c 'echo a >a && git add a && git commit -qm a && git rev-list --count HEAD')"
is '1' 'tools: python makes an environment' "$(behind tools sh -c 'python3 -m venv --without-pip env && env/bin/python -c "print(1)"')"
if have npm; then
	like 'up to date' 'tools: npm installs' "$(mkdir -p js && cd js && echo '{"name": "app", "version": "1.0.0"}' >package.json && behind tools npm install --offline)"
	ok "tools: npm's cache is there" test -d "$HOME/.npm"
else skip 'tools: npm installs' 'no npm'; fi
if have go; then
	mkdir -p "$work/go" && printf 'module example.com/x\n\ngo 1.16\n' >go/go.mod && printf 'package main\n\nfunc main() { println(2) }\n' >go/x.go
	is 2 'native: go builds' "$(cd go && behind native sh -c 'go build -o x . && ./x')"
else skip 'native: go builds' 'no go'; fi
if have javac; then
	echo 'public class X { public static void main(String[] a) { System.out.println(2); } }' >X.java
	is 2 'native: java compiles and runs' "$(behind native sh -c 'javac X.java && java X')"
else skip 'native: java compiles and runs' 'no javac'; fi

# Each agent behind its own policy, end to end.
dir=${AW_AGENTS_DIR:-$root/build/agents}
declare -A program=([claude-code]=claude [codex]=codex [opencode]=opencode [gemini-cli]=gemini [qwen-code]=qwen)
for name in claude-code codex opencode gemini-cli qwen-code; do
	agent=${program[$name]}
	if [ ! -x "$dir/node_modules/.bin/$agent" ] || [ -n "${AW_QUICK:-}" ]; then
		skip "$agent works behind examples/$name" 'it is not installed (test_agents.sh installs it), or AW_QUICK'
		continue
	fi
	mkdir -p "$tmp/agent-$name"
	got=$(AGENT_DIR=$tmp/agent-$name AGENT_ENV="XDG_STATE_HOME=$XDG_STATE_HOME XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR" \
		bash "$root/tests/agents/agent.sh" "$dir" "$agent" \
		"$AGENTWATCH" run --quiet --workspace "$tmp/agent-$name/w" --policy "$root/examples/$name/policy.yaml" --log "$log" --)
	like "^$agent PASS rc=0" "$agent works behind examples/$name" "$got"
	[[ $got == *PASS* ]] || note "$(jq -r 'select(.event == "call" and .verdict != "allow") | "\(.verdict) \(.call) \(.path // .address) \(.rule.text // "default")"' "$log" 2>/dev/null | sort | uniq -c | sort -rn | head -n 8)"
done
done_testing
