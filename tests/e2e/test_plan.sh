#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_plan.sh - sandboxes as text: what policy show --plan prints is what tests/golden has.
#
# NAME.yaml is a policy, NAME.RUNNER.root and NAME.RUNNER.user what comes out of it for a
# small tree; only lines about the tree, and options without a path, are compared, since
# the rest is different on every machine.  AW_GOLDEN=write writes them anew.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
unset AGENTWATCH_RUNNER
who=user
is_root && who=root
golden=$root/tests/golden
export HOME=$tmp/tree/home TMPDIR=$tmp/tree/tmp
mkdir -p "$HOME/.ssh" "$HOME/docs" "$tmp/tree/repo/.git/hooks" "$TMPDIR"
touch "$HOME/.ssh/id" "$HOME/.ssh/known_hosts" "$HOME/.netrc" "$HOME/notes" "$tmp/tree/repo/.env"
ln -s docs "$HOME/link"
cd "$tmp/tree/repo" || exit 1

# The order in a plan is by path: a copy of the program stands at a known place beside the tree.
parts=$tmp/parts
mkdir "$parts"
cp -R "$(dirname "$AGENTWATCH")"/{agentwatch,agentwatch-enter,libagentwatch.so,presets} "$parts"
normal()
{
	sed -e "s|$tmp/tree|TREE|g" -e "s|$parts|PARTS|g" \
		-e 's|^/[a-z/]*/\(bwrap\|firejail\)|\1|' -e 's| \\$||' |
		grep -E 'TREE|PARTS|SESSION|^[^/]*$| / / *$|^[a-z]+ +/ |read-only /$'
}

for policy in "$golden"/*.yaml; do
	name=$(basename "$policy" .yaml)
	for runner in bwrap firejail; do
		want=$golden/$name.$runner.$who
		"$parts/agentwatch" policy show --plan --policy "$policy" --runner $runner 2>&1 | normal >"$tmp/got"
		[ "${AW_GOLDEN:-}" != write ] || cp "$tmp/got" "$want"
		same "$want" "$tmp/got" "$name for $runner as $who"
	done
done
is '' 'nothing was made' "$(find "$tmp/tree" -newer "$tmp/got")"
done_testing
