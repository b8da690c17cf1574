#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# layers.sh DIR: who may use whom, by the include lines below DIR; prints what breaks a rule.
#
# Includes of ours are written from the root, so an include line is an arrow between folders.
cd "${1:?folder}" || exit 2
broken=0

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

shared=(policy/{calls,ring,verdict,path,glob,image,image_walk,image_exec,image_net}.c)
no_loader=()
for file in policy/*.[ch]; do
	case $file in policy/load*) ;; *) no_loader+=("$file") ;; esac
done

no 'policy/ uses nothing of ours' '"(preload|supervisor|darwin|win32|tests)/' policy/*.[ch]
no 'only the loader of policy/ uses the loader and libyaml' '("policy/load|<yaml\.h>)' "${no_loader[@]}"
no 'policy/ uses no other library' '<(uthash|ut[a-z]+|ffi|cjson/[^>]*|curl/[^>]*)(\.h)?>' policy/*.[ch]
no 'what decides neither allocates nor does I/O' '<(stdlib|stdio|malloc|unistd)\.h>' "${shared[@]}"
no 'preload/ uses policy/ alone' '"(supervisor|darwin|win32|tests)/' preload/*.[ch]
no 'preload/ uses neither the loader nor libraries' '("policy/(load|compile)|<(yaml|uthash|malloc|cjson/[^>]*)(\.h)?>)' preload/*.[ch]
no 'supervisor/ does not use the shim' '"(preload|darwin|win32|tests)/' supervisor/*.[ch] supervisor/*/*.[ch]
no 'how an image is laid out is the business of policy/' '"policy/(image_layout|load_internal)\.h"' \
	preload/*.[ch] supervisor/*.[ch] supervisor/*/*.[ch]
no 'a YAML document as a tree is for the loader and for policy import' '"policy/load_tree\.h"' \
	preload/*.[ch] supervisor/*.[ch] supervisor/{audit,kernel,policy,runner,view}/*.[ch]
no 'darwin/ and win32/ do not use each other' '"win32/' darwin/*.[ch]
no 'darwin/ and win32/ do not use each other' '"darwin/' win32/*.[ch]
no 'nobody includes a .c' '"[^"]*\.c"' policy/*.[ch] preload/*.[ch] supervisor/*.[ch] supervisor/*/*.[ch] tests/*/*.[ch]
no 'includes are written from the root' '"[^/"]*"' policy/*.[ch] preload/*.[ch] supervisor/*.[ch] \
	supervisor/*/*.[ch] tests/unit/*.[ch] tests/audit/*.[ch] tests/fuzz/*.[ch]
# a process is judged with its profiles; without, the question is one about the session
found=$(grep -nE 'aw_image_decide_(path|exec|address|host)\(' preload/*.c supervisor/kernel/{call,hand}*.c supervisor/socket_service.c)
if [ -n "$found" ]; then
	printf '%s\n' "$found"
	echo "  ^ calls of a process are judged by aw_image_decide_..._in()"
	broken=1
fi
# a target can change a socket at any time: connecting.h
found=$(grep -nE '(^|[^_[:alnum:]])connect\(' supervisor/kernel/*.c | grep -vE '^supervisor/kernel/connecting\.c:|connect\(c->outside,|/\*|^[^:]*:[0-9]+: \*')
if [ -n "$found" ]; then
	printf '%s\n' "$found"
	echo "  ^ a target's socket is connected by aw_connecting_to()"
	broken=1
fi
exit $broken
