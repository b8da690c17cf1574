#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_access.sh - access(2) says what enforce lets a program write, and is no attempt to do it.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
mkdir -p "$tmp/work/inner" "$tmp/rest/deep" "$tmp/parts" "$tmp/secret"
for folder in work rest parts secret; do echo x >"$tmp/$folder/file"; done
chmod 444 "$tmp/work/inner"
cat >"$tmp/policy.yaml" <<-END
	version: 1
	mode: enforce
	protections: off
	base: open
	filesystem:
	  default: read-only
	  write: ["$tmp/work", "$tmp/parts/*.log", "$tmp/rest/deep"]
	  deny_write: ["$tmp/work/inner"]
	  deny: ["$tmp/secret"]
END

# may PREFIX... : which of the places may be written, by the shell, and by access(2) itself.
places="$tmp/work $tmp/work/file $tmp/work/inner $tmp/work/none $tmp/rest $tmp/rest/file $tmp/rest/deep $tmp/parts $tmp/secret/file /dev/null"
may()
{
	"$@" bash -c 'for p in $0; do [ -w "$p" ] && printf "%s " "${p##*/}"; done; python3 -c "import os, sys
print(*[os.path.basename(p) for p in sys.argv[1].split() if os.access(p, os.R_OK | os.W_OK)])" "$0"' "$places" 2>&1
}
want='work file deep parts null'
for runner in exec landlock bwrap; do
	run=("$AGENTWATCH" run --quiet --runner "$runner" --on-missing-runner fail --policy "$tmp/policy.yaml" --log "$tmp/log" --)
	"${run[@]}" true >/dev/null 2>&1 || { skip "$runner" 'it does not work here'; continue; }
	got=$(may "${run[@]}")
	is "$want $want" "$runner: what may be written" "$got"
	is '' '... and nothing is logged as denied' "$(jq -r 'select(.event == "call" and .verdict == "deny") | .path' "$tmp/log")"
	is ok '... reading and being there are the kernel'"'"'s answers' "$("${run[@]}" bash -c "[ -r $tmp/rest/file ] && [ -e $tmp/work/inner ] && [ ! -x $tmp/rest/file ] && echo ok")"
	have sqlite3 || { skip "$runner: sqlite's temporary files" 'no sqlite3'; continue; }
	is 200000 "$runner: sqlite finds a place for its temporary files" "$(cd "$tmp/work" && rm -f db && env -u TMPDIR -u SQLITE_TMPDIR "$AGENTWATCH" run --quiet \
		--mode enforce --runner "$runner" --log none -- sqlite3 db 'create table t(x, y); with recursive c(n) as (select 1 union all select n + 1 from c
		where n < 200000) insert into t select n, hex(randomblob(16)) from c; create index i on t(y); vacuum; select count(*) from t;' 2>&1)"
done
is "$(may env)" 'audit: as bare' "$(may "$AGENTWATCH" run --quiet --log none --)"
done_testing
