/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority.h - threads that a watched program waits for.
 */
#ifndef AW_SUPERVISOR_LINUX_PRIORITY_H
#define AW_SUPERVISOR_LINUX_PRIORITY_H

/*
 * The calling thread is preferred to the programs that it answers, where it may be
 * (CAP_SYS_NICE, setpriority(2)); threads and processes that it makes are not
 * (SCHED_RESET_ON_FORK, sched(7)).  The answered program is woken on our processor: it
 * would go on there before we are asleep again, and an exec that finds two at work on
 * its processor moves to another one, which is dearer than all of the call.
 */
void aw_priority_raise(void);

#endif
