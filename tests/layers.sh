#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# layers.sh DIR: who may use whom, by the include lines below DIR; prints what breaks a rule.
#
# Includes of ours are written from the root, so an include line is an arrow between folders.
# tests/layers.arrows has all arrows that are allowed.
arrows=$(cd "$(dirname "$0")" && pwd)/layers.arrows
cd "${1:?folder}" || exit 2
broken=0
mapfile -t sources < <(find policy preload supervisor darwin win32 -name '*.[ch]' -o -name '*.def' 2>/dev/null | sort)
[ "${#sources[@]}" -gt 0 ] || exit 2

# what FOLDER: its sources, without those of folders below it.
what() { printf '%s\n' "${sources[@]}" | grep -E "^($1)/[^/]*$"; }

# below FOLDER: its sources, with those of folders below it.
below() { printf '%s\n' "${sources[@]}" | grep -E "^($1)/"; }

# no SENTENCE PATTERN FILE...: no include line of these files matches.
no()
{
	local sentence=$1 pattern=$2 found
	shift 2
	found=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]+$pattern" /dev/null "$@" 2>/dev/null)
	[ -n "$found" ] || return 0
	printf '%s\n' "$found"
	echo "  ^ $sentence"
	broken=1
}

grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "${sources[@]}" | awk -v table="$arrows" '
	function folder(path) { sub(/^supervisor\//, "", path); return sub(/\/[^\/]*$/, "", path) ? path : "main" }
	BEGIN {
		while ((getline line <table) > 0) {
			sub(/ *#.*/, "", line)
			if (line != "") allowed[line] = 1
		}
	}
	{
		from = $0; sub(/:.*/, "", from)
		to = $0; sub(/^[^"]*"/, "", to); sub(/".*/, "", to)
		a = folder(from); b = folder(to)
		if (a == b || to !~ /\//) next
		arrow = a " -> " b
		any = from ~ /^supervisor\// ? "* -> " b : arrow
		used[arrow] = used[any] = 1
		if (arrow in allowed || any in allowed) next
		print
		missing[arrow] = wrong = 1
	}
	END {
		for (arrow in missing) print "  ^ " arrow ": tests/layers.arrows does not allow it"
		for (arrow in allowed) if (!(arrow in used)) { print arrow ": in tests/layers.arrows, but nothing needs it"; wrong = 1 }
		exit wrong
	}' || broken=1

shared=(policy/{calls,verdict,path,glob,shared/ring,image/image,image/image_walk,image/image_exec,image/image_net}.c)
mapfile -t no_loader < <(below policy | grep -v '^policy/load/')
mapfile -t policy < <(below policy)
mapfile -t preload < <(below preload)
mapfile -t others < <(below 'preload|supervisor')
mapfile -t no_import < <(below 'preload|supervisor' | grep -v '^supervisor/import/')

no 'only the loader of policy/ uses libyaml' '<yaml\.h>' "${no_loader[@]}"
no 'policy/ uses no other library' '<(uthash|ut[a-z]+|ffi|cjson/[^>]*|curl/[^>]*)(\.h)?>' "${policy[@]}"
no 'what decides neither allocates nor does I/O' '<(stdlib|stdio|malloc|unistd)\.h>' "${shared[@]}"
no 'preload/ uses no libraries' '<(yaml|uthash|malloc|cjson/[^>]*)(\.h)?>' "${preload[@]}"
no 'how an image is laid out is the business of policy/' '"policy/image/image_layout\.h"' "${others[@]}"
no 'a YAML document as a tree is for the loader and for policy import' '"policy/load/load_tree\.h"' "${no_import[@]}"
no 'nobody includes a .c' '"[^"]*\.c"' "${sources[@]}" tests/*/*.[ch]
no 'includes are written from the root' '"[^/"]*"' "${sources[@]}" tests/unit/*.[ch] tests/audit/*.[ch] tests/fuzz/*.[ch]
# a header X_internal.h is for its own folder and those below it
found=$(grep -nE '^#include "[^"]*_internal\.h"' "${sources[@]}" | awk -F'[:"]' '
	{ home = $4; sub(/[^\/]*$/, "", home) } index($1, home) != 1')
if [ -n "$found" ]; then
	printf '%s\n' "$found"
	echo '  ^ a header *_internal.h is for the files of its own folder'
	broken=1
fi
# one name, one file: a mention of it says which
found=$(printf '%s\n' "${sources[@]##*/}" | sort | uniq -d)
if [ -n "$found" ]; then
	printf '%s\n' "$found"
	echo '  ^ no two sources have the same name'
	broken=1
fi
# a process is judged with its profiles; without, the question is one about the session
found=$(grep -nE 'aw_image_decide_(path|exec|address|host)\(' "${preload[@]}" \
	supervisor/linux/{calls,emulate,sockets}/{call,emulate}*.c supervisor/launch/socket_service.c 2>/dev/null)
if [ -n "$found" ]; then
	printf '%s\n' "$found"
	echo "  ^ calls of a process are judged by aw_image_decide_..._in()"
	broken=1
fi
# a target can change a socket at any time: connecting.h
mapfile -t acting < <(what 'supervisor/(git|linux/(target|seccomp|calls|emulate|sockets))')
found=$(grep -nE '(^|[^_[:alnum:]])connect\(' "${acting[@]}" |
	grep -vE '^supervisor/linux/sockets/connecting\.c:|connect\(c->outside,|/\*|^[^:]*:[0-9]+: \*')
if [ -n "$found" ]; then
	printf '%s\n' "$found"
	echo "  ^ a target's socket is connected by aw_connecting_to()"
	broken=1
fi
exit $broken
