#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_policy_check.sh - policy check: mistakes, and entries that do nothing.
. "$(dirname "$0")/../tap.sh"
need_agentwatch

mkdir -p "$tmp/home/.ssh" "$tmp/ws/.git" "$tmp/real/sub" "$tmp/tmp" "$tmp/config/agentwatch"
export HOME=$tmp/home TMPDIR=$tmp/tmp
ln -s real "$tmp/link"
echo x >"$tmp/plain"
check() { (cd "$tmp/ws" && "$AGENTWATCH" policy check "$@"); }
# found POLICY-TEXT: "line:column check" of all that is found in it, warnings alone.
found() { printf 'version: 1\n%s\n' "$1" >"$tmp/p.yaml"; check --json "${@:2}" "$tmp/p.yaml" | jq -r '"\(.line):\(.column) \(.check)"' | xargs; }
text() { check "$tmp/p.yaml"; }
files() { found "filesystem: {default: read-only, $1}" "${@:2}"; }

# Nothing to say about what is right, whatever the folders are called here.
is '' 'lists that are right' "$(files 'write: [$WORKSPACE, $TMPDIR, /tmp, ~/.cache, "~/.cache-*"], deny: ["**/.env", "**/.env.*", "!**/.env.example", ~/secret, "!~/secret/ok"]')"
is '' 'a folder below another one only here' "$(files "write: [$tmp, \$WORKSPACE, \$TMPDIR]" --workspace "$tmp/ws")"
is '' 'an exception of an exception' "$(files 'write: [/a, "!/a/b", /a/b/c]')"
is '' 'an entry that is wider by one sign' "$(files 'deny: ["/a/?", "/a/[!b]*"]')"
is '' 'an exception of the denial' "$(files 'write: ["/a/*"], deny: ["/a", "!/a/b"]')"
is '' 'an exception for another layer' "$(files 'deny: ["!/a"]')"
is '' 'a name, for programs in a folder' "$(found 'exec: {default: deny, allow: ["/usr/bin/*", "!git", "!/usr/bin/wget"]}')"
is '' 'arguments' "$(found 'exec: {deny: ["git push *", "!git push --dry-run", "git -C *"]}')"
is '' 'addresses' "$(found 'network: {default: deny, allow: ["10.0.0.0/8", "!10.1.0.0/16", "api.example.com:443", "api.example.com:80", "*:22", "!x.example.com"], deny: ["*.example.net"]}')"
is "$tmp/p.yaml: no mistakes" 'and it says so' "$(text)"

# Entries of one list, and what they do to each other.
is '2:41 double' 'twice' "$(files 'deny: ["/a", "/b", "/a"]')"
like '2:41: warning: "/a" stands in this list again in line 2, where it counts' 'with a sentence' "$(text)"
is '2:41 double' 'twice by other words' "$(files 'deny: ["~/a", "$HOME/a"]')"
is '2:47 redundant' 'inside a folder that is in' "$(files 'deny: ["/a", "/a/b/*.x"]')"
like '"/a/b/\*.x" adds nothing: "/a" in line 2 covers it' 'with both' "$(text)"
is '2:41 redundant' 'also behind it' "$(files 'deny: ["/a/b", "/a"]')"
is '2:41 overruled' 'an exception in front of its rule' "$(files 'deny: ["!**/.env.example", "**/.env*"]')"
like 'never counts: "\*\*/.env\*" in line 2 puts all of it in again, and the last entry that matches decides' 'says what is wrong' "$(text)"
is '2:41 overruled' 'what is taken out as a whole' "$(files 'deny: ["/a/b", "!/a"]')"
is '2:48 nothing-taken-out' 'an exception of nothing' "$(files 'deny: ["/ab", "!/b"]')"
is '2:21 redundant 2:50 redundant' 'programs' "$(found 'exec: {deny: [sudo, "git push --force", "git *", "git push*"]}')"
is '2:51 redundant' 'addresses' "$(found 'network: {default: deny, allow: ["10.0.0.0/8:80", "10.1.2.3:80"]}')"
is '2:57 nothing-taken-out' 'an exception at another port' "$(found 'network: {default: deny, allow: ["api.example.com:443", "!*.example.com:80"]}')"
is '' 'one at the same' "$(found 'network: {default: deny, allow: ["api.example.com", "!*.example.com:400-500"]}')"
is '' 'but not other ports' "$(found 'network: {default: deny, allow: ["10.0.0.0/8:80", "10.1.2.3:81"]}')"

# An allow under a deny, of this file or of the protections.
is '2:42 denied' 'what a denial refuses anyway' "$(files 'write: ["/a/b"], deny: ["/a"]')"
like '"/a/b" has no effect: "/a" \(deny, .*/p.yaml:2\) refuses all of it, and deny beats write; an exception is written as a "!" entry there' 'with its place' "$(text)"
is '2:41 denied' 'what is protected' "$(files 'read: ["~/.ssh/known_hosts"]')"
like 'private-keys: ~/.ssh.*protections: \{private-keys: off\} would switch it off' 'and how to have it' "$(text)"
is '2:35 denied' 'programs, too' "$(found 'exec: {default: deny, allow: [ls, sudo], deny: ["su*"]}')"
is '' 'what is denied in part is fine' "$(files 'write: ["/a"], deny: ["/a/b"], deny_write: ["/a/c"]')"

# This machine and this version.
is '2:41 below-file' 'below a file' "$(files "deny: [\"$tmp/plain/x\"]")"
is '2:41 link' 'through a link' "$(files "deny: [\"$tmp/link/sub/*.x\"]")"
like "never matches: $tmp/link is a symbolic link, and the file that is reached is judged: name $tmp/real/sub/\*.x" 'with the name to use' "$(text)"
is '2:41 link' 'a link itself' "$(files "deny: [\"$tmp/link\"]")"
is '' 'unless what it leads to is named, too' "$(files "deny: [\"$tmp/link\", \"$tmp/real\"]")"
is '2:41 impossible' 'where nothing can be' "$(files 'deny: ["/proc/nothing/**"]')"
is '' 'but processes come' "$(files 'deny: ["/proc/999999/mem"]')"
is '3:34 wildcard-host' 'names that cannot be looked up' "$(found $'engine: preload\nnetwork: {default: deny, allow: ["*.example.com:443"]}')"
is '3:57 wildcard-host' 'so a name that one covers is needed' "$(found $'engine: preload\nnetwork: {default: deny, allow: ["api.example.com:443", "*.example.com:443"]}')"
is '' 'where names are answered for they are fine' "$(found 'network: {default: deny, allow: ["*.example.com:443"]}')"
is '2:39 redundant' 'unless it is denied' "$(found 'network: {deny: ["*.example.com:443", "api.example.com:443"]}')"
is '' 'what is denied by name can be' "$(found 'network: {deny: ["*.example.com"]}')"
is 0 'warnings are no failure' "$(check "$tmp/p.yaml" >/dev/null; echo $?)"

# Notes are for those who want them.
printf 'version: 1\nmode: enforce\nfilesystem: {default: read-only, write: ["%s/no"]}\nexec: {deny: [sudo, "git push*"]}\n' "$tmp" >"$tmp/p.yaml"
is "$tmp/p.yaml: no mistakes" 'no notes without a word' "$(text)"
is "note nothing-there note arguments" 'notes' "$(check --json -v --engine preload "$tmp/p.yaml" | jq -r 'select(.check != "soft") | "\(.severity) \(.check)"' | xargs)"
printf 'version: 1\nfilesystem: {default: read-only, deny: ["%s/*.none", "%s/pl?in", "**/none"]}\n' "$tmp" "$tmp" >"$tmp/q.yaml"
like "^[^ ]*q.yaml:2:41: note: \"$tmp/\*.none\" matches nothing today in $tmp\$" 'patterns, too' "$(check -v "$tmp/q.yaml" | grep note)"
is "sudo shim" 'what is held softly, by what' "$(check --json -v --engine preload "$tmp/p.yaml" | jq -r 'select(.check == "soft") | .text' | sed 's/^"\(.*\)" is held by \([a-z]*\) with runner exec, engine preload.*/\1 \2/')"
said=$(check --require supervisor --engine preload "$tmp/p.yaml")
is 1 'what must be held and is not is an error' "$(check --require supervisor --engine preload "$tmp/p.yaml" >/dev/null; echo $?)"
like 'p.yaml:4:15: error: deny "sudo" is held by shim at best with runner exec, engine preload .*run --require supervisor would not start' 'with runner and engine' "$said"
like 'filesystem.default is held by shim' 'defaults, too' "$said"

# Mistakes: all of them, and the status.
printf 'version: 1\nmdoe: audit\nfilesystem: {deny: [x, "/a["]}\n' >"$tmp/bad.yaml"
is '2:1 error load 3:21 error load 3:24 error load' 'every mistake at once' "$(check --json "$tmp/bad.yaml" | jq -r '"\(.line):\(.column) \(.severity) \(.check)"' | xargs)"
is 1 'they are a failure' "$(check "$tmp/bad.yaml" "$tmp/p.yaml" >/dev/null; echo $?)"
like "did you mean 'mode'.*p.yaml: no mistakes" 'each file by itself' "$(check "$tmp/bad.yaml" "$tmp/p.yaml" | tr '\n' ' ')"
is 1 'a file that is not there' "$(check "$tmp/nothing" >/dev/null 2>&1; echo $?)"
is 2 'a runner for nothing' "$(check --engine no-such "$tmp/p.yaml" >/dev/null 2>&1; echo $?)"

# Without a file: the layers that count here, together.
is 'no policy file counts here' 'no layers' "$(check)"
printf 'version: 1\nfilesystem: {default: read-only, write: ["$WORKSPACE"], deny: ["/a"]}\n' >"$tmp/config/agentwatch/policy.yaml"
printf 'version: 1\nfilesystem: {deny: ["/a/b", "!/c", "/d", "/d/e"]}\n' >"$tmp/ws/.agentwatch.yaml"
is "$tmp/config/agentwatch/policy.yaml: no mistakes" 'one that is right' "$(check | grep 'no mistakes')"
is "$tmp/ws/.agentwatch.yaml:2:29 nothing-taken-out $tmp/ws/.agentwatch.yaml:2:42 redundant" 'another one is not' "$(check --json | jq -r '"\(.file):\(.line):\(.column) \(.check)"' | xargs)"
printf 'version: 1\nfilesystem: {deny: ["!/a"], write: ["/q"], deny_write: ["/a"]}\n' >"$tmp/top.yaml"
is '' 'a layer may override another one' "$(check --json --policy "$tmp/top.yaml" | jq -r 'select(.file | endswith("top.yaml"))')"
rm "$tmp/config/agentwatch/policy.yaml" "$tmp/ws/.agentwatch.yaml"

# What ships is right.
is '' 'examples' "$(check "$root"/examples/*/policy.yaml | grep -v 'no mistakes')"
is '' 'presets' "$(check "$(dirname "$AGENTWATCH")"/presets/*.yaml | grep -v 'no mistakes')"
done_testing
