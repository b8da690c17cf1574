/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room.pml - the doorbell, and the end of the drain thread, for SPIN.
 *
 * Supervisor: doze() and aw_drain_finish() of supervisor/audit/drain.c; the drain thread
 * must end without waiting for its time to be over.  Shim: a writer that finds its ring
 * full (aw_ring_wait()) against make_room(); there the time that a wait has is part of
 * the design, so it is only looked that the writer never takes room that is not there.
 *
 * -DBROKEN: the doorbell is read behind the last look at `finish`.
 */
byte doorbell, waiters, used;
bool finish, drain_asleep, drain_over, writer_asleep;
#define SIZE 2

inline wake_drain() { drain_asleep = false }

active proctype drain()
{
	byte before;
	bool last;

	do
	:: !finish ->
		/* pass(): one ring, then make_room() */
		if
		:: used > 0 -> used--
		:: else -> skip
		fi;
		atomic { last = waiters; waiters = 0 }
		if
		:: last -> writer_asleep = false
		:: else -> skip
		fi;
#ifndef BROKEN
		before = doorbell;
		if
		:: !finish -> atomic { /* FUTEX_WAIT, while the word is what it was */
			if
			:: doorbell == before -> drain_asleep = true
			:: else -> skip
			fi }
		:: else -> skip
		fi;
#else
		if
		:: !finish ->
			before = doorbell;
			atomic {
			if
			:: doorbell == before -> drain_asleep = true
			:: else -> skip
			fi }
		:: else -> skip
		fi;
#endif
		!drain_asleep
	:: finish -> break
	od;
	drain_over = true
}

/* In time the drain thread wakes by itself, but not once it should end. */
active proctype clock()
{
end_clock:
	do
	:: !finish && drain_asleep -> drain_asleep = false
	:: !finish && writer_asleep -> writer_asleep = false
	:: finish -> break
	od
}

active proctype writer()
{
	byte n, tries;

	do
	:: n < 3 ->
		atomic { /* reserve(): by compare and exchange */
			if
			:: used < SIZE -> used++; n++; tries = 0
			:: else -> tries++
			fi;
			assert(used <= SIZE)
		}
		if
		:: tries > 0 && tries < 4 -> /* aw_ring_wait() */
			waiters = 1;
			if
			:: used < SIZE / 2 -> skip
			:: else ->
				wake_drain(); /* FUTEX_WAKE: the word stays */
				atomic {
					if
					:: waiters == 1 && !finish -> writer_asleep = true
					:: else -> skip
					fi
				}
				!writer_asleep || finish
			fi
		:: tries >= 4 -> n++ /* left to the kernel layer */
		:: else -> skip
		fi
	:: else -> break
	od
}

active proctype service()
{
	finish = true; /* at any time: aw_drain_finish() */
	doorbell++;
	wake_drain();
	drain_over /* pthread_join() */
}
