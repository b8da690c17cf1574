#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_prose.sh - pages and help texts keep to short sentences, lines of 100 columns and common words.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have python3 || skip_all 'no python3'
cd "$root" || exit 1
prose=(python3 "$root/tests/prose.py" --ceilings)

# forged SENTENCE PATTERN: the page on stdin is refused, and the finding is named.
forged()
{
	local output
	cat >"$tmp/PAGE.md"
	if output=$("${prose[@]}" /dev/null "$tmp/PAGE.md"); then fail "$1" "accepted: $output"; else
		like "$2" "$1" "$output"
	fi
}
many() { yes "$1" | head -n "$2" | paste -sd' '; }

forged 'a sentence of 41 words is found' 'PAGE.md:3: 41 words' <<<"# Page

$(many word 41 | fold -sw 90)."
forged 'long sentences throughout are found' 'median 19' <<<"$(many word 19)."
forged 'a wide line is found' 'PAGE.md:1: 101 columns' <<<"$(printf '%0101d' 0)"
forged 'so is one of a table' 'PAGE.md:1: 10[0-9] columns' <<<"| $(many ab 34) |"
forged 'and one of a code block' 'PAGE.md:2: 1[0-9]* columns' <<<"\`\`\`
$(many ab 40)
\`\`\`"
forged 'an unwanted word is found' "PAGE.md:1: 'folder': write 'directory'" <<'PAGE'
Files are in a directory,
or in a folder.
PAGE
forged 'also in a table' "'wall': write 'sandbox'" <<<'| runner | the wall around the command |'
forged 'and in an item of a list' "'small letters': write 'lower case'" <<<'- Names are compared in small letters.'

cat >"$tmp/PAGE.md" <<'PAGE'
# A heading may have a wall

Names in code are not prose: `folder`, `firewall`. A firewall is another word.

```
folder and wall
```
PAGE
ok 'code, headings and longer words are left alone' "${prose[@]}" /dev/null "$tmp/PAGE.md"
printf '%s\n' "$tmp/PAGE.md 30 1 1 2" >"$tmp/ceilings"
{ many wall 2; printf '%0101d\n' 0; } >"$tmp/PAGE.md"
ok 'a page may have as many findings as its ceiling says' "${prose[@]}" "$tmp/ceilings" "$tmp/PAGE.md"
echo 'One more wall.' >>"$tmp/PAGE.md"
like "PAGE.md 6 0 1 3.*'wall'" 'but not one more' "$("${prose[@]}" "$tmp/ceilings" "$tmp/PAGE.md")"

for page in README.md SECURITY.md docs/*.md; do
	ok "$page is written as the others" "${prose[@]}" tests/prose.ceilings "$page"
done
gone=$(sed 's/#.*//' tests/prose.ceilings | while read -r page _; do
	case $page in '' | help/*) ;; *) [ -e "$page" ] || echo "$page" ;; esac
done)
is '' 'every page with a ceiling is there' "$gone"

mkdir "$tmp/help"
cp tests/prose.ceilings "$tmp/ceilings"
"$AGENTWATCH" help >"$tmp/help/agentwatch.help"
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\( [a-z-]*\)\{0,1\}\)  .*/\1/p' "$tmp/help/agentwatch.help")
is yes 'all commands are looked at' "$([ "$(wc -l <<<"$commands")" -ge 18 ] && echo yes)"
while read -r command; do
	# shellcheck disable=SC2086
	"$AGENTWATCH" help $command >"$tmp/help/${command// /-}.help"
done <<<"$commands"
cd "$tmp" || exit 1
for page in help/*.help; do
	ok "$page is written as the pages" "${prose[@]}" ceilings "$page"
done
done_testing
