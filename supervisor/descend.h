/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descend.h - all processes below one, from /proc.
 */
#ifndef AW_SUPERVISOR_DESCEND_H
#define AW_SUPERVISOR_DESCEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Send a signal to every descendant of root; how many there were.  Works without memory
 * and without a free descriptor, too; root is the caller itself then, or above it.
 */
size_t aw_signal_descendants(pid_t root, int signal);

/*
 * The same for those of one process group (0: of all), but for one process (0: none);
 * how many could be signalled.
 */
size_t aw_signal_group(pid_t root, pid_t group, pid_t except, int signal);

/* All of them; *ret is owned by the caller. */
size_t aw_descendants(pid_t root, pid_t **ret);

/* Is this process or thread below root? */
bool aw_descends(pid_t pid, pid_t root);

#endif
