#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# exports.sh SHIM: it exports the functions of policy/calls.def and no more, and needs nothing.
set -u
shim=${1:?library}
cd "$(dirname "$0")/.." || exit 2
broken=0
wrong() { echo "$shim: $1:"; printf '  %s\n' $2; broken=1; }

# every name of the table, aliases too, and what is written in assembly
table=$({ printf '%s\n' '#define AW_FN(ret, name, params, args, sys, sysargs) @name' \
	'#define AW_HAND(name, effect, sys) @name' '#define AW_ALIAS(name, of) @name' \
	'#include "policy/calls.def"' | ${CC:-cc} -E -P -I. -x c - | grep -o '@ *[A-Za-z0-9_]*' | tr -d '@ '
	printf '%s\n' vfork __vfork; } | sort -u)
exported=$(nm -D --defined-only "$shim" | awk '{ print $3 }' | sort -u)

extra=$(comm -13 <(echo "$table") <(echo "$exported"))
[ -z "$extra" ] || wrong 'exports that are not in policy/calls.def' "$extra"
lacking=$(comm -23 <(echo "$table") <(echo "$exported"))
[ -z "$lacking" ] || wrong 'functions of policy/calls.def that it does not export' "$lacking"
needed=$(readelf -d "$shim" | grep NEEDED)
[ -z "$needed" ] || wrong 'needs a library' "$needed"
strong=$(nm -D --undefined-only "$shim" | awk '$1 != "w" { print $2 }')
[ -z "$strong" ] || wrong 'cannot do without' "$strong"
heap=$(nm -D --undefined-only "$shim" | awk '{ print $2 }' | grep -xE '(m|c|re)alloc|free|f?printf|dlsym')
[ -z "$heap" ] || wrong 'must not use' "$heap"
stack=$(readelf -lW "$shim" | grep GNU_STACK | grep -w RWE)
[ -z "$stack" ] || wrong 'wants an executable stack' "$stack"
exit $broken
