#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_errors.sh - every broken policy is refused with the sentences that stand beside it, soon
# and with little memory.  AW_GOLDEN=write build/tests/unit/test_broken writes them anew.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
export HOME=/home/ann USER=ann TMPDIR=/tmp
unset AW_TEST_NONE
cd "$root/tests/golden/errors" || exit 1

# All at once; the order is that of the lines, and the golden files have that of the reading.
files=() golden=()
for file in *.yaml; do
	case $file in untrusted-* | system-*) continue ;; esac
	files+=("$file") golden+=("${file%.yaml}.txt")
done
"$AGENTWATCH" policy check "${files[@]}" 2>"$tmp/err" | grep -v ': no mistakes$' | sort >"$tmp/said"
sort "${golden[@]}" >"$tmp/golden"
same "$tmp/golden" "$tmp/said" "${#files[@]} broken policies are answered as expected"
is '' 'and nothing else is said' "$(cat "$tmp/err")"
is '' 'each message is one line of file, line, column and sentence' \
	"$(grep -avE '^[a-z0-9-]+\.yaml:[0-9]+:[0-9]+: (error|warning): [^ ].*[^ .]$' "$tmp/said")"

# run refuses them, too, with the same words, before anything is started.
cd "$tmp" || exit 1
corpus=$root/tests/golden/errors
for name in unknown-key many-at-once syntax-tab binary; do
	"$AGENTWATCH" run --mode audit --log none --policy "$corpus/$name.yaml" -- touch "$tmp/ran" 2>"$tmp/said"
	rc=$?
	is 125 "run does not start with $name" $rc
	is "$(sed "s|^|agentwatch: $corpus/|" "$corpus/$name.txt"; echo 'agentwatch: nothing was started, since the policy has mistakes')" \
		'and says the same' "$(cat "$tmp/said")"
done
is no 'nothing ran' "$([ -e "$tmp/ran" ] && echo yes || echo no)"

# What is made to cost much costs little: ten times a plain file of thirty thousand keys, 64 MB of memory.
measured() # FILE: seconds of work, in time
{
	# shellcheck disable=SC2016
	prlimit --as=67108864 --cpu=20 -- bash -c 'TIMEFORMAT="%U %S"; time "$@" >"$0" 2>&1' "$tmp/said" \
		"$AGENTWATCH" policy check "$1" 2>"$tmp/time"
}
(echo 'version: 1'; seq -f 'k%g: x' 30000) >plain.yaml
# costs_little FILE: measured against the plain one just before
costs_little()
{
	measured plain.yaml
	most=$(awk '{ print 10 * ($1 + $2) + 0.1 }' "$tmp/time")
	measured "$1"
	awk -v "most=$most" '{ exit !($1 + $2 < most) }' "$tmp/time"
}
# cheap REGEX SENTENCE FILE; who shares the processor may spoil one measurement, not three
cheap()
{
	local regex=$1 sentence=$2
	if { costs_little "$3" || costs_little "$3" || costs_little "$3"; } && [[ $(head -c 3000 "$tmp/said") =~ $regex ]]; then pass "$sentence"; else
		fail "$sentence" "took: $(cat "$tmp/time"), may take $most" "$(head -c 1000 "$tmp/said")"
	fi
}
# repeat N TEXT
repeat() { yes "$2" | head -n "$1" | tr -d '\n'; }

(echo 'version: 1'; echo 'x:'; yes ' [' | head -n 100000) >deep.yaml
cheap 'nested more than 32 deep' 'a hundred thousand brackets' deep.yaml
(echo 'version: 1'; for ((i = 0; i < 20000; i++)); do printf '%*s- x\n' $((i % 40)) ''; done) >stairs.yaml
cheap ':3:3: error|:[0-9]+:[0-9]+: error' 'twenty thousand stairs' stairs.yaml
awk 'BEGIN { for (i = 0; i < 16000; i++) printf "%*s- \n", i, "" }' | head -c 1000000 >indent.yaml
cheap 'nested more than 32 deep' 'a staircase of a megabyte' indent.yaml
awk 'BEGIN { print "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"; for (i = 1; i < 40; i++) { printf "a%d: &a%d [", i, i
	for (j = 0; j < 10; j++) printf "*a%d, ", i - 1; print "]" }; print "version: 1\nfilesystem: {deny: *a39}" }' >bomb.yaml
cheap 'unknown key .a0' 'aliases of aliases, ten to the fortieth' bomb.yaml
awk 'BEGIN { printf "version: 1\nfilesystem:\n  deny: &d ["; for (i = 0; i < 30000; i++) printf "\"/a%d\", ", i; print "]"
	for (i = 0; i < 900; i++) printf "  k%d: *d\n", i }' >wide.yaml
cheap "unknown key 'k0'" 'nine hundred names for thirty thousand entries' wide.yaml
awk 'BEGIN { print "version: 1\nfilesystem:"; for (i = 0; i < 950; i++) print "  deny: *x" }' | sed '2s/$/ {x: \&x [a]}/' >anchors.yaml
cheap ': error: ' 'a thousand doubled keys' anchors.yaml
awk 'BEGIN { print "version: 1"; for (i = 0; i < 30000; i++) printf "k%d: &a%d x\n", i, i; for (i = 0; i < 900; i++) printf "l%d: *a0\n", i }' >far.yaml
cheap "unknown key 'k0'" 'thirty thousand anchors and the furthest one' far.yaml
(echo 'version: 1'; repeat 500000 '? ') >keys.yaml
cheap ': error: ' 'half a million keys without an end' keys.yaml
(printf 'version: 1\nmode: "'; repeat 500000 '\n'; echo '"') >escapes.yaml
cheap 'is not one of audit or enforce' 'a word of half a million escapes' escapes.yaml
(printf 'version: 1\nfilesystem: {deny: ["'; repeat 100000 '/**/a'; echo '"]}') >stars.yaml
cheap 'a path of more than 4096 bytes' 'a path of half a megabyte' stars.yaml
head -c 104857600 /dev/zero >zeros.yaml
cheap 'is larger than 1 MiB' 'a hundred megabytes' zeros.yaml
truncate -s 10T sparse.yaml 2>/dev/null || cp zeros.yaml sparse.yaml
cheap 'is larger than 1 MiB' 'ten terabytes that are not there' sparse.yaml
rm -f zeros.yaml sparse.yaml
head -c 900000 /bin/bash >junk.yaml
cheap 'is this a text file' 'a program' junk.yaml
awk 'BEGIN { srand(7); for (i = 0; i < 300000; i++) printf "%c", 33 + rand() * 90 }' >random.yaml
cheap ': error: ' 'printable noise' random.yaml
awk 'BEGIN { print "version: 1\nenvironment:\n  set:"; for (i = 0; i < 1001; i++) printf "    A%d: x\n", i }' >variables.yaml
cheap 'more than 1000 variables' 'more variables than can be' variables.yaml
awk 'BEGIN { print "version: 1\nfilesystem:\n  expose:"; for (i = 0; i < 1001; i++) printf "    - {source: /a%d}\n", i }' >exposed.yaml
cheap 'more than 1000 exposed paths' 'more exposed paths than can be' exposed.yaml
awk 'BEGIN { print "version: 1\nfilesystem:\n  default: allow\n  deny:"; for (i = 0; i < 40000; i++) printf "    - /**/a%d/**/b\n", i }' >many.yaml
cheap 'no mistakes' 'forty thousand patterns' many.yaml
mkdir folder.yaml
cheap 'is not a regular file; a policy comes from one' 'a folder' folder.yaml
cheap 'cannot be read: No such file' 'nothing at all' nothing.yaml

# A workspace's file is nobody's to wait for.
mkdir ws && mkfifo ws/.agentwatch.yaml
timeout 5 "$AGENTWATCH" run --mode enforce --workspace "$tmp/ws" --log none -- true 2>"$tmp/said"
is 125 'a pipe in the workspace is refused' $?
like 'ws/.agentwatch.yaml:1:1: error: is not a regular file' 'with a sentence' "$(cat "$tmp/said")"
# Nor is a named pipe that somebody gave; what we were handed open is waited for.
mkfifo pipe.yaml
timeout 5 "$AGENTWATCH" policy check pipe.yaml >"$tmp/said" 2>&1
is 1 'a named pipe is no policy' $?
like 'pipe.yaml:1:1: error: is not a regular file; a policy comes from one, or as /dev/stdin' 'with a sentence' "$(cat "$tmp/said")"
timeout 5 "$AGENTWATCH" run --log none --policy pipe.yaml -- true 2>"$tmp/said"
is 125 'nor to run with' $?
for place in /dev/stdin /dev/fd/0 /proc/self/fd/0; do
	is "$place: no mistakes" "a policy comes through $place" "$(echo 'version: 1' | timeout 5 "$AGENTWATCH" policy check $place)"
done
done_testing
