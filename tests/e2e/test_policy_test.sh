#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_policy_test.sh - policy test: what files expect is compared with what the policy answers.
. "$(dirname "$0")/../tap.sh"
need_agentwatch

# aw ARG...: policy test from the workspace; what it prints is in $out, the status in $rc.
mkdir -p "$tmp/ws/sub" "$tmp/config/agentwatch/agents" "$tmp/home"
export HOME=$tmp/home TMPDIR=/nowhere
aw() { out=$(cd "$tmp/ws" && "$AGENTWATCH" policy test "$@" 2>"$tmp/err"); rc=$?; err=$(cat "$tmp/err"); }
line() { sed -n "$1p" <<<"$out"; }

cat >"$tmp/good.yaml" <<'END'
version: 1
filesystem:
  default: read-only
  write: ["$WORKSPACE"]
  deny: ["**/.env*", "!**/.env.example"]
  hide: ["~/.netrc"]
  ask: ["~/Documents"]
exec: {deny: [sudo, "git push --force*"]}
network: {default: deny, allow: ["api.example.com:443", "unix:$WORKSPACE/s"], listen: ["localhost:*"]}
tests:
  - {read: "$WORKSPACE/.env", expect: deny}
  - {read: "$WORKSPACE/sub/.env.example", expect: allow, name: "the example of a .env # is no secret"}
  - {read: ~/.netrc, expect: hide}
  - {create: ~/.netrc, expect: deny}
  - {write: ~/Documents/a, expect: ask}
  - {delete: "$WORKSPACE/x", expect: allow}
  - {exec: sudo id, expect: deny}
  - {exec: no-such-program-here --version, expect: allow}
  - {exec: git push --force-with-lease, expect: deny}
  - {connect: "api.example.com:443", expect: allow}
  - {connect: "unix:$WORKSPACE/s", expect: allow}
  - {listen: "127.0.0.1:80", expect: allow}
  - {listen: 80, expect: deny, mode: enforce}
END
aw "$tmp/good.yaml"
is 0 'a file that is as it expects' "$rc"
is "ok 1 - $tmp/good.yaml:11: read \$WORKSPACE/.env: deny" 'each entry is a line with its place' "$(line 1)"
is "ok 2 - $tmp/good.yaml:12: the example of a .env ? is no secret" 'or its name, of which nothing is a directive' "$(line 2)"
is 1..13 'the plan comes last' "$(line 14)"
like "80 in enforce: deny" 'a mode is named' "$(line 13)"
is '' 'and nothing is said besides' "$err"

sed 's/expect: hide/expect: deny/; s/"!\*\*\/.env.example"/"!**\/env.example"/; /network/d; $abase: open' "$tmp/good.yaml" >"$tmp/bad.yaml"
aw "$tmp/bad.yaml"
is 1 'one that is not' "$rc"
is "not ok 2 - $tmp/bad.yaml:11: the example of a .env ? is no secret
# read \$WORKSPACE/sub/.env.example
# which is $tmp/ws/sub/.env.example
# expected allow, got deny by \"**/.env*\" $tmp/bad.yaml:5 (policy)" 'what failed, and the rule that decided' "$(line 2,5)"
like "# expected deny, got hide by \"~/.netrc\" $tmp/bad.yaml:6" 'verdicts are compared exactly' "$out"
like '# expected deny, got allow by the default network.default: allow' 'a default is named' "$out"
aw "$tmp/good.yaml" "$tmp/bad.yaml"
is 1 'several files: one that fails is enough' "$rc"
is 1..26 'they are counted through' "$(tail -n 1 <<<"$out")"

# Without a file: all layers, what they make together, the tests of each.
cat >"$tmp/config/agentwatch/policy.yaml" <<'END'
version: 1
filesystem: {default: read-only, write: ["$WORKSPACE"]}
tests:
  - {write: "$WORKSPACE/a", expect: allow}
  - {write: "$WORKSPACE/generated", expect: allow}
END
cat >"$tmp/ws/.agentwatch.yaml" <<'END'
version: 1
runner: bwrap
filesystem: {deny_write: ["$WORKSPACE/generated"]}
tests:
  - {write: "$WORKSPACE/generated/x", expect: deny, name: generated files are not edited}
END
printf 'version: 1\nexec: {deny: [make]}\n' >"$tmp/config/agentwatch/agents/robot.yaml"
aw
is 1 'without a file, that of all layers' "$rc"
like "not ok 2 - $tmp/config/agentwatch/policy.yaml:5.*got deny by \"\\\$WORKSPACE/generated\" $tmp/ws/.agentwatch.yaml:3 \(workspace\)" 'a layer above changes the answer' "$(tr '\n' ' ' <<<"$out")"
like "ok 3 - $tmp/ws/.agentwatch.yaml:5: generated files" 'a file that is not trusted has tests, too' "$out"
like 'runner.* is ignored' 'warnings are told once' "$err"
is 1 'and once only' "$(grep -c ignored <<<"$err")"
printf 'version: 1\ntests:\n  - {exec: make, expect: allow}\n  - {exec: make all, expect: deny, agent: robot}\n' >"$tmp/top.yaml"
aw --policy "$tmp/top.yaml"
like "ok 4 - $tmp/top.yaml:3: exec make: allow.*ok 5 - $tmp/top.yaml:4: exec make all for robot: deny" 'an entry may be about one agent' "$(tr '\n' ' ' <<<"$out")"
aw --policy "$tmp/top.yaml" --agent robot
like "not ok 4 - .* ok 5 - " 'the command line names the agent of the others' "$(tr '\n' ' ' <<<"$out")"
aw "$tmp/top.yaml"
like "^ok 1 - .* not ok 2 - " 'a file alone has no other layers' "$(tr '\n' ' ' <<<"$out")"

# Nothing to test, nothing that can be tested.
rm -r "$tmp/config/agentwatch" "$tmp/ws/.agentwatch.yaml"
printf 'version: 1\n' >"$tmp/none.yaml"
aw "$tmp/none.yaml"
is "0 1..0 # SKIP there is no 'tests' section in $tmp/none.yaml" 'a file without tests is no failure' "$rc $out"
printf 'version: 1\ntests:\n  - {read: "$WORKSPACE/x"}\n  - {raed: /x, expect: deny}\n' >"$tmp/broken.yaml"
aw "$tmp/broken.yaml" "$tmp/none.yaml"
is 1 'a broken one is' "$rc"
like "broken.yaml:3:5: error: 'expect' is missing.*broken.yaml:4:6: error: unknown key 'raed' in 'tests'; did you mean 'read'" 'each mistake has its place' "$(tr '\n' ' ' <<<"$err")"
like "^not ok 1 - $tmp/broken.yaml: the policy has mistakes" 'and the file is not ok' "$out"
is 125 'run refuses it, too' "$("$AGENTWATCH" run --quiet --log none --policy "$tmp/broken.yaml" -- true 2>/dev/null; echo $?)"
is 0 'but looks at tests no further' "$("$AGENTWATCH" run --quiet --log none --policy "$tmp/bad.yaml" -- true 2>/dev/null; echo $?)"
aw "$tmp/not-there.yaml"
is 1 'a file that is not there' "$rc"

# Examples say of themselves what they do.
aw "$root"/examples/*/policy.yaml
is 0 'every example is as it expects' "$rc"
[ "$rc" = 0 ] || note "$out"
is "$(find "$root/examples" -name policy.yaml | wc -l)" 'and each has tests' "$(grep -c '^ok.*: write \$WORKSPACE/src/main: allow' <<<"$out")"
done_testing
