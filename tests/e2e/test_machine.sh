#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_machine.sh - root in mode enforce: devices, settings of the kernel, processes of our own.
#
# Each refusal has a twin that is let go on, or is tried bare.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
is_root || skip_all 'only root can do these things'
compile machine "${CC:-cc}" -std=gnu11 -O1 "$root/tests/e2e/machine.c" ||
	{ fail 'machine.c compiles' "$(cat "$tmp/compile.log")"; done_testing; }
machine=$compiled
mkdir "$tmp/work" "$tmp/secret"
chmod 755 "$tmp"
cd "$tmp/work" || exit 1
echo TOPSECRET >"$tmp/secret/key"

# policy FILESYSTEM [NETWORK]: allow but for the secret
policy() {
	printf 'version: 1\nmode: enforce\nfilesystem: {%s}\nnetwork: {%s}\n' "$1" "${2:-default: deny}" >"$tmp/policy.yaml"
}
runs() { timeout 60 "$AGENTWATCH" run --quiet --log "$tmp/log" --policy "$tmp/policy.yaml" --runner "$1" -- "${@:2}"; }
fails() { ! "$@"; }
runners=(exec)
for r in landlock bwrap; do
	policy 'default: allow'
	if runs $r true 2>/dev/null; then runners+=($r); else echo "# $r is not here"; fi
done

# --- what the kernel does for root without asking ---
policy "default: allow, deny: [\"$tmp/secret\"]"
# watched PROGRAM...: somebody outside opens the secret as soon as it is watched.
watched() {
	"$@" >"$tmp/out" 2>&1 &
	local pid=$!
	for _ in $(seq 100); do
		grep -q watching "$tmp/out" && cat "$tmp/secret/key" >"$tmp/seen"
		kill -0 $pid 2>/dev/null || break
		sleep 0.05
	done
	wait $pid
	cat "$tmp/out"
}
out=$(watched "$machine" watch "$tmp/secret")
case $out in
*'got TOPSECRET'*)
	for r in "${runners[@]}"; do
		is 'fanotify: EPERM' "$r: fanotify gives no descriptors of what others open" "$(watched runs "$r" "$machine" watch "$tmp/secret")"
	done
	ok 'the refusal is in the log' grep -q '"call":"fanotify_init","action":"system".*"verdict":"deny","enforced":true' "$tmp/log"
	timeout 20 "$AGENTWATCH" run --quiet --log "$tmp/log" -- "$machine" watch /nowhere >"$tmp/out"
	is 'fanotify_mark: ENOENT' 'audit lets it go on' "$(cat "$tmp/out")"
	ok 'and tells what enforce does' grep -q '"call":"fanotify_init","action":"system".*"verdict":"deny","enforced":false' "$tmp/log"
	;;
*) pass "fanotify # SKIP not to be had here: $out" ;;
esac
: >"$tmp/secret/acct"
if [ "$("$machine" account "$tmp/secret/acct")" = 'acct: done' ]; then
	for r in "${runners[@]}"; do
		: >"$tmp/secret/acct"
		is 'acct: EPERM' "$r: acct is refused" "$(runs "$r" "$machine" account "$tmp/secret/acct")"
		is '' "$r: the kernel wrote to no denied file" "$(cat "$tmp/secret/acct")"
	done
else
	pass 'acct # SKIP not to be had here'
fi
want=$(runs landlock sed -n 's/CapEff:\t//p' /proc/self/status 2>/dev/null) || want=00000000a00405fb
is "$want" 'without a sandbox root has the capabilities that it has behind one' "$(runs exec sed -n 's/CapEff:\t//p' /proc/self/status)"
is "$(sed -n 's/CapEff:\t//p' /proc/self/status)" 'audit leaves all of them' \
	"$("$AGENTWATCH" run --quiet --log none -- sed -n 's/CapEff:\t//p' /proc/self/status)"

# --- devices ---
if mknod "$tmp/probe" b 7 0 2>/dev/null; then
	for r in "${runners[@]}"; do
		policy "default: read-only, write: [\"$tmp/work\"]"
		mknod disk b 7 0
		ok "$r: no device can be made" test "$(runs "$r" sh -c 'mknod made b 7 0 2>&1; ls made 2>&1' | grep -c -e 'not permitted' -e 'cannot access')" = 2
		is EACCES "$r: a disk in the workspace is not opened" \
			"$(runs "$r" /usr/bin/python3 -c 'import errno,os
try: os.open("disk", os.O_RDONLY); print("opened")
except OSError as e: print(errno.errorcode[e.errno])')"
		ok "$r: it can be renamed and removed" runs "$r" sh -c 'mv disk other && rm other'
	done
	mknod disk b 7 0
	policy 'default: allow'
	is 'deny a disk is every file on it; only a rule that names it allows it' 'policy explain knows of disks' \
		"$("$AGENTWATCH" policy explain --policy "$tmp/policy.yaml" --json --read disk | jq -r '"\(.verdict) \(.reason)"')"
	bare=$(head -c0 disk 2>&1 && echo opened)
	policy "default: read-only, write: [\"$tmp/work/disk\"]"
	is "$bare" 'exec: one that a rule names is' "$(runs exec sh -c 'head -c0 disk 2>&1 && echo opened')"
	rm disk "$tmp/probe"
else
	pass 'devices # SKIP none can be made here'
fi
policy 'default: allow'
is EACCES 'exec: root has no device that other users have not' "$(runs exec /usr/bin/python3 -c 'import errno,os,stat
for name in ("kmsg","loop-control","uinput","cpu_dma_latency","hwrng"):
    try: st = os.stat("/dev/" + name)
    except OSError: continue
    if st.st_mode & 6: continue
    try: os.open("/dev/" + name, os.O_RDONLY); print("opened", name)
    except OSError as e: print(errno.errorcode[e.errno])
    break
else: print("EACCES")')"
ok 'exec: it has the others' runs exec sh -c 'echo >/dev/null; head -c1 /dev/zero >/dev/full || head -c1 /dev/urandom | wc -c'
if [ -c /dev/userfaultfd ]; then
	policy 'default: allow, write: ["/dev/userfaultfd"]'
	is 'ioctl: EPERM' 'exec: a named device makes no user fault descriptors' "$(runs exec "$machine" faults)"
	policy 'default: allow'
	is 'open: EACCES' 'exec: the device is not opened without a name' "$(runs exec "$machine" faults)"
fi

# --- /proc under another name ---
mkdir "$tmp/processes" "$tmp/nobody"
chown 65534:65534 "$tmp/nobody"
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups -- env "HOME=$tmp/nobody" "XDG_STATE_HOME=$tmp/nobody" "XDG_CONFIG_HOME=$tmp/nobody" TMPDIR=/tmp)
# elsewhere COMMAND...: with a second procfs, as a user whose other process has a secret
elsewhere()
{
	unshare --mount sh -c 'mount -t proc none "$1" && shift && exec "$@"' sh "$tmp/processes" "${nobody[@]}" PRIVATE=hidden \
		sh -c 'sleep 20 >/dev/null 2>&1 & export outside=$!; "$@"; kill $!' sh "$@" 2>&1
}
peek='tr "\0" "\n" <'$tmp'/processes/$outside/environ | grep PRIVATE'
if ! "${nobody[@]}" test -x "$AGENTWATCH"; then
	skip 'another mount of /proc' "$AGENTWATCH is not for all users"
elif [ "$(elsewhere env - sh -c true)" = '' ]; then
	policy 'default: allow'
	for r in exec landlock; do
		[[ " ${runners[*]} " = *" $r "* ]] || continue
		is '' "$r: the environment of a process outside, by another mount of /proc" \
			"$(elsewhere timeout 60 "$AGENTWATCH" run --quiet --log none --policy "$tmp/policy.yaml" --runner "$r" -- sh -c "$peek" | grep PRIVATE)"
	done
	is 'PRIVATE=hidden' 'audit reads it' "$(elsewhere timeout 60 "$AGENTWATCH" run --quiet --mode audit --log none -- sh -c "$peek")"
	policy "default: allow, write: [\"$tmp/processes/version\"]"
	is "$(cat /proc/version)" 'what a rule names is read' \
		"$(elsewhere timeout 60 "$AGENTWATCH" run --quiet --log none --policy "$tmp/policy.yaml" --runner exec -- cat "$tmp/processes/version")"
else
	skip 'another mount of /proc' 'no mount namespaces here'
fi

# --- settings of the kernel ---
setting=/proc/sys/vm/swappiness
if [ -w $setting ] && (cat $setting >$setting) 2>/dev/null; then
	for r in "${runners[@]}"; do
		policy 'default: allow'
		for file in /proc/sys/kernel/core_pattern $setting /proc/sysrq-trigger /sys/kernel/profiling /sys/power/state; do
			[ -e $file ] || continue
			ok "$r: $file is not opened for writing" fails runs "$r" sh -c ": >>$file" 2>"$tmp/err"
			ok "$r: and can be read where it could" test "$(runs "$r" sh -c "head -c9 $file 2>&1")" = "$(head -c9 $file 2>&1)"
		done
		policy "default: allow, write: [/proc/sys, /proc/sys/vm, \"/proc/**\"]"
		ok "$r: a rule for a folder above does not name it" fails runs "$r" sh -c "cat $setting >$setting" 2>"$tmp/err"
		policy "default: allow, write: [\"$setting\"]"
		ok "$r: one for the very path does" runs "$r" sh -c "cat $setting >$setting"
	done
	# audit and policy explain say the same
	policy 'default: allow'
	for engine in hybrid kernel; do
		timeout 20 "$AGENTWATCH" run --mode audit --quiet --engine $engine --log "$tmp/log" --policy "$tmp/policy.yaml" -- \
			sh -c "cat $setting >$setting; cat /proc/self/comm >/dev/null; echo x >/proc/self/comm" 2>"$tmp/err"
		is "$setting deny false a setting of the kernel; only a rule that names it allows it" "$engine: audit tells what enforce does about a setting" \
			"$(jq -r 'select(.verdict == "deny") | "\(.path) \(.verdict) \(.enforced) \(.reason)"' "$tmp/log")"
	done
	explain() { "$AGENTWATCH" policy explain --policy "$tmp/policy.yaml" --json "$@" | jq -r '"\(.verdict) \(.reason // "-")"'; }
	is 'deny a setting of the kernel; only a rule that names it allows it' 'so does policy explain' "$(explain --write $setting)"
	is 'allow -' 'which lets it be read' "$(explain --read $setting)"
	is 'allow -' 'and what a process says of itself be written' "$(explain --write /proc/self/comm)"
	policy "default: allow, write: [\"$setting\"]"
	is 'allow -' 'and written where a rule names it' "$(explain --write $setting)"
else
	pass 'settings # SKIP they cannot be written here'
fi

# --- orphans ---
mkdir "$tmp/open"
chmod 777 "$tmp/open"
is 65534 'bare: an orphan has the rights of who made it' "$("$machine" adopt "$tmp/open/bare" >/dev/null; stat -c %u "$tmp/open/bare")"
for r in "${runners[@]}"; do
	policy 'default: allow' 'default: allow'
	runs "$r" "$machine" adopt "$tmp/open/$r" >/dev/null
	is 65534 "$r: so it has in enforce" "$(stat -c %u "$tmp/open/$r")"
done

# --- a process of agentwatch that the session can see ---
policy 'default: allow' 'default: deny, allow: ["*.example.com:443"]'
cat >find.sh <<'END'
for f in /proc/[0-9]*/comm; do
	if [ "$(cat $f 2>/dev/null)" = aw-sockets ]; then d=${f%/comm}; echo ${d#/proc/}; fi
done >pids
END
mkfifo go gone
runs exec sh -c "echo \$\$ >shell; read x <go; for w in kill trace folder mem environ fd/0; do $machine helper \$w \$(cat pid); done; echo >gone" >"$tmp/out" &
run=$!
for _ in $(seq 100); do
	sh find.sh
	helper=$(while read -r p; do
		[ "$(awk '/^PPid/ { print $2 }' /proc/$p/status 2>/dev/null)" = "$(awk '/^PPid/ { print $2 }' "/proc/$(cat shell 2>/dev/null)/status" 2>/dev/null)" ] 2>/dev/null && echo $p
	done <pids)
	[ -z "$helper" ] || break
	sleep 0.05
done
if [ -n "$helper" ]; then
	echo $helper >pid
	echo >go
	read -r _ <gone
	is 'kill: EPERM trace: EPERM folder: EACCES mem: EACCES environ: EACCES fd/0: EACCES ' 'a helper of ours is no process of the session' "$(tr '\n' ' ' <"$tmp/out")"
	wait $run
else
	kill $run
	pass 'helpers # SKIP the name service needs none here'
fi
done_testing
