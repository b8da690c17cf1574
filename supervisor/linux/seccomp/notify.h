/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - the notification service: calls that the kernel hands over.
 *
 * Some threads wait on the listener (seccomp_unotify(2)).  Each call is decoded by its
 * row in calls.def, judged by the same image as in the shim, answered and logged.  In
 * audit the answer goes out first and always lets the call continue; in enforce, and
 * with verdicts "ask", the log line is written first.
 */
#ifndef AW_SUPERVISOR_LINUX_SECCOMP_NOTIFY_H
#define AW_SUPERVISOR_LINUX_SECCOMP_NOTIFY_H

#include "supervisor/decide/watch.h"

struct aw_notify;

/* Start the first of usually so many threads on watch->listener. */
int aw_notify_start(struct aw_watch *watch, unsigned usual, struct aw_notify **ret,
	struct aw_error *err);

/* Start the others: once calls come in, since one thread is enough for the first ones.
 * Fewer will do where no more can be had. */
void aw_notify_reinforce(struct aw_notify *notify);

/*
 * One thread at a time waits for calls, since the kernel wakes all that do.  It wakes
 * another one when there are more calls.  Now and then this has to be called, for the
 * case that it is held up by the call it has: a file system may wait for the target.
 */
void aw_notify_relieve(struct aw_watch *watch);

/* Stop the threads; NULL is fine. Calls that come later wait for whoever holds the
 * listener. */
void aw_notify_stop(struct aw_notify *notify);

#endif
