#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_gitconfig.sh - git works as ever, and its configuration gets no key that runs a program.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have git || skip_all 'no git; apt-get install it'
have python3 || skip_all 'no python3; apt-get install it'
export HOME=$tmp/home GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2020-01-01 00:00 +0000' GIT_COMMITTER_DATE='2020-01-01 00:00 +0000'
unset XDG_CONFIG_HOME
mkdir "$HOME"
git config --global user.name ann && git config --global user.email ann@example.com
git config --global init.defaultBranch main && git config --global core.pager cat
git config --global protocol.file.allow always && git config --global advice.detachedHead false
cat >"$tmp/policy.yaml" <<'END2'
version: 1
filesystem: {default: read-only, write: ["$WORKSPACE", "$HOME"]}
network: {default: deny, listen: ["unix:$WORKSPACE"]}
END2
runners=()
for runner in exec landlock bwrap; do
	if "$AGENTWATCH" run --quiet --mode enforce --runner $runner --log none -- true >/dev/null 2>"$tmp/err"; then
		runners+=($runner)
	else
		skip "behind $runner" "$(tail -n 1 "$tmp/err")"
	fi
done

# stage: a fresh workspace, its configuration including a file and having a second name.
stage()
{
	rm -rf "$tmp/w"
	mkdir -p "$tmp/w/conf"
	cd "$tmp/w" || exit 1
	git init -q .
	mkdir -p .git/info
	printf '/conf\n/second-name\n' >.git/info/exclude
	printf '[user]\n\tname = included\n' >conf/included
	git config include.path ../conf/included
	ln .git/config second-name
}

# enforced RUNNER [OPTION...] COMMAND...
enforced()
{
	local runner=$1
	shift
	"$AGENTWATCH" run --quiet --mode enforce --policy "$tmp/policy.yaml" --runner "$runner" --log "$log" "$@" 2>&1
}

# refused TEXT SENTENCE: the log has a refusal that says so, with file and line.
refused()
{
	ok "$2" jq -es --arg text "git-config: $1" 'any(.[]; .event == "call" and .verdict == "deny" and .enforced == true and
		.rule.text == $text and .rule.layer == "built-in" and .rule.line > 0 and .strength == "supervisor" and .result == "EACCES")' "$log"
}

# what people do all day: the same files and answers as without a watch
cat >"$tmp/day" <<'END2'
set -e
exec 2>&1
echo a >a; mkdir d; echo b >d/b; git add .; git commit -qm a
git config user.name bob; git config --unset user.name; git config pager.log false
git init -q --bare up.git; git remote add origin ../w/up.git; git push -qu origin main
git checkout -qb topic --track origin/main; git checkout -q main
git remote rename origin o; git remote rename o origin
git worktree add -q wt -b tree; (cd wt; echo c >c; git add c; git commit -qm c)
git sparse-checkout init --cone; git sparse-checkout set d; git -C wt config --worktree core.abbrev 9; git sparse-checkout disable
git init -q lib; (cd lib; echo s >s; git add s; git commit -qm s)
git submodule add -q "file://$PWD/lib" sub; git commit -qm sub
git clone -q --recurse-submodules . copy; git -C copy submodule update -q --init
echo z >>a; git stash -q; git stash pop -q; git commit -qam z; git checkout -qb r HEAD~1; echo q >q; git add q; git commit -qm q; git rebase -q main
git submodule deinit -q -f sub; git worktree remove --force wt; git config --rename-section branch.topic branch.other
git clone -q --mirror up.git mirror.git; cp .git/config kept; sed -i 's/other/topic/' .git/config
for repo in . up.git copy lib mirror.git; do git -C $repo config -l --local --show-origin; ls -l $repo/.git/config $repo/config 2>/dev/null | cut -c1-10; done
git log --format=%H
END2
# the day by name, without what differs from folder to folder
day() { stage; "$@" sh "$tmp/day" | sed "s|$tmp||g"; }
day env >"$tmp/bare"
for runner in "${runners[@]: -1}"; do
	day enforced "$runner" -- >"$tmp/watched"
	same "$tmp/bare" "$tmp/watched" "$runner: a day of commits, remotes, worktrees, submodules, clones goes as without a watch"
	is '' "$runner: nothing of it was refused" "$(jq -r 'select(.verdict == "deny") | "\(.call) \(.path) \(.rule.text)"' "$log")"
	day enforced "$runner" --engine kernel -- >"$tmp/watched"
	same "$tmp/bare" "$tmp/watched" "$runner: nor with the engine kernel"
done

for runner in "${runners[@]}"; do
	stage
	relay "$runner: " < <(enforced "$runner" -- /usr/bin/python3 "$root/tests/e2e/gitconfig.py")
	ok "$runner: no copy of ours is left" test -z "$(find "$tmp/w" "$HOME" -name '.agentwatch-*')"
	stage
	like 'ermission denied' "$runner: git cannot set an alias that is a command" "$(enforced "$runner" -- git config alias.x '!touch y')"
	refused "alias.x would run a program" "$runner: and the log names the key"
	is '' "$runner: its lock is gone" "$(ls .git/config.lock 2>/dev/null)"
	like 'ermission denied' "$runner: nor a hooks folder" "$(enforced "$runner" -- git config core.hooksPath .x)"
	like 'ermission denied' "$runner: nor a pager for all repositories" "$(enforced "$runner" -- git config --global core.pager evil)"
	refused "core.pager would run a program" "$runner: which the log names, too"
	like 'ermission denied' "$runner: nor a filter in a clone" "$(enforced "$runner" -- git clone -q -c filter.x.clean=evil . other)"
	like 'ermission denied' "$runner: nor in place" "$(enforced "$runner" -- sh -c 'echo x >>.git/config')"
	refused "$tmp/w/.git/config" "$runner: which the log says by the file"
	is '' "$runner: a value that was there may be set again" "$(enforced "$runner" -- git config --global core.pager cat)"
	is cat "$runner: and is what it was" "$(git config --global core.pager)"
done

# what leads elsewhere, weakens a check or reaches files is refused as well, and says so
sends='would send data or credentials elsewhere' weakens='would weaken a check' runs='would run a program'
runner=${runners[0]}
stage
while IFS='|' read -r key value said; do
	like 'ermission denied' "git cannot set $key to '$value'" "$(enforced "$runner" -- git config "$key" "$value")"
	refused "$key $said" "and the log says that $key $said"
	is '' "$key is not there" "$(git config --local "$key")"
done <<END2
http.proxy|http://evil.example:8080|$sends
http.https://h.example/.curloptResolve|h.example:443:10.0.0.1|$sends
http.extraHeader|Authorization: x|$sends
http.sslVerify|false|$weakens
http.sslCAInfo|/tmp/evil.pem|$weakens
http.sslCert|/tmp/evil.pem|$sends
url.https://evil.example/.insteadOf|https://h.example/|$sends
url.https://evil.example/.pushInsteadOf|https://h.example/|$sends
remote.origin.proxy|http://evil.example|$sends
remote.origin.url|evil::x|$runs
remote.origin.url|evil://h/x|$runs
remote.origin.pushurl|ext::sh -c evil|$runs
remote.https://h.example/x.url|https://evil.example/x|$sends
remote.pushDefault|https://evil.example/x|$sends
branch.main.remote|https://evil.example/x|$sends
branch.main.pushRemote|ext::sh -c evil|$sends
fetch.bundleURI|https://evil.example/x|$sends
gpg.ssh.allowedSignersFile|.signers|$weakens
rebase.instructionFormat|%s%nexec evil|$runs
sendemail.smtpServer|evil.example|$sends
commit.template|/etc/passwd|would reach files elsewhere
evil.command|x|is not known to be harmless
END2
is '' "$runner: a remote with a plain address, and a branch of it, are set" \
	"$(enforced "$runner" -- sh -c 'git remote add o https://h.example/x.git; git remote set-url --push o git@h.example:x.git
		git config branch.main.remote o; git config branch.main.merge refs/heads/main; git config http.sslVerify true; git config branch.main.pushRemote o')"
is 'https://h.example/x.git git@h.example:x.git o' 'and are there' \
	"$(git config remote.o.url) $(git config remote.o.pushurl) $(git config branch.main.remote)"
for name in remotes branches; do
	like 'ermission denied|cannot create' "$runner: nor does .git/$name name an address" \
		"$(enforced "$runner" -- sh -c "mkdir -p .git/$name && echo https://evil.example/x >.git/$name/evil")"
	ok "which is not there" test ! -e .git/$name/evil
done
# git takes no program from .gitmodules, nor an address that is one, so anybody may write it
for field in "update = !touch $tmp/w/ran" "url = ext::touch $tmp/w/ran"; do
	stage
	git init -q lib && git -C lib commit -q --allow-empty -m one
	enforced "$runner" -- sh -c "git submodule add -q -f 'file://$tmp/w/lib' sub; printf '\t%s\n' '$field' >>.gitmodules" >/dev/null
	like "$field" "$runner: .gitmodules may say $field" "$(cat .gitmodules)"
	git config --remove-section submodule.sub
	rm -rf .git/modules sub
	git submodule update -q --init >/dev/null 2>&1
	ok 'which git does not run' test ! -e ran
done
# another folder with HEAD and commondir is a repository, too: what it reads is judged
stage
like 'ermission denied' "$runner: nor does a folder with commondir bring a configuration" "$(enforced "$runner" -- sh -c '
	mkdir one two two/objects; echo ref: refs/heads/main >one/HEAD; echo ../two >one/commondir
	printf "[core]\n\tfsmonitor = evil\n" >two/config; mkdir two/refs; git --git-dir=one config -l')"
ok 'which is then no repository' test ! -e two/refs
like 'ermission denied' "$runner: nor one of its own" "$(enforced "$runner" -- sh -c 'rm two/config; mkdir two/refs; echo x >one/config.worktree')"

# the log says which key it was, in which line of what would have come
stage
where=$tmp/w/.git/config
enforced "$runner" -- sh -c 'git config core.sshCommand evil; mkdir -p x/objects; git config -f x/config core.editor evil; mkdir x/refs; echo >>.git/config' >/dev/null
# git puts it behind the last key of its section
key="$where:$(sed -n '/^\[core\]/,/^\[/=' .git/config | tail -n 1): core.sshCommand would run a program"
is "$key" 'the reason is the key with its file and line' "$(jq -r 'select(.call == "rename" and .verdict == "deny") | .reason' "$log")"
is "$where.lock -> $key  EACCES" 'which a row of the log shows behind the file' \
	"$("$AGENTWATCH" log --denied "$log" | grep -o "$where.lock -> .*")"
is "$where.lock -> $where  EACCES  $key" 'and the column of rules instead, where there is one' \
	"$("$AGENTWATCH" log --denied --rules "$log" | grep -o "$where.lock -> .*")"
is "$tmp/w/x/refs, $tmp/w/x/config:2: core.editor would run a program  EACCES" 'with its file, where that is another' \
	"$("$AGENTWATCH" log --denied "$log" | grep -o "$tmp/w/x/refs.*")"
like "$where  EACCES  protections: git-config: $where: only a new file may be renamed onto it, whose keys are judged" \
	'what is written in place is told so' "$("$AGENTWATCH" log --denied --rules "$log")"

# the format of a rebase's list is such a key, since its lines are commands
git commit -q --allow-empty -m one; git branch base; git commit -q --allow-empty -m two
git config rebase.instructionFormat "%s%nexec touch $tmp/w/ran"
git rebase -q --force-rebase --root >/dev/null 2>&1
ok 'a format with a second line runs it in git' test -e ran

# a static program, which no library sees
if compile static/rename "${CC:-cc}" -static -O1 -x c "$root/tests/e2e/rename.c"; then
	stage
	printf '[core]\n\tfsmonitor = evil\n' >bad
	printf '[user]\n\tname = x\n' >good
	like 'ermission denied' 'a static program is judged, too' "$(enforced exec -- "$compiled" bad .git/config)"
	refused 'core.fsmonitor would run a program' 'by the key'
	is '' 'and may do what is harmless' "$(enforced exec -- "$compiled" good .git/config)"
	is x 'which is done' "$(git config user.name)"
else skip 'a static program is judged, too' 'no static libc'; fi

# audit changes nothing and says what it would refuse, once
stage
is '' 'audit lets git set what it likes' "$("$AGENTWATCH" run --quiet --log "$log" -- git config alias.x '!touch y' 2>&1)"
is '!touch y' 'and it is set' "$(git config alias.x)"
is 1 'the log has it once, with the key' "$(jq -s '[.[] | select(.verdict == "deny" and .enforced == false and .rule.text == "git-config: alias.x would run a program")] | length' "$log")"
"$AGENTWATCH" run --quiet --log "$log" -- sh -c 'echo "# x" >>.git/config; git config user.name bob'
is '["git-config: '"$tmp"'/w/.git/config"]' 'writing in place is said, setting a name is not' \
	"$(jq -cs '[.[] | select(.verdict == "deny") | .rule.text]' "$log")"

# the library alone
like 'ermission denied' 'engine preload: dynamic programs are judged' "$(enforced exec --engine preload -- git config core.editor evil)"
is '"shim"' 'which is no more than cooperation' "$(jq 'select(.rule.text == "git-config: core.editor would run a program") | .strength' "$log")"
is '' 'engine preload: a harmless key is set' "$(enforced exec --engine preload -- git config user.name carl)"
is carl 'and is there' "$(git config user.name)"

printf 'version: 1\nprotections: {git-config: off}\n' >>"$tmp/off.yaml"
is '' 'the protection can be switched off' "$(enforced exec --policy "$tmp/off.yaml" -- git config core.editor mine)"
is mine 'and then all can be set' "$(git config core.editor)"
like 'git-config: .*supervisor.*a rename onto it' 'policy explain says how it is held' \
	"$("$AGENTWATCH" policy explain --mode enforce --runner exec --policy "$tmp/policy.yaml" --write .git/config 2>&1)"
like 'by key *"?git-config: ~/.gitconfig' 'policy show lists it' "$("$AGENTWATCH" policy show 2>&1)"
cd / || exit 1
done_testing
