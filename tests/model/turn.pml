/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.pml - take_turn() and leave_turn() of supervisor/linux/seccomp/notify.c, for SPIN.
 *
 * One thread waits for calls, the others sleep on a futex.  A call that arrives must be
 * received although any thread may be held up by one that it has (then the drain thread's
 * aw_notify_relieve() helps), and none may be slept through.
 *
 * -DBROKEN: the one that leaves wakes nobody although more calls are waiting, and nobody
 * relieves.
 */
#define THREADS 3
#define CALLS 4

byte receiving;		 /* the futex's word */
byte waiting_calls;	 /* in the kernel, not received */
byte arrived, handled;
bool asleep[THREADS];
bool held_up[THREADS];	 /* by its call, for as long as it likes */

inline wake_one()
{
	if
	:: asleep[0] -> asleep[0] = false
	:: asleep[1] -> asleep[1] = false
	:: asleep[2] -> asleep[2] = false
	:: !asleep[0] && !asleep[1] && !asleep[2] -> skip
	fi
}

proctype serve(byte me)
{
	bool mine, more;

end_waiting:
	do
	:: atomic { /* take_turn(): compare and exchange */
		mine = (receiving == 0);
		if
		:: mine -> receiving = 1
		:: else -> skip
		fi
	   }
	   if
	   :: mine ->
end_receive:	atomic { waiting_calls > 0 -> waiting_calls-- }
		receiving = 0; /* leave_turn() */
#ifndef BROKEN
		more = (waiting_calls > 0);
		if
		:: more -> atomic { wake_one() }
		:: else -> skip
		fi;
#endif
		held_up[me] = true; /* handle(): may take any time */
		if
		:: skip -> held_up[me] = false
		:: me == 0 ->
end_held:		false /* the first thread's call never ends */
		fi;
		handled++
	   :: else -> /* FUTEX_WAIT: sleeps only while the word is still 1 */
		atomic {
			if
			:: receiving == 1 -> asleep[me] = true
			:: else -> skip
			fi
		}
end_asleep:	!asleep[me]
	   fi
	od
}

proctype kernel()
{
	do
	:: arrived < CALLS -> atomic { arrived++; waiting_calls++ }
	:: arrived == CALLS -> break
	od
}

#ifndef BROKEN
/* aw_notify_relieve(): every 10 to 20 ms */
active proctype drain()
{
end_drain:
	do
	:: atomic { receiving == 0 && waiting_calls > 0 -> wake_one() }
	od
}
#endif

/* When nothing moves any more, no call may be waiting. */
active proctype look()
{
	timeout;
	assert(waiting_calls == 0)
}

init {
	atomic { run serve(0); run serve(1); run serve(2); run kernel() }
end_init:
	false
}
