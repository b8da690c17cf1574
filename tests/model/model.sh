#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# model.sh - everything that can come in any order, in every order.
#
# The ring's own code in all interleavings (ring_all.c), and models of the locking for SPIN
# (*.pml).  Each is also tried with a mistake in it, which must be found.
. "$(dirname "$0")/../tap.sh"
here=$root/tests/model
flags=(gcc -std=gnu11 -D_GNU_SOURCE "-I$root" -O1 -fno-stack-protector -D_Atomic=)

# ring NAME SOURCE: the search with that ring.c
ring()
{
	"${flags[@]}" -include "$here/yield.h" -c -o "$tmp/$1.o" "$2" &&
		"${flags[@]}" -o "$tmp/$1" "$here/ring_all.c" "$tmp/$1.o"
}

# mistake SENTENCE SED-SCRIPT: what is wrong with ring.c must be found.
mistake()
{
	sed -E -z "$2" "$root/policy/shared/ring.c" >"$tmp/wrong.c"
	if cmp -s "$tmp/wrong.c" "$root/policy/shared/ring.c"; then
		fail "$1" 'ring.c has changed; say the mistake anew'
	elif ! ring wrong "$tmp/wrong.c"; then
		fail "$1" 'it does not compile'
	elif "$tmp/wrong" >"$tmp/wrong.out"; then
		fail "$1" 'it was not found'
	else
		pass "$1 ($(sed -n 's/^# //p' "$tmp/wrong.out" | head -n 1))"
	fi
}

if [ "$(uname -m)" = x86_64 ]; then
	if ring right "$root/policy/shared/ring.c"; then
		relay 'the ring: ' < <("$tmp/right" | sed -E 's/^((not )?ok) [0-9]+ - /\1 - /; /^1\.\./d')
	else
		fail 'the search compiles'
	fi
	mistake 'found: two writers get the same place' \
		's/!atomic_compare_exchange_weak_explicit\(&ring->head, &head, head \+ len,[^)]*\)/(atomic_store(\&ring->head, head + len), 0)/'
	mistake 'found: a record is given back before it is copied' \
		's/(\tcopy_out\(reader[^;]*;\n)([^\n]*\n)(\trelease[^;]*;\n)/\3\1\2/'
	mistake 'found: what an earlier lap has left is taken for a record' \
		's/!aw_word_is_at\(word, reader->tail\)/0/'
	mistake 'found: a result is put in whoever has the place by now' \
		's/atomic_compare_exchange_strong_explicit\(\s*(word_at\(ticket->ring, ticket->ring->size, ticket->pos\)), &expected,\s*(aw_record_word\([^;]*err, state\)),[^;]*;/atomic_store(\1, \2);/'
	mistake 'found: a record is committed before it is filled in' \
		's/pos, len, 0, AW_REC_RESERVED\)/pos, len, err, state)/'
	mistake 'found: room is counted without what is not read yet' 's/head - tail \+ len > size/len > size/'
else
	skip 'the ring in all orders' 'its coroutines are for x86_64'
fi

# spin_finds MODEL [DEFINE]: the number of errors in all its states, and how many there are
spin_finds()
{
	local dir
	dir=$(mktemp -d "$tmp/spin.XXXXXX") && cd "$dir" || return 1
	spin -a ${2:+"$2"} "$here/$1.pml" >log 2>&1 && gcc -O2 -DSAFETY -o pan pan.c >>log 2>&1 ||
		{ tail -n 5 log; return 1; }
	./pan -m100000 -n >log 2>&1
	grep -q 'max search depth too small' log && echo 'not searched to the end'
	sed -n 's/.*errors: //p; s/^ *\([0-9]*\) states, stored.*/\1/p' log | tr '\n' ' '
}

if have spin; then
	while read -r model sentence; do
		read -r errors states < <(spin_finds "$model")
		is 0 "$sentence (${states% } states)" "$errors"
		read -r errors states < <(spin_finds "$model" -DBROKEN)
		is 1 "found: a mistake in that" "$errors"
	done <<-END
		turn no call is slept through by the notification threads
		retire no reader holds what a reload has released
		room the drain thread ends, and no writer takes room that is not there
	END
else
	skip 'the locking in all orders' 'spin is not installed'
fi
done_testing
