#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_transparency.sh - programs cannot tell: the same output, files, status and test results.
#
# AW_QUICK=1: a subset, in the best engine.  AW_MODULES names CPython's test modules.  Those
# that take minutes run in the best engine alone, and the longest not at all, unless AW_FULL=1.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
. "$root/tests/e2e/as_bare.sh"
need_agentwatch
alone "$0" # without a network some of CPython's tests wait for nobody
export HOME=$tmp/home GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8
mkdir -p "$HOME"
printf '[user]\n\tname = test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n' >"$HOME/.gitconfig"
export GIT_AUTHOR_DATE='2001-02-03T04:05:06Z' GIT_COMMITTER_DATE='2001-02-03T04:05:06Z'

programs()
{
	as_bare 'git: init, commit, branch, merge, log, gc' '
		git init -q; for n in 1 2 3; do echo $n >f$n; git add .; git commit -qm "c$n"; done
		git checkout -qb side HEAD~1; echo s >s; git add s; git commit -qm side; git checkout -q main; git merge -q side -m merge
		git log --oneline --graph; git status --short; git gc -q --prune=now; git fsck; rm -rf .git/objects/pack .git/logs'
	as_bare 'make and the compiler' '
		printf "int f(void);int main(void){return f();}\n" >a.c; printf "int f(void){return 0;}\n" >b.c
		printf "p: a.o b.o\n\tcc -o p a.o b.o\n" >Makefile; make -j2 p && ./p; echo $?; rm -f *.o'
	as_bare 'tar, gzip, cp, mv, ln, find, xargs' '
		mkdir -p d/e; echo x >d/e/f; ln -s e/f d/l; ln d/e/f d/h; mkfifo d/p; chmod 640 d/e/f
		tar --mtime=@0 --sort=name -cf t.tar d; mkdir o; tar xpf t.tar -C o; cp -a d c; mv c m; find m -type f | sort | xargs cat; gzip -nc t.tar | cksum; diff -r --no-dereference d/e o/d/e'
	as_bare 'shell redirections, here-documents, traps, jobs' '
		cat <<E >a
one
E
		cat a >&2; exec 5>b; echo five >&5; exec 5>&-; (sleep 0.1; echo later >c) & wait $!; trap "echo bye" EXIT
		cat /no/such; cd /tmp && cd - >/dev/null; type -t cd; f() { return 7; }; f; echo $?; exit 12'
	as_bare 'find and grep over a system folder' 'grep -rsl root /etc/passwd /etc/group; find /etc -maxdepth 1 | sort | cksum; ls -l /etc/passwd'
	have sqlite3 && as_bare 'sqlite3' 'sqlite3 d "create table t(x); insert into t values(1),(2); select sum(x) from t; pragma integrity_check"; rm d'
	have node && as_bare 'node: files, children, sockets' "node -e '
		const fs=require(\"fs\"),cp=require(\"child_process\"),net=require(\"net\");
		fs.mkdirSync(\"a/b\",{recursive:true});fs.writeFileSync(\"a/b/c\",\"x\");fs.renameSync(\"a/b/c\",\"a/d\");
		console.log(fs.readdirSync(\"a\"),cp.execSync(\"cat a/d\").toString(),fs.existsSync(\"q\"));
		try{fs.readFileSync(\"q\")}catch(e){console.log(e.code,e.syscall)}
		const s=net.createServer(c=>c.end(\"hi\")).listen(\"s.sock\",()=>net.connect(\"s.sock\").on(\"data\",d=>console.log(String(d))).on(\"close\",()=>s.close()));
		fs.watch(\"a\").close(); process.exitCode=3'"
	have npm && as_bare 'npm: install of a local tarball, run a script' '
		mkdir p app; echo "{\"name\":\"p\",\"version\":\"1.0.0\",\"bin\":\"x.js\"}" >p/package.json; printf "#!/usr/bin/env node\nconsole.log(1)\n" >p/x.js
		(cd p && npm pack --silent); mv p/*.tgz .; cd app; echo "{\"name\":\"app\",\"version\":\"1.0.0\",\"scripts\":{\"t\":\"p && echo two\"}}" >package.json
		npm install --offline --no-audit --no-fund --silent --cache ../npmcache ../p-1.0.0.tgz; npm run -s t; cd ..; rm -rf npmcache app/node_modules/.package-lock.json *.tgz'
	[ -x /usr/bin/python3 ] && as_bare 'python: files, children, threads, sockets' "/usr/bin/python3 -c '
import os, subprocess, tempfile, shutil, threading, socket, multiprocessing
os.makedirs(\"x/y\"); open(\"x/y/z\", \"w\").write(\"1\"); shutil.copytree(\"x\", \"w\"); os.replace(\"w/y/z\", \"w/q\")
print(sorted(os.listdir(\"w\")), subprocess.check_output([\"cat\", \"w/q\"]), subprocess.call(\"exit 5\", shell=True))
print(multiprocessing.get_context(\"fork\").Pool(2).map(abs, [-1, -2]))
with tempfile.TemporaryDirectory() as d: open(d + \"/t\", \"w\").close()
try: open(\"nope\")
except OSError as e: print(e)
try: os.execv(\"/no/such\", [\"x\"])
except OSError as e: print(e)
'"
	as_bare 'a deep tree and long names' 'd=$(printf "%0100d" 0); for n in $(seq 30); do mkdir $d && cd $d || exit; done; echo x >f; cat f; pwd | wc -c; rm f'
	as_bare 'names of all kinds' 'touch -- "-a" "b c" "new
line" $'"'"'\xff\xfe'"'"' "é" "*" "\\"; ls -1b; rm -- -a *; ls -A | wc -l'
	as_bare 'reading /proc/self and /dev' 'cat /proc/self/comm; readlink /proc/self/fd/1 >/dev/null; head -c 3 /dev/zero | od -c; echo x >/dev/null; echo err >/dev/stderr; echo out >/dev/fd/1; cat /proc/self/cmdline | tr "\0" " "'
}

modules=(test_os test_posix test_subprocess test_socket test_shutil test_pathlib test_tempfile test_glob
	test_fcntl test_signal test_threading test_asyncio test_multiprocessing_fork)
[ -z "${AW_QUICK:-}" ] || modules=(test_posix test_shutil test_pathlib test_tempfile test_glob test_fcntl)
[ -z "${AW_MODULES:-}" ] || read -ra modules <<<"$AW_MODULES"

slow=' test_asyncio test_multiprocessing_fork test_signal test_threading test_socket test_subprocess '
slowest=' test_multiprocessing_fork '

# The engine and the module: is it for AW_FULL=1 alone?
takes_long()
{
	[ -z "${AW_FULL:-}${AW_MODULES:-}" ] || return 1
	[[ $slowest == *" $2 "* ]] || { [ "$1" != hybrid ] && [[ $slow == *" $2 "* ]]; }
}

for engine in $(engines); do
	[ -z "${AW_ENGINE:-}" ] || [ "$engine" = "$AW_ENGINE" ] || continue
	settings=("$engine=--engine $engine")
	programs
	python=
	for candidate in /usr/bin/python3 /usr/bin/python3.11 "$(command -v python3)"; do
		"$candidate" -c 'import test.test_os' 2>/dev/null && { python=$candidate; break; }
	done
	if [ -z "$python" ]; then
		skip "$engine: CPython's tests" 'they are not installed (libpython3-testsuite)'
	else
		mkdir -p "$tmp/cpython"
		these=()
		for module in "${modules[@]}"; do
			if takes_long "$engine" "$module"; then
				skip "$engine: CPython's $module" 'it takes minutes; AW_FULL=1 runs it'
			else these+=("$module"); fi
		done
		relay "$engine: CPython's " < <(python3 "$root/tests/e2e/cpython.py" "$python" "$tmp/cpython" \
			"$AGENTWATCH" run --quiet --engine "$engine" --log none -- --modules "${these[@]}" 2>&1)
	fi
	[ -z "${AW_QUICK:-}" ] || break
done
done_testing
