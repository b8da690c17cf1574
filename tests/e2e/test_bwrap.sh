#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_bwrap.sh - the sandbox that bubblewrap makes.
. "$(dirname "$0")/../tap.sh"
runner=bwrap
. "$(dirname "$0")/sandbox.sh"

denied_read() { in_wall audit cat "$1" 2>&1; }
like 'Permission denied' 'a masked file is refused to root too' "$(denied_read .env)"
like "$refusal" 'and to be written' "$(in_wall audit sh -c 'echo x >.env' 2>&1)"

# A bwrap that the command could have put there itself.
mkdir -p "$tmp/bin"
printf '#!/bin/sh\ntouch "%s/ran"\n' "$tmp" >"$tmp/bin/bwrap"
chmod 755 "$tmp/bin/bwrap"
own_mounts=(unshare --mount)
[ "$(id -u)" -eq 0 ] || own_mounts=(unshare --mount --user --map-root-user)
like "$tmp/bin/bwrap is not used: its user may change it" "a bwrap that its user may change is refused, with a sentence" \
	"$(PATH=$tmp/bin:$PATH "${own_mounts[@]}" sh -c 'mount --bind /dev/null /usr/bin/bwrap && exec "$@"' sh \
		"$aw" run --runner bwrap -- true 2>&1)"
ok 'and did not run' test ! -e "$tmp/ran"

# Somebody exchanges a planned folder while bwrap is about to mount it.
area=$tmp/exchanged
mkdir -p "$area/shown" "$area/secret"
echo fine >"$area/shown/file"
echo SECRET >"$area/secret/file"
: >"$area/bwrap"
cat >"$area/wrapper" <<END
#!/bin/sh
if [ "\$1" = --args ] && [ -e "$area/exchange" ]; then
	mv "$area/shown" "$area/aside" && ln -s "$area/\$(cat "$area/exchange")" "$area/shown"
fi
exec "$area/bwrap" "\$@"
END
chmod 755 "$area/wrapper"
printf 'version: 1\nmode: enforce\nbase: read-only\nfilesystem: {default: deny, read: [/usr, /bin, /lib, /lib64, /etc], write: ["%s"], deny: ["%s"]}\n' \
	"$area/shown" "$area/secret" >"$tmp/exchanged.yaml"
exchanging() # by a bwrap that waits for the exchange; in a view of the mounts of its own
{
	"${own_mounts[@]}" sh -c 'mount --bind /usr/bin/bwrap "$0/bwrap" && mount --bind "$0/wrapper" /usr/bin/bwrap && exec "$@"' "$area" \
		"$aw" run -q --log none --policy "$tmp/exchanged.yaml" --runner bwrap -- cat "$area/shown/file" 2>&1
}
if [ "$(exchanging)" = fine ]; then
	echo secret >"$area/exchange"
	got=$(exchanging)
	like "$area/shown was exchanged while the sandbox was made; nothing was started" 'a folder exchanged for a link to a denied one: a sentence' "$got"
	ok 'and nothing of that is read' sh -c 'test -L "$0" && ! grep -q SECRET' "$area/shown" <<<"$got"
	rm "$area/shown"
	mv "$area/aside" "$area/shown"
	echo aside >"$area/exchange"
	is fine 'one moved, with a link to it in its place, is the same' "$(exchanging)"
else
	skip 'a folder exchanged while bwrap mounts' "no bwrap below another one's name: $(exchanging | tail -n 1)"
fi

# A file that comes later, in a folder nobody may change.
in_wall audit sh -c 'touch src/ready; sleep 1; cat "$HOME/.aws"; ls -A "$HOME"' >"$tmp/later" 2>/dev/null &
pid=$!
wait_for 5 test -e src/ready
echo LATER >"$HOME/.aws"
wait $pid
is .ssh 'a secret that comes later is not there, nor its name' "$(cat "$tmp/later")"
rm -f "$HOME/.aws" src/ready

# A folder of many parts is mounted as a whole where Landlock grants them one by one. A static
# program under the engine preload is seen by the kernel alone.
wide=$tmp/wide
mkdir -p "$wide/closed"
for i in {1..40}; do echo "$i" >"$wide/f$i"; done
echo SECRET | tee "$wide/secret" "$wide/closed/secret" >"$tmp/out"
ln -s f1 "$wide/link"
for list in deny hide; do
	printf 'version: 1\nfilesystem: {default: read-only, write: ["%s"], %s: ["%s/secret", "%s/closed", "%s/later"]}\n' \
		"$repo" $list "$wide" "$wide" "$wide" >"$tmp/wide.$list.yaml"
done
wide_plan() # how the folder is mounted
{
	"$aw" run -q --log none --session "wide-$1-$2" --runner bwrap --mode "$1" --policy "$tmp/wide.$2.yaml" -- true
	grep -c -- "--tmpfs $wide \|--ro-bind $wide/f" "$XDG_STATE_HOME/agentwatch/sessions/wide-$1-$2/plan.txt"
}
is 41 'audit: the parts of a folder with a missing secret one by one' "$(wide_plan audit deny)"
if compile sandbox_probe gcc -D_GNU_SOURCE -O1 -static "$root/tests/e2e/sandbox_probe.c"; then
	for rules in '{default: allow}' '{default: read-only}' '{default: deny, read: ["/"]}' '{default: read-only, deny: [/dev/mqueue]}'; do
		printf 'version: 1\nmode: enforce\nfilesystem: %s\n' "$rules" >"$tmp/queue.yaml"
		result=ok
		case $rules in *mqueue*) result=EACCES ;; esac
		is "queue aw-bwrap $result" "POSIX queues with $rules: $result" \
			"$("$aw" run -q --log none --runner bwrap --policy "$tmp/queue.yaml" -- "$compiled" queue aw-bwrap 2>&1)"
	done
fi
if compile sandbox_probe gcc -D_GNU_SOURCE -O1 -static "$root/tests/e2e/sandbox_probe.c" &&
	grep -qw landlock /sys/kernel/security/lsm 2>/dev/null || "$aw" run -q --log none --runner landlock -- true 2>/dev/null; then
	is 0 'enforce: a folder of many parts as a whole' "$(wide_plan enforce deny)"
	is 41 'unless a name in it is not to be seen' "$(wide_plan enforce hide)"
	"$aw" run -q --log none --mode enforce --engine preload --runner bwrap --policy "$tmp/wide.deny.yaml" -- \
		sh -c 'touch src/ready; while [ ! -e src/go ]; do sleep 0.1; done; exec "$@"' sh "$compiled" read "$wide/f1" read "$wide/link" \
		list "$wide" read "$wide/secret" read "$wide/later" >"$tmp/wide.out" 2>"$tmp/err" &
	pid=$!
	wait_for 5 test -e src/ready
	echo NEW >"$wide/new" # before it takes the cover away
	mv "$wide/new" "$wide/secret"
	echo LATER >"$wide/later"
	touch src/go
	wait $pid
	is "read $wide/f1 ok
read $wide/link ok
list $wide ok
read $wide/secret EACCES
read $wide/later EACCES" 'and the kernel refuses what is denied in it, replaced or new' "$(cat "$tmp/wide.out")"
	is '' 'nor is there anything in a denied folder' \
		"$("$aw" run -q --log none --mode enforce --engine preload --runner bwrap --policy "$tmp/wide.deny.yaml" -- ls -A "$wide/closed" 2>/dev/null)"
	rm -f src/ready src/go
else
	skip 'a folder of many parts as a whole' 'no Landlock'
fi

# What is exposed has another name, and the rules for its own name hold there as well.
area=$tmp/area
shown=$area/shown
mkdir -p "$shown/sub" "$area/closed" "$repo/other"
for name in fine secret hid kept sub/deep.pem sub/fine; do echo "$name" >"$shown/$name"; done
echo CLOSED | tee "$area/closed/file" >"$shown/own"
ln -s secret "$shown/link"
ln -s ../closed/file "$shown/out"
ln -s sub/deep.pem "$shown/deep"
ln -s . "$area/way"
ln -s ../repo "$area/place"
expose() # SOURCE TARGET MODE...: the policy
{
	cat <<-END
		version: 1
		filesystem:
		  default: read-only
		  write: ["$repo"]
		  deny: ["$shown/secret", "$area/closed", "$shown/**/*.pem", "$shown/later"]
		  hide: ["$shown/hid"]
		  deny_write: ["$shown/kept"]
		  expose:
	END
	for ((; $#; )); do
		echo "    - {source: \"$1\", target: \"$2\", mode: $3}"
		shift 3
	done
}
expose "$shown" "$repo/other" rw "$area/way/shown" "$area/place/second" rw "$shown" "$area/new/below" ro "$area/closed" "$area/open" ro \
	"$area/closed/file" "$area/closed/file" rw "$shown/own" "$area/one" rw >"$tmp/expose.yaml"
mkdir -p "$repo/second"
cat >"$tmp/look" <<'END'
for folder; do
	for name in fine secret hid link out deep sub/fine sub/deep.pem; do
		text=$(cat "$folder/$name" 2>/dev/null) && echo "$name: $text"
	done
	(echo changed >"$folder/kept"; echo changed >"$folder/secret"; mv "$folder/secret" "$folder/moved") 2>/dev/null
done
END
shows='fine: fine
sub/fine: sub/fine'
for how in 'audit hybrid' 'enforce hybrid' 'enforce kernel' 'enforce preload'; do
	shown_in() { "$aw" run -q --log none --mode "${how% *}" --engine "${how#* }" --policy "$tmp/expose.yaml" --runner bwrap -- "$@" 2>&1; }
	for folder in "$repo/other" "$area/place/second" "$area/new/below"; do
		got=$(shown_in sh "$tmp/look" "$folder")
		# patterns are not held in audit
		[ "${how% *}" = enforce ] || got=$(grep -v 'deep' <<<"$got")
		is "$shows" "$how: what is denied or hidden is so below ${folder##*/}" "$got"
	done
	is 'kept secret' "$how: nor is it changed, or what may be read alone" "$(cat "$shown/kept" "$shown/secret" | xargs)"
	is '' "$how: a denied folder is not read by another name" "$(shown_in sh -c "ls -A $area/open; cat $area/open/file $area/closed/file" | grep -v 'denied\|No such\|cannot')"
	is '' "$how: what may be changed there is" "$(shown_in sh -c 'echo x >other/made && mv other/made second/x && rm other/x')"
	like "$refusal" "$how: but not where it is for reading" "$(shown_in sh -c "echo x >$area/new/below/made")"
	is '' "$how: a target that is not there is made in a view of its folder alone" "$(ls -d "$area/new" "$area/open" 2>/dev/null)"
	is text "$how: the rest of that folder is there" "$(shown_in cat "$tmp/outside/file")"
done
if [ -n "$compiled" ]; then # whom nothing but the sandbox refuses
	by_wall() { "$aw" run -q --log none --mode enforce --engine preload --policy "$tmp/expose.yaml" --runner bwrap -- "$compiled" "$@" 2>&1; }
	is "read $repo/other/fine ok
read $repo/other/secret EACCES
read $repo/other/hid EACCES
read $area/new/below/link EACCES
read $area/open/file EACCES
read $area/closed/file EACCES" 'the sandbox alone refuses what is named' \
		"$(by_wall read "$repo/other/fine" read "$repo/other/secret" read "$repo/other/hid" read "$area/new/below/link" read "$area/open/file" \
			read "$area/closed/file" | sed 's/ENOENT/EACCES/')"
fi
expose "$HOME" "$repo/other" rw >"$tmp/home.yaml"
echo rc >"$HOME/.bashrc"
in_home() { "$aw" run -q --log none --mode enforce --policy "$tmp/home.yaml" --runner bwrap -- "$@" 2>/dev/null; }
is made 'protections hold in a home of another name' "$(in_home sh -c 'cd other; cat .ssh/id; echo x >>.bashrc; echo x >.profile; echo made >made; cat made')"
is 'rc made' 'and it may be changed otherwise' "$(cat "$HOME/.bashrc" "$HOME/made" | xargs)"
is '' 'nothing that starts programs was made there' "$(ls "$HOME/.profile" 2>/dev/null)"
rm -f "$HOME/.bashrc" "$HOME/made"
expose "$shown" /aw-shown/here ro "$shown/fine" /etc/aw-shown ro >"$tmp/root.yaml"
is 'fine fine' 'a target right below / and one that is a file' \
	"$("$aw" run -q --log none --mode enforce --policy "$tmp/root.yaml" --runner bwrap -- cat /aw-shown/here/fine /etc/aw-shown | xargs)"
if [ -w / ]; then
	skip 'a target in a folder that is not closed, but that the user cannot change' 'root can'
else
	sed -i 's/read-only/allow/; 2i base: open' "$tmp/root.yaml"
	is fine 'a target in a folder that is not closed, but that the user cannot change' \
		"$("$aw" run -q --log none --mode enforce --policy "$tmp/root.yaml" --runner bwrap -- cat /aw-shown/here/fine)"
fi
expose "$area/closed" "$repo/none" ro >"$tmp/none.yaml"
is '' 'no place is made for what is not shown' "$("$aw" run -q --log none --policy "$tmp/none.yaml" --runner bwrap -- true 2>&1; ls -d "$repo/none" 2>/dev/null)"
expose "$shown" "$repo/none" ro >"$tmp/none.yaml"
like "cannot be shown at $repo/none, which is not there, in a directory that is shown as it is" 'a target that is missing where things may be made: a sentence' \
	"$("$aw" run -q --log none --mode enforce --policy "$tmp/none.yaml" --runner bwrap -- true 2>&1)"
is '' 'and it is not made' "$(ls -d "$repo/none" 2>/dev/null)"
for pair in '/ /host' '/proc /srv/proc' '/sys/kernel /srv/kernel'; do
	expose ${pair} ro >"$tmp/none.yaml"
	like 'guarded by their own names' "the kernel's files have no other name: $pair" "$("$aw" policy check "$tmp/none.yaml" 2>&1)"
done
# A link on the way is followed once, when the session starts.
mkdir -p "$repo/one" "$repo/two"
echo ONE | tee "$repo/one/secret" >"$repo/one/fine"
ln -s one "$repo/now"
sed "s|\"$shown/secret\"|\"$repo/one/secret\"|" <(expose "$repo/now" "$repo/other" rw) >"$tmp/link.yaml"
"$aw" run -q --log none --session link --mode enforce --policy "$tmp/link.yaml" --runner bwrap -- \
	sh -c 'ln -sfn two now; touch src/ready; while [ ! -e src/go ]; do sleep 0.1; done; cat other/fine other/secret' >"$tmp/link.out" 2>/dev/null &
pid=$!
wait_for 5 test -e src/ready
sed -i "s|$repo/now|$shown|" "$tmp/link.yaml"
ok 'the policy is read again' "$aw" policy reload link
touch src/go
wait $pid
is ONE 'with what the session shows since its start' "$(cat "$tmp/link.out")"
rm -rf src/ready src/go now other second one two

# Links to one's own process lead past no rule.
cat >"$tmp/globs.yaml" <<END
version: 1
filesystem: {default: read-only, write: ["$repo"], deny: ["**/.env"]}
END
for path in .env /proc/self/cwd/.env "/proc/self/root$repo/.env" /proc/thread-self/cwd/.env; do
	like 'Permission denied' "a pattern holds for $path" \
		"$("$aw" run -q --log none -m enforce -p "$tmp/globs.yaml" --runner bwrap -- cat "${path/$repo/$PWD}" 2>&1)"
done

# The minimal view.
cat >"$tmp/minimal.yaml" <<END
version: 1
base: read-only
filesystem: {default: deny, write: ["$repo/src"]}
END
minimal() { "$aw" run -q --log none -p "$tmp/minimal.yaml" --runner bwrap -- "$@" 2>&1; }
is '' 'minimal: HOME is empty' "$(minimal sh -c 'ls -A "$HOME"')"
is input 'minimal: the working directory is there' "$(minimal cat in)"
is text 'minimal: an absolute path that is an argument too' "$(minimal cat "$tmp/outside/file")"
like 'No such file' 'minimal: one that is none is not' "$(minimal sh -c "cat $tmp/outs''ide/file")"
like 'Read-only' 'minimal: the working directory is not for writing' "$(minimal sh -c 'echo >x')"
is '' 'minimal: what the policy lets be written is' "$(minimal sh -c 'echo >src/x && rm src/x')"
is 42 'minimal: programs run' "$(minimal /usr/bin/python3 -c 'print(42)')"
mkdir -p "$tmp/tool/node_modules/pkg" "$tmp/tool/node_modules/dep" "$tmp/tool/bin"
printf '#!/usr/bin/python3\nimport os\nprint(open(os.path.dirname(os.path.realpath(__file__)) + "/../dep/data").read(), end="")\n' \
	>"$tmp/tool/node_modules/pkg/cli"
chmod +x "$tmp/tool/node_modules/pkg/cli"
ln -s ../node_modules/pkg/cli "$tmp/tool/bin/cli"
echo data >"$tmp/tool/node_modules/dep/data"
is data 'minimal: a script finds its interpreter and its modules' "$(minimal "$tmp/tool/bin/cli")"

# Which sandbox, and when there is none.
unset AGENTWATCH_RUNNER
"$aw" run -q --session best --mode enforce -- true
is bwrap 'enforce without a word about runners: bwrap' \
	"$(jq -r .runner "$XDG_STATE_HOME/agentwatch/sessions/best/session.json")"
"$aw" run -q --session none -- true
is exec 'audit without a word: exec' \
	"$(jq -r .runner "$XDG_STATE_HOME/agentwatch/sessions/none/session.json")"
# Whether bwrap works here is tried once, and again when something has changed or failed.
noted=$XDG_STATE_HOME/agentwatch/bwrap.works
programs() # how many a start executes
{
	strace -f -qq -e trace=execve -e signal=none -o "$tmp/starts" "$aw" run -q --log none --mode enforce --runner bwrap -- true
	grep -c 'execve(' "$tmp/starts"
}
if have strace; then
	rm -f "$noted"
	is 2 'bwrap is tried, with another program in it, at the first start alone' $(($(programs) - $(programs)))
	sed -i 's/ / x/' "$noted"
	is 2 'and once more when anything is different' $(($(programs) - $(programs)))
else
	skip 'bwrap is tried once' 'no strace'
fi
if mkdir -p "/dev/shm/aw-sandbox.$$" 2>/dev/null; then # which is not there behind the sandbox
	like 'bwrap could not build the sandbox' 'a sandbox that cannot be built' \
		"$(cd "/dev/shm/aw-sandbox.$$" && "$aw" run -q --log none --mode enforce --runner bwrap -- true 2>&1)"
	ok 'is one that has to be tried again' [ ! -e "$noted" ]
	rmdir "/dev/shm/aw-sandbox.$$"
else
	skip 'a sandbox that cannot be built' 'no /dev/shm'
fi
like "runner 'brwap' is not known; it is one of exec, bwrap" 'an unknown runner: the names' \
	"$("$aw" run --runner brwap -- true 2>&1)"
like "runner 'docker' cannot be used: .*; nothing was started" 'a missing one: enforce fails' \
	"$("$aw" run --mode enforce --runner docker -- echo ran 2>&1)"
like "going on with exec, without a sandbox.*ran" 'audit goes on, and says so' \
	"$("$aw" run --runner docker -- echo ran 2>&1 | tr '\n' ' ')"
like 'nothing was started' 'unless it is told to fail' \
	"$("$aw" run --on-missing-runner fail --runner docker -- echo ran 2>&1)"
done_testing
