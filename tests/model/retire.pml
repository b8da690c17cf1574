/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retire.pml - the two doors of supervisor/session/epoch.c, for SPIN.
 *
 * Readers come and go; one thread replaces the pointer and releases what it has replaced.
 * No reader may hold what is released.
 *
 * -DBROKEN: the look forgets those who are still behind the other door.
 */
#define READERS 2
#define VALUES 3

byte open_door;
byte inside[2];
byte current;		 /* number of the value that the pointer leads to */
bool released[VALUES];

proctype reader()
{
	byte door, value, times;

	do
	:: times < 2 ->
		times++;
		door = open_door; /* aw_epoch_enter(): a load, then an addition */
		inside[door]++;
		value = current;
		assert(!released[value]); /* the first use ... */
		assert(!released[value]); /* ... and the last one */
		inside[door]--
	:: break
	od
}

/* What it has replaced is kept in two batches, as lists of bits. */
proctype writer()
{
	byte coming, going, next, i, looks;

	do
	:: next < VALUES - 1 && looks < 5 ->
		next++;
		i = current;
		current = next;
		coming = coming | (1 << i)
	:: looks < 5 -> /* aw_epoch_collect() */
		looks++;
		if
		:: !coming && !going -> skip
#ifndef BROKEN
		:: (coming || going) && inside[1 - open_door] > 0 -> skip
		:: (coming || going) && inside[1 - open_door] == 0 ->
#else
		:: coming || going ->
#endif
			i = 0;
			do
			:: i < VALUES ->
				if
				:: going & (1 << i) -> released[i] = true
				:: else -> skip
				fi;
				i++
			:: else -> break
			od;
			going = coming;
			coming = 0;
			if
			:: going -> open_door = 1 - open_door
			:: else -> skip
			fi
		fi
	:: looks == 5 -> break
	od
}

init {
	atomic { run reader(); run reader(); run writer() }
}
