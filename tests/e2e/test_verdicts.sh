#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_verdicts.sh - the same verdicts whoever decides: the process, the supervisor, any engine.
#
# One program is run under one policy with verdicts decided locally and asked for, in every
# engine; what each call was about and what was said of it must be the same.
. "$(dirname "$0")/../tap.sh"

mkdir -p "$tmp/work/secret" "$tmp/work/open"
echo s >"$tmp/work/secret/key"
echo o >"$tmp/work/open/file"
ln -s ../secret/key "$tmp/work/open/link"
cat >"$tmp/policy.yaml" <<END2
version: 1
filesystem:
  default: read-only
  write: ["$tmp/work", "/dev/null"]
  deny: ["$tmp/work/secret", "**/*.pem", "!**/public.pem"]
  deny_write: ["$tmp/work/open/file"]
  ask: ["$tmp/work/maybe"]
exec: {default: allow, deny: ["id"]}
END2
cat >"$tmp/job" <<'END2'
cat secret/key open/file open/link open/../secret/key; : >open/new; : >>open/file
: >a.pem; : >public.pem; : >maybe; mkdir open/dir; mv open/new open/dir/moved
rm open/dir/moved; rmdir open/dir; ln -s /etc/passwd open/pw; cat open/pw; rm open/pw
id; chmod 600 public.pem; rm -f a.pem public.pem maybe
exit 0
END2

# Of each call by the job's own programs: what, on what, with what verdict, by which rule.
said()
{
	jq -r --arg d "$tmp/work" 'select((.event == "call" or .event == "exec") and
		((.path // "") | startswith($d)) and .verdict != null) |
		[.action, .path, .path2 // "", .verdict, .rule.text // "-"] | @tsv' "$1" | sort | uniq
}

reference=
for engine in ${AW_ENGINES:-hybrid kernel preload}; do
	for verdicts in local ask; do
		log=$tmp/$engine-$verdicts.jsonl
		rm -rf "$tmp/work/open/new" "$tmp/work/open/dir"
		(cd "$tmp/work" && "$AGENTWATCH" run --quiet --engine "$engine" --verdicts "$verdicts" \
			--policy "$tmp/policy.yaml" --log "$log" -- sh "$tmp/job" >/dev/null 2>&1)
		is 0 "$engine, verdicts $verdicts: the job ends as it should" $?
		said "$log" >"$tmp/said"
		if [ -z "$reference" ]; then
			reference=$tmp/reference
			cp "$tmp/said" "$reference"
			ok 'there is something to compare' test "$(wc -l <"$reference")" -ge 15
			ok 'with denials among it' grep -q deny "$reference"
			ok 'and a question' grep -q ask "$reference"
		else
			is "$(cat "$reference")" "$engine, verdicts $verdicts: says the same of every call" "$(cat "$tmp/said")"
		fi
	done
done

# With "ask" the log is in the order of the calls.
jq -r 'select(.event == "call") | .ts' "$tmp/${engine}-ask.jsonl" >"$tmp/times"
ok 'verdicts ask: the log is in the order of the calls' sort -c "$tmp/times"
done_testing
