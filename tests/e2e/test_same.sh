#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_same.sh - real programs and their own tests: the same results bare, in audit, and in enforce with a policy that allows all.
#
# AW_FULL=1: the longer ones too.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
. "$root/tests/e2e/as_bare.sh"
need_agentwatch
alone "$0" # servers here listen where nobody else does
export HOME=$tmp/home GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
mkdir -p "$HOME"

cat >"$tmp/all.yaml" <<-END
	version: 1
	mode: enforce
	protections: off
	filesystem: {default: allow}
	network: {default: allow, listen: ["*", "unix:**"]}
END
settings=("audit=--mode audit")
for runner in exec landlock; do
	"$AGENTWATCH" run --quiet --log none --runner $runner --on-missing-runner fail --policy "$tmp/all.yaml" -- true >/dev/null 2>&1 ||
		{ skip "enforce, $runner" 'it does not work here'; continue; }
	settings+=("enforce, $runner=--runner $runner --policy $tmp/all.yaml")
done

# compiled NAME SOURCE GCC-OPTION...: a C program in $tmp.
compiled() { printf '%s' "$2" >"$tmp/$1.c" && gcc -g -o "$tmp/$1" "$tmp/$1.c" "${@:3}" 2>"$tmp/compile.log"; }
export tmp

# shellcheck disable=SC2016
memory='#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
static void *run(void *p) { FILE *f = fopen("/etc/passwd", "r"); char line[8]; fgets(line, 8, f); fclose(f); *(int *)p = line[0]; return p; }
int main(int argc, char **argv) {
	int *p = malloc(sizeof(int)); pthread_t t;
	pthread_create(&t, NULL, run, p); pthread_join(t, NULL);
	printf("%d %d\n", *p, system("echo child"));
	if (argc > 1) { free(p); return *p & 0; }
	free(p); return 0; }
'
for with in address undefined thread leak; do
	if compiled "with_$with" "$memory" -fsanitize=$with -pthread; then
		as_bare "gcc's sanitizer: $with" "\$tmp/with_$with"
		[ $with != address ] || as_bare 'its report' '$tmp/with_address x 2>&1 | sed -n "s/^SUMMARY.*heap/heap/p; s/^==[0-9]*==ERROR//p" | sed "s/0x[0-9a-f]*/X/g"; echo ${PIPESTATUS[0]}'
	else skip "gcc's sanitizer: $with" "$(tail -n 1 "$tmp/compile.log")"; fi
done

have sqlite3 && as_bare 'sqlite3: transactions, an index, vacuum' '
	sqlite3 d "pragma journal_mode=wal; create table t(x, y); with recursive c(n) as (select 1 union all select n + 1 from c where n < 50000)
		insert into t select n, n * n from c; create index i on t(y); delete from t where x % 3 = 0; vacuum; select count(*), sum(y) from t; pragma integrity_check"; rm -f d*'
if have tmux; then
	as_bare 'tmux: a server, two windows, what they show' '
		export TMUX_TMPDIR=$PWD; unset TMUX; tmux -f /dev/null new-session -d -s one "echo first; exec sleep 60"; tmux new-window -t one "echo second; exec sleep 60"
		for try in $(seq 50); do [ "$(tmux capture-pane -p -t one:1)$(tmux capture-pane -p -t one:0)" != "" ] && break; sleep 0.1; done
		sleep 0.3; tmux list-windows -t one -F "#{window_index}"; tmux capture-pane -p -t one:0 | head -1; tmux capture-pane -p -t one:1 | head -1; tmux kill-server; rm -rf tmux-*'
else skip tmux 'no tmux'; fi
if have screen; then
	as_bare 'screen: a session, a command to it, its end' '
		mkdir -m 700 s; export SCREENDIR=$PWD/s; screen -c /dev/null -dmS one sh -c "echo there >out; exec sleep 60"
		for try in $(seq 50); do [ -s out ] && break; sleep 0.1; done; cat out; screen -S one -X quit; sleep 0.3; ls s | wc -l; rm -rf s'
else skip screen 'no screen'; fi
if have node; then
	cat >"$tmp/node.js" <<-'END'
		const cp = require('child_process'), fs = require('fs'), path = require('path'), assert = require('assert');
		const wait = ms => new Promise(r => setTimeout(r, ms));
		(async () => {
			console.log(cp.execFileSync('cat', {input: 'in'}).toString(), cp.spawnSync('sh', ['-c', 'exit 7']).status);
			console.log(cp.spawnSync('/no/such').error.code, cp.spawnSync('sleep', ['9'], {timeout: 50}).signal);
			const ended = cp.spawn('true'); await new Promise(r => ended.on('close', r)); console.log(ended.kill());
			const late = cp.spawn('true'); const until = Date.now() + 300; while (Date.now() < until); console.log(typeof late.kill());
			const forked = cp.fork(__filename, ['child']); forked.send({n: 41});
			console.log(await new Promise(r => forked.once('message', r))); forked.disconnect();
			console.log((await new Promise(r => cp.exec('echo $X; echo e >&2; exit 3', {env: {X: 'own', PATH: process.env.PATH}}, (e, o, s) => r([e.code, o, s])))));
			fs.mkdirSync('a/b/c', {recursive: true}); fs.writeFileSync('a/f', 'text'); fs.symlinkSync('f', 'a/l'); fs.linkSync('a/f', 'a/h');
			fs.appendFileSync('a/f', ' more'); fs.truncateSync('a/h', 6); fs.cpSync('a', 'z', {recursive: true}); fs.chmodSync('z/f', 0o400);
			console.log(fs.readdirSync('z', {recursive: true}), fs.readFileSync('z/l', 'utf8'), fs.statSync('z/f').mode.toString(8), fs.readlinkSync('a/l'));
			for (const f of [() => fs.rmdirSync('a'), () => fs.openSync('a/f', 'wx'), () => fs.readFileSync('a/b'), () => fs.mkdirSync('a'), () => fs.unlinkSync('n')])
				try { f(); console.log('no error'); } catch (e) { console.log(e.code, e.syscall); }
			const seen = new Promise(r => { const w = fs.watch('a', (e, n) => { w.close(); r(n); }); }); fs.writeFileSync('a/new', ''); console.log(await seen);
			const t = fs.mkdtempSync('t-'); fs.rmSync(t, {recursive: true}); console.log(t.length, fs.existsSync(t)); fs.rmSync('z', {recursive: true, force: true});
			await fs.promises.rename('a', 'b'); console.log((await fs.promises.readdir('b')).length);
		})();
		if (process.argv[2] === 'child') process.on('message', m => process.send({n: m.n + 1}));
	END
	sed -i "s|^(async|if (process.argv[2] !== 'child') (async|" "$tmp/node.js"
	as_bare 'node: child_process and fs' 'node "$tmp/node.js"'
else skip node 'no node'; fi
as_bare 'git: rebase, bisect, worktree, submodule, stash, hooks, apply' '
	git config --global user.name t; git config --global user.email t@example.invalid; git config --global protocol.file.allow always
	export GIT_AUTHOR_DATE=2001-02-03T04:05:06Z GIT_COMMITTER_DATE=2001-02-03T04:05:06Z
	git init -qb main r; cd r; for n in 1 2 3 4 5 6; do echo $n >>f; echo $n >f$n; git add .; git commit -qm "c$n"; done
	git checkout -qb side HEAD~3; echo s >s; git add s; git commit -qm side; git rebase -q main && git log --oneline | cat
	GIT_SEQUENCE_EDITOR="sed -i 2s/pick/squash/" GIT_EDITOR=true git rebase -qi HEAD~3; git log --format=%s | cat
	git bisect start main main~5 >/dev/null 2>&1; git bisect run sh -c "test ! -e f4" 2>/dev/null | grep "is the first bad"; git bisect reset -q 2>/dev/null
	git worktree add -q ../w main; (cd ../w; echo w >w; git add w; git commit -qm w); git worktree remove ../w
	echo x >>f; git stash -q; git stash list; git stash pop -q; git diff --stat; git diff >../p; git checkout -q f; git apply ../p; git status --short
	printf "#!/bin/sh\necho hook \$#\n" >.git/hooks/commit-msg; chmod +x .git/hooks/commit-msg; git commit -qam hooked
	cd ..; git clone -q --bare r b.git; git init -qb main t; cd t; git submodule --quiet add ../b.git sub; git commit -qm sub; git -C sub log -1 --format=%s
	cd ..; git clone -q --recurse-submodules t u; ls u/sub; cd r; git push -q ../b.git side:new; git gc -q; git fsck; git fast-export main | cksum
	cd ..; rm -rf r b.git t u p'
chrome=$(type -P /usr/lib/chromium/chromium || type -P chromium)
if [ -n "$chrome" ]; then
	export chrome
	echo '<h1>hello</h1><script>document.body.append("sum " + 6 * 7)</script>' >"$tmp/page.html"
	as_bare 'Chromium without a window: a page with a script' '
		timeout 60 "$chrome" --headless --disable-gpu --no-sandbox --no-zygote --user-data-dir="$PWD/profile" --dump-dom "file://$tmp/page.html" 2>/dev/null
		echo "status $?"; rm -rf profile'
	as_bare '... and its version' '"$chrome" --version'
else skip Chromium 'no chromium'; fi
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
as=()
is_root && as=(setpriv --reuid=postgres --regid=postgres --clear-groups) # it does not run as root
if [ -z "$bin" ]; then skip PostgreSQL 'no postgresql'
elif ! "${as[@]}" true 2>/dev/null; then skip PostgreSQL 'no user postgres'
else
	chmod 711 "$tmp"
	user=${as[*]}
	export bin user
	as_bare 'PostgreSQL: a cluster, a server, transactions' '
		[ -z "$user" ] || chown postgres .
		$user "$bin/initdb" -D db -A trust -U me --no-sync >/dev/null && $user "$bin/pg_ctl" -D db -w -o "-c listen_addresses= -k $PWD" -l log start >/dev/null
		$user "$bin/psql" -qAt -h "$PWD" -U me postgres -c "create table t(x int); insert into t select generate_series(1, 10000); select sum(x) from t"
		$user "$bin/pg_ctl" -D db -w -m fast stop >/dev/null; echo $?; rm -rf db log'
fi
goroot=$(go env GOROOT 2>/dev/null)
if [ -n "$goroot" ] && [ -d "$goroot/src/os/exec" ]; then
	mkdir -p "$tests"
	which='Test(Echo|CatStdin|Echo.*|ExitStatus|Pipes|StdinClose|ExtraFiles|Context|Env.*|Dedup.*|Implicit.*|Mkdir.*|Rename.*|Symlink.*|Hardlink.*|Read.*|Stat.*|Remove.*|Chmod|Chtimes|Truncate|Seek|Kill.*|Getppid|Pipe.*|Dial.*|Unix.*|Listen.*|Splice)$'
	for package in os os/exec ${AW_FULL:+net}; do
		export package which
		(cd "$goroot/src/$package" && GOFLAGS=-mod=mod CGO_ENABLED=0 GOCACHE=$tests/gocache go test -c -o "$tmp/go.${package//\//-}.test" . ) >"$tmp/compile.log" 2>&1 ||
			{ skip "Go: $package" "$(tail -n 1 "$tmp/compile.log")"; continue; }
		as_bare "Go's own tests: $package" 'cd "$(go env GOROOT)/src/$package" && "$tmp/go.${package//\//-}.test" -test.v -test.short ${AW_FULL:+-test.timeout=300s} -test.run "$which" 2>&1 |
			grep -E "^ *--- (PASS|FAIL|SKIP)" | sed "s/ (.*//" | sort'
	done
else skip "Go's own tests" 'no Go sources'; fi

# with the built-in rules: a debugger needs the memory of what it debugs
strict=("${settings[@]}")
for runner in exec landlock bwrap; do
	"$AGENTWATCH" run --quiet --log none --mode enforce --runner $runner --on-missing-runner fail -- true >/dev/null 2>&1 &&
		strict+=("built-in rules, $runner=--mode enforce --runner $runner")
done
with_rules()
{
	local settings=("${strict[@]}")
	as_bare "$@"
}
debugged='#include <stdio.h>
static __attribute__((noinline)) int twice(int x) { return 2 * x; }
int main(void) { printf("%d\n", twice(21)); return 3; }
'
if have gdb && compiled debugged "$debugged"; then
	with_rules 'gdb: a breakpoint, a variable that is changed, the end' '
		gdb -q -batch -nx -ex "set disable-randomization off" -ex "break twice" -ex run -ex "bt 1" -ex "set var x=50" -ex continue "$tmp/debugged" 2>/dev/null |
			sed "s/process [0-9]*/process N/; s/0x[0-9a-f]*/X/g"'
else skip gdb 'no gdb'; fi
done_testing
