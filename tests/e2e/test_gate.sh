#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_gate.sh - reading in enforce: by the program itself where Landlock refuses what a rule does.
#
# Who reported an open tells which way it went: "shim" through the gate, "kernel" by the supervisor.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
ground=$tmp/ground
away=$(mktemp -d /var/tmp/aw-away.XXXXXX) # not in /tmp, which every policy lets be written
at_end "rm -rf $away"
mkdir "$ground" "$away/secret"
echo text >"$ground/file"
echo text >"$away/file"
echo key >"$away/secret/key"
ln -s file "$ground/link"
ln -s "$away" "$ground/folder"
mkfifo "$ground/pipe"
ln -s pipe "$ground/door"
cd "$ground" || exit 1
printf 'version: 1\nmode: enforce\nprotections: off\nfilesystem: {default: read-only, write: ["%s"], deny: ["%s"]}\n' \
	"$ground" "$away/secret" >"$tmp/held.yaml"
sed 's|\("[^"]*secret"\)|\1, "**/*.never"|' "$tmp/held.yaml" >"$tmp/open.yaml"

# sources PATH: who reported the opens of it in the last log.
sources() { jq -rs --arg p "$1" '[.[] | select(.event == "call" and .path == $p) | .source] | unique | join(" ")' "$log"; }
# lines PATH: how many opens of it are logged.
lines() { jq -rs --arg p "$1" '[.[] | select(.event == "call" and .path == $p)] | length' "$log"; }
# reads PATH: who reported that it was read, one a line of the log.
reads() { jq -rs --arg p "$1" '[.[] | select(.event == "call" and .action == "read" and .path == $p) | .source] | sort | join(" ")' "$log"; }
enforce() { "$AGENTWATCH" run --quiet --runner "$runner" --log "$log" --policy "$@"; }

for runner in bwrap landlock; do
	log=$tmp/log.$runner
	if ! enforce "$tmp/held.yaml" -- true 2>"$tmp/why"; then
		skip "gated reads behind $runner" "$(tail -n 1 "$tmp/why")"
		continue
	fi
	way=shim
	[ "$runner$(id -u)" = landlock0 ] && way=kernel # a device file could be read
	is text "$runner: a file is read" "$(enforce "$tmp/held.yaml" -- cat "$ground/file")"
	is $way '... in the program, but for root without mounts' "$(sources "$ground/file")"
	is text "$runner: one by a relative name" "$(enforce "$tmp/held.yaml" -- cat file)"
	is $way '... in the program, but for root without mounts' "$(sources "$ground/file")"
	is text "$runner: one behind a symbolic link" "$(enforce "$tmp/held.yaml" -- cat link)"
	is 'kernel 1' '... is logged once, by where the link leads' "$(sources "$ground/file") $(lines "$ground/file")"
	is 0 '... and not by its own name' "$(lines "$ground/link")"
	is text "$runner: one below a linked folder" "$(enforce "$tmp/held.yaml" -- cat folder/file)"
	is 'kernel 1' '... likewise' "$(sources "$away/file") $(lines "$away/file")"
	is '' "$runner: what is denied is not read" "$(enforce "$tmp/held.yaml" -- cat "$away/secret/key" 2>/dev/null)"
	ok '... and the refusal is logged' jq -es --arg p "$away/secret/key" \
		'any(.[]; .event == "call" and .path == $p and .verdict == "deny" and .enforced)' "$log"
	is '' "$runner: nor by way of a link" "$(enforce "$tmp/held.yaml" -- cat folder/secret/key 2>/dev/null)"
	enforce "$tmp/held.yaml" -- sh -c 'echo more >>file'
	is kernel "$runner: a change is made by the supervisor" "$(sources "$ground/file")"
	(echo through >"$ground/pipe") &
	is through "$runner: a pipe is opened once" "$(enforce "$tmp/held.yaml" -- timeout 10 cat pipe)"
	wait
	(echo through >"$ground/pipe") &
	is through "$runner: behind a symbolic link as well" "$(enforce "$tmp/held.yaml" -- timeout 10 cat door)"
	wait
	echo text >"$ground/file"
	# what was proven of a folder ends with the folder: all by one process, which opens each file twice
	mkdir "$ground/box" && cp file box/file && cp file box/other
	enforce "$tmp/held.yaml" -- bash -c ': <box/file; : <box/other; : <box/file
		ln -sfT other box/file; : <box/file; : <box/file
		mv box old; ln -s "$0" box; : <box/file; : <box/file; : <old/other' "$away"
	is "$way $way" "$runner: a file of a known folder" "$(reads "$ground/box/file")"
	is "kernel kernel $way" '... and one that a link of that folder leads to' "$(reads "$ground/box/other")"
	is 'kernel kernel' '... a link in place of the folder' "$(reads "$away/file")"
	is $way '... the folder under its new name' "$(reads "$ground/old/other")"
	rm -r "$ground/old" "$ground/box"
	is text "$runner: with a pattern that may cover new files" "$(enforce "$tmp/open.yaml" -- cat file)"
	is kernel '... reads are made by the supervisor' "$(sources "$ground/file")"
	is text "$runner: a program that was just built is run" "$(enforce "$tmp/held.yaml" -- sh -c 'cp /bin/cat built && ./built file')"
	is text '... by a script, too' "$(enforce "$tmp/held.yaml" -- sh -c 'printf "#!/bin/sh\ncat file\n" >script && chmod +x script && ./script')"
	rm -f built script
	# plan.txt says the same
	said() { (XDG_STATE_HOME=$tmp/state && export XDG_STATE_HOME && "$AGENTWATCH" run --quiet --runner "$runner" --log none --session "$1" --policy "$2" -- true
		grep "^$3 " "$tmp/state/agentwatch/sessions/$1/plan.txt"); }
	is 'reads   refused by Landlock, which grants the others' "$runner: plan.txt says who refuses reads" "$(said "held-$runner" "$tmp/held.yaml" reads)"
	case $way in
	shim) is 'gate    opens for reading pass' '... and what passes' "$(said "gate-$runner" "$tmp/held.yaml" gate)" ;;
	*) like 'no open passes: root could' '... and what passes' "$(said "gate-$runner" "$tmp/held.yaml" gate)" ;;
	esac
	like "reads   refused by the supervisor: new files may be made in .*, and something in it may not be read" \
		"$runner: and why it is not Landlock" "$(said "open-$runner" "$tmp/open.yaml" reads)"
	like 'no open passes: it would tell whether a hidden' '... a hidden name' \
		"$(sed 's/deny:/hide:/' "$tmp/held.yaml" >"$tmp/hide.yaml"; said "hide-$runner" "$tmp/hide.yaml" gate)"
	# what processes may read by themselves no later policy takes back
	if [ $way = shim ]; then
		cp "$tmp/held.yaml" "$tmp/now.yaml"
		"$AGENTWATCH" run --quiet --runner "$runner" --log none --session "now-$runner" --policy "$tmp/now.yaml" -- sh -c 'echo up >up; while [ ! -e down ]; do sleep 0.1; done' &
		pid=$!
		for ((i = 0; i < 100; i++)); do [ -e up ] && break; sleep 0.1; done
		sed "s|deny: .|&\"$ground/file\", |" "$tmp/held.yaml" >"$tmp/now.yaml"
		like "the old policy stays: .*at or below /tmp" "$runner: a policy that takes some of it back is refused" \
			"$("$AGENTWATCH" policy reload "now-$runner" 2>&1)"
		sed "s|deny: .|&\"$away/other\", |" "$tmp/held.yaml" >"$tmp/now.yaml"
		like 'read again' '... one that does not is taken' "$("$AGENTWATCH" policy reload "now-$runner" 2>&1)"
		touch down
		wait $pid
		rm -f up down
	fi
done
done_testing
