#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_edges.sh - very many descriptors, very long names, names that are no text: as bare.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
python=$(command -v /usr/bin/python3 python3 | head -n 1)
[ -n "$python" ] || skip_all 'no python3'
mkdir "$tmp/ground"
cat >"$tmp/policy.yaml" <<-END
	version: 1
	mode: enforce
	filesystem: {default: read-only, write: ["$tmp/ground"]}
	network: {default: deny, listen: ["unix:$tmp/ground"]}
END

# edges PREFIX...: its output and status, from an empty folder.
edges()
{
	rm -rf "$tmp/ground"
	mkdir "$tmp/ground"
	"$@" "$python" "$root/tests/e2e/edges.py" "$tmp/ground" 2>&1
	echo "status $?"
}

edges env >"$tmp/bare"
like 'bytes removed ok' 'bare: it comes to its end' "$(cat "$tmp/bare")"
for engine in $(engines); do
	edges "$AGENTWATCH" run --quiet --log "$tmp/log" --engine "$engine" -- >"$tmp/got"
	same "$tmp/bare" "$tmp/got" "$engine, audit: the same as bare"
	ok "$engine, audit: every line of the log is JSON in UTF-8" "$python" -c \
		'import json, sys; [json.loads(line.decode("utf-8")) for line in open(sys.argv[1], "rb")]' "$tmp/log"
done
grep -v '^deep' "$tmp/bare" >"$tmp/shallow"
for runner in exec landlock bwrap; do
	if ! "$AGENTWATCH" run --quiet --mode enforce --runner $runner --log none -- true 2>"$tmp/why"; then
		skip "enforce behind $runner" "$(tail -n 1 "$tmp/why")"
		continue
	fi
	edges "$AGENTWATCH" run --quiet --log "$tmp/log" --runner $runner --policy "$tmp/policy.yaml" -- >"$tmp/got"
	same "$tmp/shallow" <(grep -v '^deep' "$tmp/got") "enforce, $runner: the same as bare"
	is 'deep create File name too long deep mkdir File name too long' "enforce, $runner: what has no name is refused" \
		"$(grep '^deep' "$tmp/got" | paste -sd ' ')"
	ok "enforce, $runner: every line of the log is JSON in UTF-8" "$python" -c \
		'import json, sys; [json.loads(line.decode("utf-8")) for line in open(sys.argv[1], "rb")]' "$tmp/log"
done
done_testing
