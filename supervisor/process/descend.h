/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descend.h - all processes below one, from /proc, but for our own helpers.
 */
#ifndef AW_SUPERVISOR_PROCESS_DESCEND_H
#define AW_SUPERVISOR_PROCESS_DESCEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Send a signal to every descendant of root; how many there were.  Works without memory
 * and without a free descriptor, too; root is the caller itself then, or above it.
 */
size_t aw_signal_descendants(pid_t root, int signal);

/* All of them; *ret is owned by the caller. */
size_t aw_descendants(pid_t root, pid_t **ret);

/* With those that have ended and were not waited for, which may still be signalled. */
size_t aw_session_members(pid_t root, pid_t **ret);

/* Is this process or thread, which may have ended, below root? */
bool aw_descends(pid_t pid, pid_t root);

/*
 * Processes that we have forked for ourselves, which descend from us and are no part of
 * the session: nothing above finds them.  Any thread may call these.  False: there are
 * too many.
 */
bool aw_helper_add(pid_t pid);
bool aw_helper_is(pid_t pid);

#endif
