#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_fight.sh - programs that make life hard for whoever watches them.
#
# Each is run bare and watched; output and status must be the same.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
cc=${CC:-cc}
fight=$root/tests/e2e/fight

# program NAME [FLAG...]: compile fight/NAME.c; the path goes to $bin_NAME.
program()
{
	local name=$1
	shift
	compile "fight/$name" "$cc" -O1 -Wno-nonnull -Wno-stringop-overread -pthread "$@" "$fight/${name%%-*}.c" ||
		{ fail "fight/$name compiles" "$(cat "$tmp/compile.log")"; return 1; }
	printf -v "bin_${name//-/_}" %s "$compiled"
}
for name in closer forker vforker handler opener filter burst cancel full edges self scribble refused; do program $name; done
program early -shared -fPIC
program opener-static -static

# once DIRECTORY PREFIX... -- COMMAND...: the output, errors and status of one run, in a folder of its own.
once()
{
	local out=$1 rc
	shift
	rm -rf "${tmp:?}/$out"
	mkdir "$tmp/$out"
	(cd "$tmp/$out" && timeout -k 5 60 "$@" >"$tmp/$out.txt" 2>"$tmp/$out.err" </dev/null)
	rc=$?
	echo "status $rc" >>"$tmp/$out.txt"
	sed -e "s|$tmp/$out|DIR|g" "$tmp/$out.err" >>"$tmp/$out.txt"
}

# in_enforce FILE: make what a bare program says of itself what it says in enforce by design: no core dumps, root without
# the capabilities that enter_drop.c takes, and no O_NOFOLLOW in the flags of a descriptor (docs/LIMITS.md).
in_enforce()
{
	local name left
	sed -i -E 's/^limit 4: .*/limit 4: 0 0/' "$1"
	[ "$engine" = preload ] || sed -i 's/ flags 500000 / flags 100000 /' "$1"
	[ "$(id -u)" = 0 ] || return 0
	sed -i 's/securebits 0,/securebits 192,/' "$1"
	for name in CapPrm CapEff CapBnd; do
		left=$(sed -n "s/^$name:\t//p" "$1")
		[ -z "$left" ] || sed -i "s/^$name:.*/$name:\t$(printf %016x $((0x$left & kept_capabilities)))/" "$1"
	done
}
# chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service sys_chroot audit_write setfcap
kept_capabilities=$((1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 18 | 1 << 29 | 1 << 31))

# as_bare SENTENCE COMMAND...: bare and watched give the same, in the engine $engine.
as_bare()
{
	local sentence=$1
	shift
	once bare "$@"
	once watched "$AGENTWATCH" run --quiet --log "$log" --engine "$engine" ${options[@]+"${options[@]}"} -- "$@"
	sed -i -E "s,$tmp/bare,DIR,g; s/process [0-9]+/process N/" "$tmp/bare.txt"
	[ -z "${label:-}" ] || in_enforce "$tmp/bare.txt"
	sed -i -E "s,$tmp/watched,DIR,g; s/process [0-9]+/process N/" "$tmp/watched.txt"
	same "$tmp/bare.txt" "$tmp/watched.txt" "$engine${label:-}: $sentence"
}

# logged SENTENCE FILTER: some event in the last log passes the jq filter.
logged() { ok "$engine${label:-}: $1" jq -es --arg d "$tmp/watched" "any(.[]; $2)" "$log"; }

core()
{
	as_bare 'every descriptor closed, in a loop and by close_range' "$bin_closer"
	logged '... and what it opens later is logged' '.event == "call" and .path == $d + "/made"'
	as_bare 'fork without exec while four threads open files' "$bin_forker"
	as_bare 'vfork, also with a child killed inside a call' "$bin_vforker"
	as_bare 'open in a signal handler during open' "$bin_handler"
	as_bare 'the same on an 8 KB signal stack' "$bin_handler" small
	as_bare 'a preload of its own stays effective, its constructor may open' \
		env "LD_PRELOAD=$bin_early" "$bin_opener" /redirected/by/early /etc/hostname
	logged '... and what it did is logged' '.event == "call" and .path == "/etc/hostname"'
	as_bare 'env -i' env -i "$bin_opener" /etc/hostname /no/such/file
	logged '... is logged' '.event == "call" and .path == "/no/such/file"'
	as_bare 'env -i in a row of shells' env -i /bin/sh -c "env -i /bin/sh -c 'env -i $bin_opener /etc/hostname; exit 3'"
	logged '... is logged' ".event == \"call\" and .path == \"/etc/hostname\" and (.exe | endswith(\"opener\"))"
	# done on behalf, a name is looked up before the table of descriptors is
	as_bare 'sixteen descriptors, all used' "$bin_full" ${label:+there}
	as_bare 'a filter of its own that lets openat pass only' "$bin_filter" prctl
	as_bare 'the same by seccomp(2)' "$bin_filter" seccomp
	as_bare 'and it still kills' "$bin_filter" prctl kill
	as_bare 'a thread blocked in open or connect is cancelled' "$bin_cancel"
	as_bare 'odd paths, flags, folders: every answer as bare' "$bin_edges"
	as_bare 'what a program knows about itself' "$bin_self" one 'two three' ''
	as_bare 'the same through PATH' env "PATH=$(dirname "$bin_self"):$PATH" self
	as_bare 'the same with signals blocked and ignored, limits and umask changed' bash -c \
		"trap '' PIPE USR1 CHLD; ulimit -n 64 -s 4096 -c 0; umask 027; exec '$bin_self' x"
	as_bare 'the same in a session of its own' setsid -w "$bin_self"
	as_bare 'the same under another name' bash -c "exec -a other-name '$bin_self' y"
}

# Enforce answers and carries out more of the calls, so the same again with a policy that allows all; protected hooks
# would put GIT_TEMPLATE_DIR into the environment.
printf 'version: 1\nmode: enforce\nbase: open\nrunner: exec\nprotections: {git-hooks: off}\nfilesystem: {default: allow, deny: ["/no/such/denied"]}\nnetwork: {default: allow}\n' >"$tmp/allow.yaml"

for engine in $(engines); do
	options=(--policy "$tmp/allow.yaml")
	label=", enforce"
	export EDGES_SHALLOW=1
	core
	unset EDGES_SHALLOW
	options=() label=
	core

	if [ "$engine" != preload ]; then
		as_bare 'a static program' "$bin_opener_static" /etc/hostname /no/such/file
		logged '... is logged, by the kernel' '.event == "call" and .path == "/no/such/file" and .source == "kernel"'
	fi

	as_bare '500 processes at once' bash -c 'for n in {1..500}; do (: <'"$tmp"'/watched/f$n 2>/dev/null || sleep 0.2) 2>/dev/null & done; wait; echo done'
	is 500 "$engine: each is logged" "$(jq -r 'select(.event == "call" and ((.path // "") | test("/f[0-9]+$"))) | .path' "$log" | sort -u | wc -l)"

	# Killed in the middle of a burst: what was created is logged, and nothing else is.
	for round in 1 2 3; do
		rm -rf "$tmp/kill"; mkdir -p "$tmp/kill/burst"
		(cd "$tmp/kill" && "$AGENTWATCH" run --quiet --log "$log" --engine "$engine" -- \
			bash -c "'$bin_burst' & sleep 0.$((RANDOM % 3 + 2)); kill -KILL \$!; wait" 2>/dev/null)
		made=$(find "$tmp/kill/burst" -type f | wc -l)
		told=$(jq -r 'select(.event == "call" and .action == "create" and ((.path // "") | test("/burst/[0-9]+$"))) | .path' "$log" | sort -u | wc -l)
		# The last one may have been announced and not done.
		if [ "$made" -gt 0 ] && { [ "$told" = "$made" ] || [ "$told" = $((made + 1)) ]; }; then
			pass "$engine: killed in a burst, nothing is lost ($made files)"
		else
			fail "$engine: killed in a burst, nothing is lost" "$made files made, $told in the log"
		fi
	done

	as_bare 'a nested agentwatch run' bash -c 'if [ "$1" ]; then shift; fi; "$@"' x '' "$bin_opener" /etc/hostname
	once nested "$AGENTWATCH" run --quiet --log "$log" --engine "$engine" -- \
		"$AGENTWATCH" run --quiet --log "$tmp/inner.jsonl" -- sh -c "'$bin_opener' /etc/hostname; exit 6"
	like 'status 6' "$engine: nested: output and status come through" "$(cat "$tmp/nested.txt")"
	ok "$engine: nested: the inner log has the call" grep -q '"path":"/etc/hostname"' "$tmp/inner.jsonl"
	logged 'nested: the outer log has it too' '.event == "call" and .path == "/etc/hostname"'

	# A target that lies in its ring: harmless to others, and to the end of the run.
	for how in '1' '2' '3 0' '4 255'; do
		"$AGENTWATCH" run --quiet --log "$log" --engine "$engine" -- bash -c "
			(for n in 1 2 3 4 5; do cat /etc/hostname; '$bin_opener' /no/such/\$n; done) >/dev/null &
			timeout 20 '$bin_scribble' $how; wait; '$bin_opener' /no/such/later; exit 6" >"$tmp/out" 2>"$tmp/err"
		is 6 "$engine: a ring full of rubbish ($how) does not end the run" $?
		is 5 "$engine: and the other processes are logged all the same" \
			"$(jq -r 'select(.event == "call" and ((.path // "") | test("^/no/such/[0-9]$"))) | .path' "$log" | sort -u | wc -l)"
		logged 'and the one that follows' '.event == "call" and .path == "/no/such/later"'
	done
	"$AGENTWATCH" run --quiet --log "$log" --engine "$engine" -- "$bin_scribble" 1 0 report 2>"$tmp/err" >/dev/null
	like 'cut 0' "$engine: nothing that is shared can be cut off" "$(cat "$tmp/err")"

	if have gdb; then
		as_bare 'gdb runs a program inside' gdb -nx -batch -ex 'set startup-with-shell off' -ex 'set debuginfod enabled off' \
			-ex 'break main' -ex run -ex 'print argc' -ex continue --args "$bin_opener" /etc/hostname
	else skip "$engine: gdb inside" 'no gdb'; fi
	if have strace; then
		as_bare 'strace inside shows the calls' bash -c "strace -o trace -e trace=write '$bin_opener' /etc/hostname; grep -c write trace"
		once traced "$AGENTWATCH" run --quiet --log "$log" --engine "$engine" -- strace -f -o trace -e trace=file "$bin_opener" /etc/hostname
		ok "$engine: strace inside sees the open" grep -q '"/etc/hostname"' "$tmp/traced/trace"
	else skip "$engine: strace inside" 'no strace'; fi

	if is_root; then
		jail=$tmp/jail
		mkdir -p "$jail/etc" "$jail/lib64" "$jail/bin"
		echo jailed >"$jail/etc/hostname"
		cp "$bin_opener_static" "$jail/bin/static"
		cp "$bin_opener" "$jail/bin/dynamic"
		for file in $(ldd "$bin_opener" | grep -o '/[^ ]*'); do
			mkdir -p "$jail$(dirname "$file")"; cp -L "$file" "$jail$file"
		done
		if [ "$engine" = preload ]; then
			skip "$engine: chroot, dynamic" 'a jail without the shim in it is a gap of this engine'
		else
			as_bare 'chroot, dynamic' chroot "$jail" /bin/dynamic /etc/hostname /no/such/file
			logged '... is logged with the path as the host sees it, or the jail' '.event == "call" and ((.path // "") | test("etc/hostname$")) and ((.exe // "") | test("dynamic"))'
			as_bare 'chroot, static' chroot "$jail" /bin/static /etc/hostname
		fi
		if have setpriv; then
			as_bare 'setuid down from root' setpriv --reuid=65534 --regid=65534 --clear-groups /bin/sh -c 'id -u; cat /etc/shadow; cat /etc/hostname; cd /; ls /root; sh -c "exec cat /etc/hostname"'
			as_bare 'the same for what it knows about itself' setpriv --reuid=65534 --regid=65534 --clear-groups "$bin_self"
			logged '... and its opens are logged' '.event == "call" and .path == "/proc/self/status" or ((.path // "") | test("/status$"))'
		fi
		if have unshare; then
			as_bare 'mount and pid namespaces of its own' unshare -mpf --mount-proc "$bin_opener" /etc/hostname /proc/self/status
			as_bare 'a user namespace of its own' unshare -Ur "$bin_opener" /etc/hostname
		fi
	else
		skip "$engine: chroot, setuid, namespaces" 'needs root'
	fi

	# What would take the watching away.
	if [ "$engine" != preload ]; then
		as_bare 'audit: io_uring is as bare' "$bin_refused" uring
		logged '... with a warning' '.event == "warning" and (tostring | test("io_uring"))'
		is 'EBUSY' "$engine: a notification listener inside is EBUSY, the known difference" \
			"$("$AGENTWATCH" run --quiet --log "$log" --engine "$engine" -- "$bin_refused" listener)"
		like '^(EPERM|ENOSYS|EACCES)$' "$engine: enforce: io_uring is refused" \
			"$("$AGENTWATCH" run --quiet --log "$log" --engine "$engine" --mode enforce --runner exec -- "$bin_refused" uring)"
	fi
done

# records that name others: a process outside, a sibling and one that there is not
if compile fight/forge "$cc" -O1 -D_GNU_SOURCE -I"$root" "$fight/forge.c" "$root/policy/shared/ring.c"; then
	forge=$compiled
	sleep 600 &
	outside=$!
	for engine in $(engines); do
		[ "$engine" != kernel ] || continue
		for mode in audit enforce; do
			forged=$outside
			[ "$engine" = preload ] || forged="$outside 4194303"
			"$AGENTWATCH" run --quiet --engine "$engine" --mode "$mode" --log "$tmp/log" -- bash -c \
				'sleep 600 & victim=$!; "$@" $victim; kill $victim; wait $victim; echo "victim $victim ended with $?"' bash "$forge" $forged >"$tmp/out" 2>&1
			like 'ended with 143' "$engine, $mode: forged records: the one that is named goes on" "$(cat "$tmp/out")"
			own=$(sed -n 's/^pid //p' "$tmp/out")
			is "$own" '... all are logged as of who wrote them' "$(jq -r 'select(.path == "/forged") | .pid' "$tmp/log" | sort -u)"
			[ "$engine" = preload ] || is '' '... and no exec comes of them' "$(jq -r 'select(.event == "exec" and .path == "/forged") | .pid' "$tmp/log")"
		done
	done
	kill $outside
	wait $outside 2>/dev/null
else fail 'fight/forge compiles' "$(cat "$tmp/compile.log")"; fi
done_testing
