#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_approve.sh - answers: who may give them, how they are kept, what becomes of a policy file.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/ask.sh"
read -ra all <<<"$(engines)"
[ "${all[0]}" != none ] || skip_all 'no engine works here'
engine=${all[0]}
if [ "$engine" = preload ]; then skip_all 'no kernel layer here'; fi
policy=
config=$XDG_CONFIG_HOME/agentwatch
mkdir -p "$config/agents"
cat >"$config/policy.yaml" <<END
# mine
version: 1
mode: enforce
runner: exec
filesystem:
  default: read-only   # strict
  write: [/dev]
  ask:
    - "$tmp/work/docs"   # papers
exec:
  ask: ["vcs push *", "asked-interpreter"]
ask: {deadline: 60s}
END
chmod 640 "$config/policy.yaml"
cp "$(command -v sh)" "$tmp/bin/asked-interpreter"

# --- answers that are written ---

begin read -- cat docs/a
wait_for 5 asks read 1
ok '--always for a path that is read' answer 1 --always
is a 'lets it go on' "$(finish read)"
begin again -- cat docs/a
is a 'and nobody is asked the next time' "$(finish again)"
is "    - \"!$tmp/work/docs/a\"  # agentwatch approve" 'the entry stands behind the last one, with a comment' \
	"$(grep -A1 papers "$config/policy.yaml" | tail -n 1 | cut -d, -f1)"
is '# mine true true' "what was there stays" \
	"$(head -n 1 "$config/policy.yaml") $(grep -q 'read-only   # strict' "$config/policy.yaml" && echo true) $(grep -q '# papers' "$config/policy.yaml" && echo true)"
is 640 'so does the mode' "$(stat -c %a "$config/policy.yaml")"
is 'policy.yaml' 'and nothing is left beside it' "$(cd "$config" && find . -type f -printf '%f\n')"

begin change -- sh -c 'echo more >>docs/b; echo $?; cat docs/b'
wait_for 5 asks change 1
answer 1 --always
is '0 b more' 'a path that is changed may be read, too' "$(finish change | xargs)"
begin push -- sh -c 'vcs push "a b" "*"; vcs push x y'
wait_for 5 asks push 1
answer 1 --always --layer agent
wait_for 5 asks push 2
like 'is not UTF-8|push x y|exec' 'an exec is allowed with these arguments alone' "$("$AGENTWATCH" approve --json | jq -r '.action + " " + (.argv[-3:] | join(" "))')"
answer 2 --deny --always --layer agent
is 'pushed push a b *' 'the rules are in the agent file' "$(finish push | grep ^pushed)"
is 2 'both of them' "$(grep -c "$tmp/bin/vcs push" "$config/agents/sh.yaml")"
begin denied -- sh -c 'vcs push x y || echo refused'
is refused 'a written no needs no question' "$(finish denied | tail -n 1)"

sum=$(sha256sum "$config/policy.yaml")
begin cannot -- sh -c 'cat docs/c; ls docs; asked-interpreter'
wait_for 5 asks cannot 1
ok 'a workspace file that is not trusted cannot allow' not answer 1 --always --layer workspace
like 'not trusted, so it can only tighten' 'which is said' "$(cat "$tmp/approve")"
is no 'and it is not made' "$([ -e .agentwatch.yaml ] && echo yes || echo no)"
ok 'but it can deny' answer 1 --always --layer workspace --deny
ok 'by a rule of its own' grep -q 'deny:' .agentwatch.yaml
wait_for 5 asks cannot 2
ok 'a folder gets no rule of its own' not answer 2 --always
like 'is a directory' 'which is said' "$(cat "$tmp/approve")"
answer 2 --deny
wait_for 5 asks cannot 3
ok 'nor does a program without arguments' not answer 3 --always
answer 3 --deny
finish cannot >/dev/null
is "$sum" 'what is refused leaves the file alone' "$(sha256sum "$config/policy.yaml")"
rm .agentwatch.yaml

# --- who may answer ---

policy=$tmp/asks.yaml
cat >"$policy" <<END
version: 1
mode: enforce
runner: exec
filesystem: {default: allow, ask: ["$tmp/work/docs/a"]}
network: {default: allow}
protections: off
END
line='{"request":"answer","question":1,"yes":true,"how":"once"}'
control() { jq -r .control "$XDG_STATE_HOME/agentwatch/sessions/$1/session.json"; }
begin own --engine "$engine" -- sh -c "cat docs/a & sleep 0.3; $ask say $XDG_RUNTIME_DIR/agentwatch/own.control '$line'; wait"
wait_for 5 asks own 1
sleep 0.5
is 1 'a session does not answer itself' "$(questions own)"
answer own/1 --deny
like 'out of reach|outside of sessions' 'which is refused' "$(finish own)"
begin orphan --engine "$engine" -- sh -c "cat docs/a & sleep 0.3; $ask orphan $XDG_RUNTIME_DIR/agentwatch/orphan.control '$line'; wait"
wait_for 5 asks orphan 1
sleep 0.6
is 1 'nor does a process whose parents are gone' "$(questions orphan)"
answer orphan/1 --deny
like 'out of reach|outside of sessions' 'which is refused' "$(finish orphan)"
begin asks -- cat docs/a
wait_for 5 asks asks 1
like 'outside of sessions' 'nor one of a session beside it, where nothing is refused' \
	"$("$AGENTWATCH" run --quiet --mode audit --session beside -- "$ask" say "$(control asks)" "$line")"
like 'outside of sessions' 'nor agentwatch approve there' \
	"$("$AGENTWATCH" run --quiet --mode audit --session beside2 -- "$AGENTWATCH" approve 2>&1)"
ok 'the log of the session has the attempt' wait_for 3 grep -q '"kind":"ask","text":"process .* tried to answer' "$(events asks)"
is 1 'and the question is still open' "$(questions asks)"
answer asks/1 --once
is a 'for whom it concerns' "$(finish asks)"

sed -i '/protections/d' "$policy"
begin held -- sh -c "cat docs/a & sleep 0.5; $ask say $XDG_RUNTIME_DIR/agentwatch/held.control '$line'; wait"
wait_for 5 asks held 1
sleep 0.6
answer held/1 --deny
like 'out of reach' 'the socket itself is out of reach' "$(finish held)"
if compile ask_static "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -pthread -O1 -g -static "$root/tests/e2e/ask.c"; then
	begin static -- "$compiled" open docs/a
	wait_for 5 asks static 1
	answer static/1 --once
	is ok 'a static program waits, too' "$(finish static)"
	begin preload --engine preload -- sh -c "cat docs/a & sleep 0.5; $compiled say $XDG_RUNTIME_DIR/agentwatch/preload.control '$line'; wait"
	wait_for 5 asks preload 1
	sleep 0.6
	answer preload/1 --deny
	like 'outside of sessions' 'one that nobody watches reaches the socket and is refused' "$(finish preload)"
else
	skip 'a static program waits, too' 'no static libc'
fi

# --- several sessions, several users ---

begin one -- cat docs/a
first=$running
begin two -- cat docs/a
wait_for 5 asks one 1
wait_for 5 asks two 1
ok 'a number that two sessions have is not enough' not answer 1 --once
like 'more than one question' 'which is said' "$(cat "$tmp/approve")"
is 'asking 1 asking 1' 'ps shows who asks' "$("$AGENTWATCH" ps | grep -E '^(one|two) ' | grep -o 'asking [0-9]*' | xargs)"
ok 'an answer is never taken from the environment' env AGENTWATCH_SESSION=one AGENTWATCH_ALWAYS=yes AGENTWATCH_ALL=yes "$AGENTWATCH" approve
ok '--all answers both' answer --all --once
is a 'the second goes on' "$(finish two)"
running=$first
is a 'and the first' "$(finish one)"

begin watch -- sh -c 'cat docs/a; cat docs/a'
wait_for 5 asks watch 1
{ sleep 0.3; echo y; wait_for 5 asks watch 2; sleep 0.3; echo watch/2 n; sleep 0.3; } |
	timeout 2.5 "$AGENTWATCH" approve --watch >"$tmp/watched" 2>&1
is 1 'approve --watch takes yes' "$(finish watch | grep -c '^a$')"
is 2 'and shows each question once' "$(grep -c '^question' "$tmp/watched")"

if is_root && have setpriv; then
	other=(setpriv --reuid=65534 --regid=65534 --clear-groups env "HOME=$tmp/other" "XDG_RUNTIME_DIR=$tmp/other/run" "TMPDIR=$tmp/other")
	mkdir -p "$tmp/other/run"
	chmod 711 "$tmp"
	chmod -R a+rX "$tmp/work" "$policy"
	chown -R 65534:65534 "$tmp/other"
	chmod 700 "$tmp/other/run"
	"${other[@]}" env -u XDG_STATE_HOME -u XDG_CONFIG_HOME "$AGENTWATCH" run --quiet --session theirs --policy "$policy" -- cat docs/a >"$tmp/theirs" 2>&1 &
	running=$!
	theirs() { XDG_STATE_HOME=$tmp/other/.local/state "$AGENTWATCH" approve "$@"; }
	has_one() { [ -n "$(theirs --json)" ]; }
	ok "root sees another user's questions" wait_for 5 has_one
	theirs 1 --once >"$tmp/approve" 2>&1
	is a 'and answers them' "$(finish theirs)"
	is 'user root' 'the log says who' "$(jq -r '.answered_by // empty' "$tmp/other/.local/state/agentwatch/sessions/theirs/events.jsonl")"
fi

# --- telling the human ---

cat >"$tmp/bin/notify-send" <<END
#!/bin/sh
printf '[%s]' "\$@" >>"$tmp/notified"
END
chmod 755 "$tmp/bin/notify-send"
sed 's/notified/tempted/' "$tmp/bin/notify-send" >"$tmp/bin/new" && chmod 755 "$tmp/bin/new"
cat >"$tmp/desktop" <<'END'
mount -t tmpfs -o mode=755 none /usr/local/bin && cp "$1" /usr/local/bin/notify-send && mv "$2" "${1%/*}/notify-send" || exit 99
shift 2
exec "$@"
END
echo odd >'docs/<b>&'
own_mounts=(unshare --mount)
[ "$(id -u)" -eq 0 ] || own_mounts=(unshare --mount --user --map-root-user)
DBUS_SESSION_BUS_ADDRESS=unix:none "${own_mounts[@]}" sh "$tmp/desktop" "$tmp/bin/notify-send" "$tmp/bin/new" \
	"$AGENTWATCH" run --session told --policy "$policy" -- cat 'docs/<b>&' >"$tmp/told" 2>&1 &
running=$!
wait_for 5 asks told 1
ok 'notify-send is run' wait_for 5 test -s "$tmp/notified"
is "[--app-name=agentwatch][--icon=dialog-question][--][agentwatch asks: told/1][read $tmp/work/docs/&lt;b&gt;&amp;]" \
	'with the question, its signs made harmless' "$(cat "$tmp/notified")"
ok 'not the one that the user can change' test ! -e "$tmp/tempted"
answer told/1 --deny
like 'agentwatch approve told/1 --once' 'and stderr says how to answer' "$(finish told)"

# --- what is not asked, and what is asked later ---

begin audit --mode audit --policy "$policy" -- cat 'docs/<b>&'
is odd 'audit does not wait' "$(finish audit)"
is 'ask-deny false' 'and logs what would have been asked' \
	"$(jq -r 'select(.path // "" | endswith("<b>&")) | "\(.verdict) \(.enforced)"' "$(events audit)" | head -n 1)"
policy=
printf '#!%s\necho script ran\n' "$tmp/bin/asked-interpreter" >"$tmp/bin/script"
chmod 755 "$tmp/bin/script"
begin script -- script
wait_for 5 asks script 1
is "exec $tmp/bin/asked-interpreter" "a script's interpreter is asked about" "$("$AGENTWATCH" approve --json | jq -r '"\(.action) \(.path)"')"
answer 1 --once
is 'script ran' 'and runs with a yes' "$(finish script)"

mkdir -p above/below
sed "s|docs/a|above/below|" "$tmp/asks.yaml" >"$tmp/above.yaml"
begin carry --policy "$tmp/above.yaml" -- sh -c 'mv above other && mv other above && mv above/below aside; echo $?'
wait_for 5 asks carry 1
is "rename $tmp/work/above" 'a folder above what is asked about is not moved without a question' \
	"$("$AGENTWATCH" approve --json | jq -r '"\(.action) \(.path)"')"
answer 1 --once
wait_for 5 asks carry 2
answer 2 --once
wait_for 5 asks carry 3
answer 3 --once
is 0 'and is with a yes' "$(finish carry | tail -n 1)"
mkdir -p above/below
sed "s|docs/a\"|to\", \"$tmp/work/above/below\"|" "$tmp/asks.yaml" >"$tmp/above.yaml"
begin twice --policy "$tmp/above.yaml" -- mv above to
wait_for 5 asks twice 1
answer 1 --once
wait_for 5 asks twice 2
answer 2 --once
wait_for 5 has_ended
is yes 'two rules of one call are two questions, each asked once' "$([ -d to/below ] && echo yes)"

cat >"$tmp/program.yaml" <<END
version: 1
mode: enforce
runner: exec
filesystem: {default: allow}
exec: {ask: ["$tmp/work/kept/tool"]}
protections: off
END
mkdir kept
cp "$tmp/bin/vcs" kept/tool
begin program --policy "$tmp/program.yaml" -- sh -c 'ln kept/tool second; mv kept/tool third; mv kept elsewhere; cp "$1" new; mv new kept/tool; echo $?' sh "$tmp/bin/vcs"
wait_for 5 asks program 1
is "create $tmp/work/kept/tool" 'a program that is asked about gets no second name without a question' \
	"$("$AGENTWATCH" approve --json | jq -r '"\(.action) \(.path)"')"
ok 'which no rule can answer' not answer 1 --always
like '--session' 'as is said' "$(cat "$tmp/approve")"
answer 1 --deny
wait_for 5 asks program 2
is "rename $tmp/work/kept/tool" 'nor another one' "$("$AGENTWATCH" approve --json | jq -r '"\(.action) \(.path)"')"
answer 2 --deny
wait_for 5 asks program 3
is "rename $tmp/work/kept" 'nor does its folder' "$("$AGENTWATCH" approve --json | jq -r '"\(.action) \(.path)"')"
answer 3 --deny
is 0 'and it may be replaced without one' "$(finish program | tail -n 1)"
is 'tool' 'all of it is where it was' "$(ls kept second third elsewhere 2>/dev/null | grep -v :)"

for runner in landlock bwrap; do
	begin sandbox-$runner --runner $runner -- "$ask" open docs/c
	if ! wait_for 3 asks sandbox-$runner 1; then
		skip "behind $runner a read that asks is not passed by the gate" "$(finish sandbox-$runner | tail -n 1)"
		continue
	fi
	answer 1 --once
	is ok "behind $runner a read that asks is not passed by the gate" "$(finish sandbox-$runner)"
done

begin busy -- sh -c "$ask open docs/c & $ask loop 2000 >/dev/null && echo done; wait"
wait_for 5 asks busy 1
ok 'others run on while one waits' wait_for 10 grep -q done "$tmp/busy"
is 1 'which still does' "$(questions busy)"
answer busy/1 --deny
finish busy >/dev/null
begin many -- sh -c 'i=0; while [ $i -lt 70 ]; do echo x >docs/new$i & i=$((i + 1)); done; wait'
wait_for 10 sh -c "[ \$($AGENTWATCH approve --json | wc -l) = 64 ]"
is 64 'at most 64 questions are open' "$("$AGENTWATCH" approve --json | wc -l)"
answer --all --deny
finish many >/dev/null
is '6 1' 'what is beyond is denied, with one warning' "$(grep -c '"answer":"limit"' "$(events many)") $(grep -c '"kind":"ask".*64 questions' "$(events many)")"
done_testing
