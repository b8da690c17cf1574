#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_env.sh - the environment section: inherit, unset, set.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
policy=$tmp/policy.yaml

# environment SECTION: write a policy with it.
environment() { printf 'version: 1\nenvironment: %s\n' "$1" >"$policy"; }
run() { "$AGENTWATCH" run --quiet --log "$log" --policy "$policy" -- "$@"; }
own='^(LD_PRELOAD|AGENTWATCH_[A-Z_]*|_)='

export AW_T_SECRET=sesame MY_TOKEN=t0ken AWS_KEY=k3y PLAIN=plain EMPTY=

environment '{inherit: all}'
is "$(env | grep -vE "$own" | sort)" 'inherit all: nothing but the known names is added' "$(run env | grep -vE "$own" | sort)"
is "$(env | grep -vE "$own")" 'the order is kept' "$(run env | grep -vE "$own")"
is '' 'an empty value stays' "$(run sh -c 'echo "${EMPTY-unset}"')"

environment '{unset: ["*_TOKEN", "AWS_*", "AW_T_SECRET"]}'
is 'plain---' 'unset takes names and globs away' "$(run sh -c 'echo "$PLAIN-$MY_TOKEN-$AWS_KEY-$AW_T_SECRET"')"

environment '{inherit: none, set: {ONE: "1"}}'
is 'ONE=1' 'inherit none leaves what is set' "$(run "$(command -v env)" | grep -vE "$own" | grep -v '^PWD=')"
environment '{inherit: [PATH, "PL*"]}'
is 'PATH PLAIN' 'inherit takes names and globs' "$(run env | grep -vE "$own" | cut -d= -f1 | grep -vx PWD | sort | xargs)"
environment '{set: {PLAIN: "changed", NEW: "a b=c", ORDER: ""}}'
is 'changed|a b=c||' 'set adds and replaces' "$(run sh -c 'echo "$PLAIN|$NEW|$ORDER|"')"
is 1 'and replaces without a double' "$(run env | grep -c '^PLAIN=')"
environment '{unset: ["*_TOKEN", "AW_T_SECRET"]}'
MY_TOKEN=hidden-value "$AGENTWATCH" run --quiet --policy "$policy" --log "$tmp/withheld" -- true
is 'withheld from the environment: AW_T_SECRET MY_TOKEN' 'the log has the names of what was withheld' \
	"$(jq -r 'select(.event == "policy") | .text | select(startswith("withheld")) | sub("^.*: "; "") | split(", ") | sort | "withheld from the environment: " + join(" ")' "$tmp/withheld")"
is '' 'and not their values' "$(grep -o hidden-value "$tmp/withheld")"
environment '{unset: ["PLAIN"], set: {PLAIN: "back"}}'
is back 'set wins over unset' "$(run sh -c 'echo $PLAIN')"

# What is unset must be in nobody's block: children, static programs, after env -i, in a daemon.
environment '{unset: ["AW_T_SECRET"]}'
cat >"$tmp/look" <<'END'
#!/bin/bash
# Everybody in the tree; who is left over is ended with the session.
( sleep 20 ) &
env -i sleep 20 &
setsid sh -c 'sleep 20; :' &
python3 -c 'import subprocess; subprocess.run(["sleep", "20"])' &
sleep 0.7
top=$PPID
seen=0
for file in /proc/[0-9]*/environ; do
	pid=${file#/proc/}; pid=${pid%/environ}
	up=$pid
	for _ in 1 2 3 4 5 6 7 8; do
		[ "$up" = $$ ] && break
		up=$(awk '/^PPid:/ { print $2 }' "/proc/$up/status" 2>/dev/null)
		[ -n "$up" ] || break
	done
	[ "$up" = $$ ] || continue
	seen=$((seen + 1))
	tr '\0' '\n' <"$file" 2>/dev/null | grep -q sesame && echo "in $pid: $(tr '\0' ' ' </proc/$pid/cmdline)"
done
echo "$((seen > 5))"
kill $(jobs -p)
END
chmod +x "$tmp/look"
is 1 'what is unset is in no descendant'"'"'s environ' "$(run "$tmp/look")"
run sleep 2 &
pid=$!
sleep 0.4
child=$(pgrep -P $pid -x sleep || pgrep -n -x sleep)
is 0 'nor in the command'"'"'s own, from outside' "$(tr '\0' '\n' <"/proc/$child/environ" | grep -c sesame)"
wait $pid
is 0 'and it is not in the log' "$(grep -c sesame "$log")"

printf 'version: 1\nenvironment: {inherit: some, unset: "x"}\n' >"$policy"
run true >"$tmp/out" 2>&1
is 125 'a wrong value is refused' $?
printf 'version: 1\nenvironment: {redirect_home: true}\n' >"$policy"
ok 'redirect_home gives a home of its own' test "$HOME" != "$(run sh -c 'echo $HOME')"
done_testing
