#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_terminals.sh - terminals of others are not opened in mode enforce; the session's are.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have python3 || skip_all 'no python3; apt-get install it'
export LOG=$log
cd "$tmp" || exit 1
printf 'version: 1\nfilesystem: {default: allow}\n' >policy.yaml
# the built-in rules have /dev/pts as a whole
printf 'version: 1\n' >base.yaml
printf 'version: 1\nfilesystem: {write: [/dev, "/dev/**"]}\n' >wide.yaml
printf 'version: 1\nfilesystem: {default: allow, write: ["/dev/pts/*"]}\n' >named.yaml
terminals() { python3 "$root/tests/e2e/terminals.py" "$AGENTWATCH" "$tmp/$1.yaml" "${@:2}" 2>&1; }
works() { "$AGENTWATCH" run --quiet --mode enforce --runner "$1" --log none -- true >/dev/null 2>"$tmp/err"; }

all='foreign opens
foreign for reading opens
begun with opens
made inside opens
begun with, without a controlling one opens
made by the parent opens
stat True'
kept=${all/foreign opens/foreign EACCES}
kept=${kept/reading opens/reading EACCES}
for runner in exec landlock; do
	works $runner || { skip "behind $runner" "$(tail -n 1 "$tmp/err")"; continue; }
	for engine in hybrid kernel; do
		is "$kept" "$runner, $engine: only the session's terminals open" "$(terminals policy $runner $engine enforce)"
		is 2 "$runner, $engine: the log says why" "$(grep -c "\"enforced\":true.*a terminal that is not the session's" "$log")"
		is "$kept" "$runner, $engine: with the built-in rules" "$(terminals base $runner $engine enforce)"
		is "$kept" "$runner, $engine: and with a rule for all devices" "$(terminals wide $runner $engine enforce)"
		is "$all" "$runner, $engine: all of them where a rule names them" "$(terminals named $runner $engine enforce)"
	done
done
: >"$log"
is "$all" 'audit opens all of them' "$(terminals policy exec hybrid audit)"
ok 'and its log says what enforce refuses' grep -q '"verdict":"deny","enforced":false.*a terminal that is not' "$log"
is 0 "and nothing of the session's own" "$(grep -c '"path":"/dev/tty".*"verdict":"deny"' "$log")"

# Signals for what is typed would go to whom the kernel takes: the group in the foreground.
foreground() { rm -f asked came refused; python3 "$root/tests/e2e/foreground.py" "$@" 2>&1 | paste -sd' '; }
is 'the foreground was killed the signal did not come' 'bare, the foreground gets the signal' "$(foreground env)"
printf 'version: 1\nfilesystem: {default: read-only, write: ["%s"]}\n' "$tmp" >here.yaml
for runner in exec landlock bwrap; do
	works $runner || continue
	is 'the foreground is there the signal was refused' "$runner: nobody can ask for them" \
		"$(foreground "$AGENTWATCH" run --quiet --mode enforce --policy "$tmp/here.yaml" --runner $runner --log none --)"
done

# A terminal of another /dev/pts, such as a container's, whatever number it has.
elsewhere='import fcntl, os, subprocess, sys
masters = []
for _ in range(3):
    masters.append(os.open(sys.argv[1] + "/ptmx", os.O_RDWR | os.O_NOCTTY))
    fcntl.ioctl(masters[-1], 0x40045431, b"\0\0\0\0")
subprocess.call(sys.argv[2:])'
opening='import errno, os, sys
for name in sys.argv[1:]:
    try: os.open(name, os.O_RDWR | os.O_NOCTTY); print("opens")
    except OSError as e: print(errno.errorcode[e.errno])'
mkdir "$tmp/pts"
apart() # COMMAND...: which may open three terminals there
{
	unshare --mount sh -c 'mount -t devpts -o newinstance,ptmxmode=0666,mode=0666 devpts "$0" && exec "$@"' "$tmp/pts" \
		python3 -c "$elsewhere" "$tmp/pts" "$@" python3 -c "$opening" "$tmp"/pts/{0,1,2} 2>&1 | paste -sd' '
}
if is_root && [ "$(apart)" = 'opens opens opens' ]; then
	for runner in exec landlock bwrap; do
		works $runner || continue
		is 'EACCES EACCES EACCES' "$runner: terminals of another /dev/pts are nobody's here" \
			"$(apart "$AGENTWATCH" run --quiet --mode enforce --policy "$tmp/policy.yaml" --runner $runner --log none --)"
	done
else
	skip 'terminals of another /dev/pts' 'no right to mount one'
fi

if have script; then
	is 'on a terminal' 'script(1) works' "$("$AGENTWATCH" run --quiet --mode enforce --policy "$tmp/policy.yaml" --log none -- \
		script -qec 'test -t 1 && echo on a terminal >$(tty)' /dev/null </dev/null | tr -d '\r')"
else
	skip 'script(1) works' 'it is not installed'
fi
done_testing
