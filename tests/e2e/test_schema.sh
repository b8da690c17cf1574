#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_schema.sh - the JSON Schema, the page of keys and the parser say the same.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
cd "$root" || exit 1

"$AGENTWATCH" policy schema >"$tmp/schema.json"
is 0 'policy schema prints one' $?
schema=$(dirname "$AGENTWATCH")/policy.schema.json
if [ -e "$schema" ]; then same "$schema" "$tmp/schema.json" 'the build makes the same'; fi
"$AGENTWATCH" policy schema --format markdown >"$tmp/KEYS.md"
same docs/KEYS.md "$tmp/KEYS.md" 'docs/KEYS.md is as `make docs/KEYS.md` writes it'
is 2 'it takes no arguments' "$("$AGENTWATCH" policy schema x >/dev/null 2>&1; echo $?)"

python=/usr/bin/python3
$python -c 'import jsonschema, yaml; jsonschema.Draft202012Validator' 2>/dev/null ||
	{ skip 'a validator agrees with the parser' 'no python3-jsonschema and python3-yaml'; done_testing; }
# Keys that the guide names in its tables are keys of the schema.
is '' 'each top-level key of the guide is in the schema' "$(sed -n '/^## Keys/,/^## /s/^| `\([a-z_]*\)` .*/\1/p' docs/POLICY.md |
	while read -r key; do jq -e ".properties | has(\"$key\")" "$tmp/schema.json" >/dev/null || echo "$key"; done)"
is 0 'each key has a description' "$(jq '[.. | .properties? // empty | .[] | select(.description | not)] | length' "$tmp/schema.json")"
unset PYTHONPATH VIRTUAL_ENV
files=(examples/*/policy.yaml data/presets/*.yaml tests/golden/*.yaml)
for file in tests/golden/errors/*.yaml; do
	case $file in */untrusted-* | */system-*) ;; *) files+=("$file") ;; esac
done
# Where the keys of other versions or tools would go, the schema says no as the parser does.
n=0
while read -r text; do
	echo "$text" >"$tmp/odd$((++n)).yaml"
	files+=("$tmp/odd$n.yaml")
done <<'END'
{}
{version: 2}
{version: 1.5}
{version: true}
{version: 1, mode: Enforce}
{version: 1, filesytem: {}}
{version: 1, filesystem: {allow: []}}
{version: 1, filesystem: {deny: "/x"}}
{version: 1, filesystem: {expose: [{target: /x}]}}
{version: 1, network: {allow: [""]}}
{version: 1, limits: {memory: 2x}}
{version: 1, limits: {processes: 0}}
{version: 1, limits: {cpus: 0}}
{version: 1, protections: {git: off}}
{version: 1, protections: none}
{version: 1, environment: {inherit: some}}
{version: 1, environment: {set: [A]}}
{version: 1, environment: {redirect_home: maybe}}
{version: 1, preset: node}
END
HOME=/home/ann $python tests/e2e/schema.py "$AGENTWATCH" "$tmp/schema.json" "${files[@]}" >"$tmp/said" 2>"$tmp/err"
is 0 'the validator runs' $?
[ ! -s "$tmp/err" ] || note "$(cat "$tmp/err")"
relay '' <"$tmp/said"
is 0 'what is odd is refused by the parser' "$("$AGENTWATCH" policy check "$tmp"/odd*.yaml | grep -c 'no mistakes')"
done_testing
