#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_own_sandbox.sh - a program whose own sandbox is refused: stderr says so once, and what to switch off.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have unshare || skip_all 'no unshare'
cp "$(type -P unshare)" "$tmp/chromium"
cp "$(type -P bash)" "$tmp/codex"
cp "$(type -P bash)" "$tmp/agent"

# lines OPTION... -- COMMAND...: what agentwatch itself says of sandboxes.
lines() { "$AGENTWATCH" run --log none --runner exec "$@" 2>&1 >/dev/null | grep '^agentwatch: .* sandbox of its own'; }

is "agentwatch: $tmp/chromium cannot have a sandbox of its own inside agentwatch's: start the browser with --no-sandbox --no-zygote" \
	'a browser' "$(lines --mode enforce -- "$tmp/chromium" -U true)"
is "agentwatch: $tmp/codex cannot have a sandbox of its own inside agentwatch's: start codex with --sandbox danger-full-access" \
	'what an agent starts, twice: one line, which names the agent' \
	"$(lines --mode enforce -- "$tmp/codex" -c 'sh -c "unshare -U true; unshare -U true; true"; true')"
like "^agentwatch: .*unshare cannot have .*: switch off that of the program that wants it$" \
	'another program' "$(lines --mode enforce -- "$tmp/agent" -c 'unshare -U true; true')"
is '' 'nothing with --quiet' "$(lines --quiet --mode enforce -- "$tmp/chromium" -U true)"
is '' 'nothing in audit' "$(lines --mode audit -- "$tmp/chromium" -U true)"
is '' 'nothing where none was wanted' "$(lines --mode enforce -- "$tmp/codex" -c true)"
done_testing
