#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_landlock.sh - the runner landlock: what the kernel refuses when nobody else looks.
#
# A static program under the engine preload is seen by nobody but the kernel, so what fails
# there, Landlock has refused.
. "$(dirname "$0")/../tap.sh"
need_agentwatch

compile sandbox_probe gcc -D_GNU_SOURCE -O1 -static "$root/tests/e2e/sandbox_probe.c" ||
	{ fail 'the probe is built' "$(cat "$tmp/compile.log")"; done_testing; }
probe=$compiled
interface=$("$AGENTWATCH" run --quiet --runner landlock --mode enforce --log - -- true 2>&1 |
	sed -n 's/.*landlock interface \([0-9]*\).*/\1/p' | head -n 1)
[ -n "$interface" ] ||
	skip_all "$("$AGENTWATCH" run --quiet --runner landlock --mode enforce --log none -- true 2>&1 | head -n 1)"

export TMPDIR=$tmp/scratch # or all of these could be written
mkdir -p "$TMPDIR" "$tmp/ws/a" "$tmp/ws/b" "$tmp/ro/secret/public" "$tmp/ro/open"
for file in ws/a/f ws/file ws/token ro/file ro/key ro/secret/key ro/secret/public/file ro/open/file; do
	echo "$file" >"$tmp/$file"
done
cp "$probe" "$tmp/ro/secret/program"
ln -s "$tmp/ro/secret/key" "$tmp/ws/link"
cat >"$tmp/policy.yaml" <<END
version: 1
filesystem:
  default: read-only
  write: ["$tmp/ws"]
  deny: ["$tmp/ro/secret", "!$tmp/ro/secret/public", "$tmp/ro/key", "$tmp/ws/token"]
network: {default: deny, allow: ["127.0.0.1:18431", "unix:$tmp/ws/*"], listen: ["127.0.0.1:18432"]}
END
sandbox() { "$AGENTWATCH" run --quiet --log "$log" --runner landlock --policy "$tmp/policy.yaml" "$@"; }
# gives RESULT SENTENCE CALL WHAT: what one call gives that nobody but Landlock could refuse.
gives()
{
	is "$3 $4 $1" "$2" "$(sandbox --mode enforce --engine preload -- "$probe" "$3" "$4" 2>&1 | grep -v '^agentwatch:')"
}

gives ok 'a file beside what is denied is read' read "$tmp/ro/file"
gives ok 'a folder too' read "$tmp/ro/open/file"
gives ok 'and listed' list "$tmp/ro/open"
gives ok 'a carved folder can be listed' list "$tmp/ro"
gives EACCES 'a denied folder cannot be read from' read "$tmp/ro/secret/key"
gives EACCES 'nor a denied file' read "$tmp/ro/key"
gives EACCES 'nor through a link' read "$tmp/ws/link"
gives EACCES 'a denied program does not run' exec "$tmp/ro/secret/program"
gives ok 'what is taken out of a denial is read' read "$tmp/ro/secret/public/file"
gives EACCES 'what may be read is not written' write "$tmp/ro/file"
gives EACCES 'nor truncated' truncate "$tmp/ro/file"
gives EACCES 'nor removed' unlink "$tmp/ro/file"
gives EACCES 'no file is made there' create "$tmp/ro/new"
gives EACCES 'no folder' mkdir "$tmp/ro/new"
gives EACCES 'no link' symlink "$tmp/ro/new"
gives EACCES 'no socket' socket "$tmp/ro/new"
gives ok 'in the workspace a file is written' write "$tmp/ws/file"
gives ok 'one is made' create "$tmp/ws/new"
gives ok 'truncated' truncate "$tmp/ws/new"
gives ok 'moved to another folder' rename "$tmp/ws/a/f=$tmp/ws/b/f"
gives ok 'linked there' link "$tmp/ws/b/f=$tmp/ws/a/f"
gives ok 'removed' unlink "$tmp/ws/new"
gives ok 'a folder is made' mkdir "$tmp/ws/folder"
gives ok 'a socket is made' socket "$tmp/ws/socket"
like ' (EXDEV|EACCES)$' 'nothing is moved in from outside' \
	"$(sandbox --mode enforce --engine preload -- "$probe" rename "$tmp/ro/file=$tmp/ws/taken" 2>/dev/null)"
like ' (EXDEV|EACCES|EPERM)$' 'nor linked, to be written there' \
	"$(sandbox --mode enforce --engine preload -- "$probe" link "$tmp/ro/file=$tmp/ws/taken" 2>/dev/null)"
gives EPERM 'nothing is mounted' mount "$tmp/ws"
gives ok '/dev/null is written' write /dev/null
gives ok '/dev/shm has files made in it' create "/dev/shm/aw-landlock-$$"
at_end "rm -f /dev/shm/aw-landlock-$$"
if [ "$(stat -fc %T /dev/mqueue 2>/dev/null)" = mqueue ]; then
	gives ok 'a POSIX queue is made and used' queue "aw-landlock-$$"
	sed 's#"!#"/dev/mqueue", &#' "$tmp/policy.yaml" >"$tmp/no_queues.yaml"
	is "queue aw-landlock-$$ EACCES" 'unless the policy denies /dev/mqueue' "$("$AGENTWATCH" run --quiet --log none --runner landlock \
		--policy "$tmp/no_queues.yaml" --mode enforce --engine preload -- "$probe" queue "aw-landlock-$$" 2>&1 | grep -v '^agentwatch:')"
else
	gives EACCES 'no POSIX queue can be used where none are mounted on /dev/mqueue' queue "aw-landlock-$$"
fi
gives EPERM 'no file is opened by its handle' handle "$tmp/ro/secret/key"

# What came with later interfaces.
device=
for candidate in /dev/fuse /dev/loop-control /dev/hwrng /dev/kvm /dev/*; do
	case $candidate in /dev/null | /dev/zero | /dev/full | /dev/*random | /dev/tty* | /dev/ptmx | /dev/std* | /dev/console) continue ;; esac
	[ -z "$device" ] && [ -c "$candidate" ] && [ "$("$probe" command "$candidate")" != "command $candidate EACCES" ] &&
		"$probe" read "$candidate" | grep -q 'ok$' && device=$candidate
done
if [ "$interface" -lt 5 ]; then skip 'devices take no commands' "Landlock interface $interface"
elif [ -z "$device" ]; then skip 'devices take no commands' 'no device here can be opened'
else gives EACCES 'devices take no commands' command "$device"; fi
if [ "$interface" -ge 4 ]; then
	gives ECONNREFUSED 'a port that a rule allows is tried' connect 18431
	gives EACCES 'another is not' connect 18433
	gives ok 'a port that a rule allows is listened on' bind 18432
	gives EACCES 'another is not' bind 18434
	for call in 'connect 18431 ECONNREFUSED' 'connect 18433 EACCES' 'bind 18432 ok' 'bind 18434 EACCES'; do
		is "$call" "with a supervisor that connects: $call" \
			"$(sandbox --mode enforce -- "$probe" ${call% *} 2>&1 | grep -v '^agentwatch:')"
	done
	ok 'then no port is granted' grep -q 'refuses every TCP port' -r "$XDG_STATE_HOME"/agentwatch/sessions --include plan.txt
else
	skip 'ports are held' "Landlock interface $interface"
fi
python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX); s.bind("\0aw-landlock-'$$'"); s.listen(); time.sleep(60)' &
outside=$!
at_end "kill $outside"
wait_for 10 grep -q "aw-landlock-$$" /proc/net/unix
is "abstract aw-landlock-$$ ok" 'the abstract socket is there' "$("$probe" abstract "aw-landlock-$$")"
if [ "$interface" -ge 6 ]; then
	gives EPERM 'abstract sockets outside are out of reach' abstract "aw-landlock-$$"
	gives EPERM 'so are processes outside, for signals' kill "$outside"
else
	skip 'abstract sockets and signals are held' "Landlock interface $interface"
fi
gives EPERM 'and for tracing' trace "$outside"
if is_root; then
	gives EPERM 'root makes no device files' mknod "$tmp/ws/disk"
	is '00000000a00405fb 00000000a00405fb 0000000000000000' 'root keeps few capabilities' \
		"$(sandbox --mode enforce -- sed -n 's/^Cap\(Eff\|Bnd\|Inh\):\t//p' /proc/self/status | { read -r i; read -r e; read -r b; echo "$e $b $i"; })"
	gives EACCES 'root does not write to /proc/sys' write /proc/sys/kernel/core_pattern
	is 0 'no_new_privs is not needed' "$(sandbox --mode enforce -- sed -n 's/^NoNewPrivs:\t//p' /proc/self/status)"
else
	is 0000000000000000 'a user has no capabilities' \
		"$(sandbox --mode enforce -- sed -n 's/^CapEff:\t//p' /proc/self/status)"
	gives ok "a user's processes write their own /proc files" write /proc/self/comm
fi

# Ordinary programs get along.
is hello 'a shell with a pipe works' "$(sandbox --mode enforce -- sh -c 'echo hello | cat')"
is '[1, 2]' 'python works' "$(cd "$tmp/ws" && sandbox --mode enforce -- python3 -c 'import json,subprocess; subprocess.run(["true"], check=True); print(json.loads("[1,2]"))' 2>&1)"
ok 'git makes a commit' sh -c "cd '$tmp/ws' && '$AGENTWATCH' run --quiet --log '$tmp/git.jsonl' --runner landlock --mode enforce --policy '$tmp/policy.yaml' -- sh -c 'git init -q --template= r && cd r && echo x >x && git add x && git -c user.name=n -c user.email=e@x commit -qm m && git log --oneline | grep m'"
is 7 'the exit status is kept' "$(sandbox --mode enforce -- sh -c 'exit 7'; echo $?)"

# Who holds what is in the log.
sandbox --mode enforce --engine hybrid -- sh -c "cat '$tmp/ro/key' '$tmp/ws/token'; chmod 600 '$tmp/ro/file'" >/dev/null 2>&1
strength() { jq -r --arg p "$1" --arg c "$2" 'select(.path == $p and (.call | contains($c)) and .verdict == "deny") | .strength' "$log" | sort -u; }
is kernel 'what is carved out is held by the kernel' "$(strength "$tmp/ro/key" open)"
is supervisor 'what lies in a folder to write is not' "$(strength "$tmp/ws/token" open)"
is supervisor 'nor are modes' "$(strength "$tmp/ro/file" chmod)"
like "landlock does not hold: reading of $tmp/ws/token, since $tmp/ws may be used as a whole" 'the plan says so' \
	"$(cat "$XDG_STATE_HOME"/agentwatch/sessions/*/plan.txt | sort -u | grep "$tmp/ws/token")"

# Nothing is refused in audit.
is "read $tmp/ro/secret/key ok
write $tmp/ro/file ok
kill $outside ok" 'audit refuses nothing' \
	"$(sandbox --mode audit -- "$probe" read "$tmp/ro/secret/key" write "$tmp/ro/file" kill "$outside")"

# Layers add up.  Each keeps its sessions where the one around it does not protect them.
deep='true'
for level in 1 2 3; do
	mkdir -p "$tmp/deep$level"
	deep="env XDG_STATE_HOME='$tmp/deep$level' XDG_RUNTIME_DIR='$tmp/deep$level' \"$AGENTWATCH\" run --quiet --engine preload --log none --runner landlock --mode enforce --policy '$tmp/deep.yaml' -- sh -c '$(printf %s "$deep" | sed "s/'/'\\\\''/g")'"
done
printf 'version: 1\nbase: open\n' >"$tmp/deep.yaml"
is 0 'one sandbox stands inside another' "$(sh -c "$deep" >/dev/null 2>&1; echo $?)"
done_testing
