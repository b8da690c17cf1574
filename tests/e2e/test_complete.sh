#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_complete.sh - every open, exec and connect that strace shows is in the log.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have strace || skip_all 'no strace'
have python3 || skip_all 'no python3'
strace -qq -o "$tmp/try" true 2>/dev/null || skip_all 'strace is not allowed here'

engine=${AW_ENGINE:-$(engines | cut -d' ' -f1)}
[ "$engine" != none ] || [ -n "${AW_BARE:-}" ] || { fail 'an engine works here'; done_testing; }

# complete SENTENCE COMMAND...: nothing is missing and nothing invented.
complete()
{
	local sentence=$1 rc
	shift
	AGENTWATCH=$AGENTWATCH timeout -k 5 240 python3 "$root/tests/e2e/compare_strace.py" \
		--engine "$engine" -- "$@" >"$tmp/compared" 2>&1
	rc=$?
	if [ $rc = 0 ]; then pass "$sentence ($(tail -n 1 "$tmp/compared"))"; else
		fail "$sentence: $(tail -n 1 "$tmp/compared")"
		head -n "${AW_DIFFERENCES:-12}" "$tmp/compared" | cut -c1-300 | sed 's/^\([^#]\)/# \1/'
	fi
}

export HOME=$tmp/home GIT_CONFIG_NOSYSTEM=1
mkdir -p "$HOME" "$tmp/work"
cd "$tmp/work" || exit 1

complete 'true' true
complete 'a shell pipeline' sh -c 'cat /etc/passwd | sort | head -n 3; ls /no/such/folder; cd /etc && cat hostname; . ./passwd 2>/dev/null; exit 0'
complete 'env -i and relative paths' sh -c 'mkdir -p a/b; cd a/b; echo x >../c; env -i /bin/cat ../c; cat ./../../a/c; ln -s ../c d; cat d'

if have git; then
	git init -q repo
	git -C repo config user.email test@example.invalid
	git -C repo config user.name test
	for n in {1..40}; do echo "$n" >"repo/file$n"; done
	git -C repo add .
	git -C repo commit -qm first
	echo more >>repo/file1
	complete 'git status' git -C repo status
	complete 'git log' git -C repo --no-pager log --stat
	complete 'git commit' git -C repo commit -qam second
	[ -n "${AW_QUICK:-}" ] || complete 'git clone' git clone -q repo copy
else skip 'git' 'not installed'; fi

mkdir project
printf 'all: one two\none: one.c\n\t%s -o $@ $<\ntwo: two.c\n\t%s -o $@ $<\n' "${CC:-cc}" "${CC:-cc}" >project/Makefile
echo 'int main(void) { return 0; }' | tee project/one.c >project/two.c
if have make; then complete 'make -j2 of a small C project' make -s -C project -j2; else skip 'make' 'not installed'; fi
complete 'tar' sh -c 'tar cf project.tar project && mkdir -p out && tar xf project.tar -C out'
complete 'grep -r' grep -rs int project /etc/skel
if have sqlite3; then
	complete 'sqlite3' sqlite3 data.db 'create table t(x); insert into t values (1),(2); select sum(x) from t;'
else skip 'sqlite3' 'not installed'; fi

if have npm; then
	mkdir pkg
	echo '{"name":"local-package","version":"1.0.0","main":"index.js"}' >pkg/package.json
	echo 'module.exports = 1' >pkg/index.js
	(cd pkg && npm pack --silent >/dev/null 2>&1 && mv ./*.tgz ..)
	mkdir app
	echo '{"name":"app","version":"1.0.0"}' >app/package.json
	complete 'npm install of a local tarball' \
		npm --prefix app install --offline --no-audit --no-fund --silent "$tmp/work/local-package-1.0.0.tgz"
else skip 'npm install of a local tarball' 'no npm'; fi
if have node; then
	echo 'const fs=require("fs"),cp=require("child_process"),net=require("net");
fs.writeFileSync("n.txt","x");fs.readFileSync("n.txt");fs.rmSync("n.txt");cp.execSync("cat /etc/hostname");
const s=net.createServer(c=>c.end()).listen(0,"127.0.0.1",()=>net.connect(s.address().port,"127.0.0.1").on("close",()=>s.close()));' >script.js
	complete 'a node script that writes, spawns and connects' node script.js
else skip 'a node script' 'no node'; fi
python=$(command -v /usr/bin/python3 || command -v python3)
if "$python" -c 'import venv, ensurepip' 2>/dev/null; then
	if [ -n "${AW_QUICK:-}" ]; then complete 'python venv' "$python" -m venv --without-pip env
	else complete 'python venv' "$python" -m venv env; fi
else skip 'python venv' 'no venv module'; fi
complete 'python that spawns and connects' "$python" -c '
import socket, subprocess, threading
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
t = threading.Thread(target=lambda: socket.create_connection(s.getsockname()).close()); t.start(); s.accept(); t.join()
subprocess.run(["cat", "/etc/hostname"], capture_output=True); subprocess.run("echo x > from-python", shell=True)
try: socket.create_connection(("::1", 9))
except OSError: pass'

if [ "$engine" = preload ]; then
	skip 'a static Go program' 'a preload cannot see it'
elif have go; then
	mkdir -p gosrc
	cat >gosrc/main.go <<'END'
package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
)

func main() {
	os.WriteFile("go.txt", []byte("x"), 0o600)
	data, _ := os.ReadFile("/etc/hostname")
	os.Remove("go.txt")
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	go net.Dial("tcp", l.Addr().String())
	l.Accept()
	out, err := exec.Command("cat", "/etc/hostname").Output()
	fmt.Println(len(data) == len(out), err)
}
END
	if (cd gosrc && GOCACHE=$tmp/gocache GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=0 GOPATH=$tmp/gopath go build -o ../static-go main.go) >"$tmp/go.log" 2>&1; then
		complete 'a static Go program' ./static-go
	else
		fail 'the Go program builds' "$(cat "$tmp/go.log")"
	fi
else skip 'a static Go program' 'no go'; fi
done_testing
