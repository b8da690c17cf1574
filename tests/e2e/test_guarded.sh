#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_guarded.sh - what is protected by name stays so, whatever gets that name or loses it.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have python3 || skip_all 'no python3; apt-get install it'
export HOME=$tmp/w/home
unset XDG_CONFIG_HOME
cat >"$tmp/policy.yaml" <<'END'
version: 1
filesystem:
  default: read-only
  write: ["$WORKSPACE"]
  deny_write: ["$WORKSPACE/patterned/**/secret.env"]
  deny: ["**/pattern.env", "$WORKSPACE/held/key", "$WORKSPACE/held/sub"]
END
runners=()
for runner in exec landlock bwrap; do
	if "$AGENTWATCH" run --quiet --mode enforce --runner $runner --log none -- true >/dev/null 2>"$tmp/err"; then
		runners+=($runner)
	else
		skip "behind $runner" "$(tail -n 1 "$tmp/err")"
	fi
done

stage()
{
	rm -rf "$tmp/w"
	mkdir -p "$tmp/w/home" "$tmp/w/patterned" "$tmp/w/held/sub"
	echo SECRET >"$tmp/w/held/key"
	echo SECRET >"$tmp/w/held/pattern.env"
	echo SECRET >"$tmp/w/held/sub/key"
	echo plain >"$tmp/w/held/open"
	echo 'odd name' >"$tmp/w/held/note (deleted)"
	echo plain >"$tmp/w/held/note"
	cd "$tmp/w" || exit 1
}
enforced() { "$AGENTWATCH" run --quiet --mode enforce --policy "$tmp/policy.yaml" --log "$log" "$@" 2>&1; }

for runner in "${runners[@]}"; do
	stage
	relay "$runner: " < <(enforced --runner "$runner" -- python3 "$root/tests/e2e/guarded.py")
done
stage
relay 'engine kernel: ' < <(enforced --engine kernel --runner exec -- python3 "$root/tests/e2e/guarded.py")
ok 'the log names the rule' jq -es 'any(.[]; .verdict == "deny" and .enforced and (.path | endswith("/.claude")) and
	(.rule.text | contains(".claude/settings.json")))' "$log"

stage
is '' 'audit lets a link be made' "$("$AGENTWATCH" run --quiet --log "$log" -- sh -c 'mkdir x; ln -s x .claude; ln -s x other; mv other .gemini' 2>&1)"
is 2 'and says what enforce would refuse' "$(jq -s '[.[] | select(.verdict == "deny" and .enforced == false and
	((.call | startswith("symlink")) or (.call | startswith("rename"))))] | length' "$log")"
cd / || exit 1
done_testing
