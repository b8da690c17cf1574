#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_taken.sh - what enforce leaves to the kernel to refuse: a name that is there already,
# and what a program has open already.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/build_probe.sh"
need_agentwatch
build_probe glibc || { fail 'the probe compiles' "$(cat "$tmp/compile.log")"; done_testing; }

export TMPDIR=$tmp/scratch # or all of these could be written
mkdir -p "$TMPDIR" "$tmp/work" "$tmp/readable/there" "$tmp/denied/there" "$tmp/hidden/there"
cd "$tmp/work" || exit 1
cat >"$tmp/policy.yaml" <<-END
	version: 1
	mode: enforce
	filesystem:
	  default: read-only
	  write: ["$tmp/work"]
	  deny: ["$tmp/denied"]
	  hide: ["$tmp/hidden"]
END
run() { "$AGENTWATCH" run --quiet --runner "$runner" --engine "$engine" --policy "$tmp/policy.yaml" --log "$log" -- "$@"; }

runners=(exec)
for runner in landlock bwrap; do
	"$AGENTWATCH" run --quiet --mode enforce --runner "$runner" --log none -- true >/dev/null 2>&1 && runners+=("$runner")
done

# each CALL...: calls that make a name.
each()
{
	local call
	probe=(run "$compiled")
	for call; do
		check EEXIST "$runner, $engine: $call of what is there" "$call" "$tmp/readable/there"
		check EACCES "$runner, $engine: $call of what is not there" "$call" "$tmp/readable/new"
		check EACCES "$runner, $engine: $call does not tell what is denied" "$call" "$tmp/denied/there"
		check EACCES "$runner, $engine: $call answers the same where nothing is" "$call" "$tmp/denied/new"
		is "$(run "$compiled" "$call" "$tmp/hidden/new" 2>&1)" "$runner, $engine: $call tells nothing of what is hidden" \
			"$(run "$compiled" "$call" "$tmp/hidden/there" 2>&1)"
	done
}

runner=exec
for engine in hybrid kernel; do each mkdir mkdirat mknod mknodat symlink symlinkat openat.create; done
engine=hybrid
for runner in "${runners[@]:1}"; do each mkdir openat.create; done

runner=exec
rm -f "$log"
run mkdir "$tmp/readable/there" 2>/dev/null
ok 'the log has it as allowed, with its error' jq -es --arg p "$tmp/readable/there" \
	'any(.[]; .event == "call" and .call == "mkdir" and .path == $p and .verdict == "allow" and .result == "EEXIST")
		and all(.[]; .verdict != "deny")' "$log"
touch "$tmp/readable/file" own
like 'File exists' 'a link to a name that is taken' "$(run ln own "$tmp/readable/file" 2>&1)"
like 'ermission denied' 'a link to a name that is not' "$(run ln own "$tmp/readable/other" 2>&1)"
like 'ermission denied' 'a link of what may not be changed' "$(run ln "$tmp/readable/file" "$tmp/readable/there" 2>&1)"

# A pipe has no name that a rule could be about.
for runner in "${runners[@]}"; do
	for engine in hybrid kernel; do
		is 'out in' "$runner, $engine: /dev/stdout and /dev/stdin are pipes" \
			"$(echo in | run sh -c 'echo out >/dev/stdout; cat </dev/stdin' | xargs)"
		is 'err' "$runner, $engine: so is /dev/stderr" "$(run sh -c 'echo err >/dev/stderr' 2>&1)"
		is 'in' "$runner, $engine: /proc/self/fd/N" "$(run bash -c 'exec 7< <(echo in); cat <&7 >/proc/self/fd/1')"
		is 'swapped' "$runner, $engine: the pipe of a process substitution" "$(run bash -c 'cat <(echo swapped)')"
	done
done

runner=exec engine=hybrid
cat >again.py <<'END'
import os, sys

def again(fd, how):
    try:
        return os.open("/proc/self/fd/%d" % fd, how)
    except PermissionError:
        return None

def upgrade(fd):
    return "refused" if again(fd, os.O_WRONLY) is None else "open"

memory = os.memfd_create("m", 0)
os.write(memory, b"kept")
print(os.read(again(memory, os.O_RDWR), 4).decode())
print(upgrade(again(memory, os.O_RDONLY)))
print(upgrade(os.open(sys.argv[1], os.O_RDONLY)))
print(upgrade(os.open("own", os.O_RDONLY)))
END
if have python3; then
	is 'kept refused refused open' 'memory can be opened again, for what it is open for; a file goes by its name' \
		"$(run python3 again.py "$tmp/readable/file" | xargs)"
else skip 'memory can be opened again' 'no python3'; fi
like 'ermission denied' 'standard output that is a file goes by its name' \
	"$(run sh -c 'echo x >/dev/stdout' 2>&1 >"$tmp/readable/file")"
done_testing
