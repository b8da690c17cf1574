/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidfd.h - what the kernel tells about a process by its descriptor (pidfd_open(2)).
 */
#ifndef AW_SUPERVISOR_LINUX_PIDFD_H
#define AW_SUPERVISOR_LINUX_PIDFD_H

#include <stdbool.h>
#include <sys/types.h>

/* A descriptor (owned by the caller), or -1 with errno: ESRCH gone, ENOENT a thread. */
int aw_pidfd_open(pid_t pid);

/* For the table of descriptors of one thread, where the kernel can tell (Linux 6.9). */
int aw_pidfd_of_thread(pid_t tid, pid_t pid);

/* Process and parent (Linux 6.13); false when the kernel is older. */
bool aw_pidfd_parent(int pidfd, pid_t *ret_pid, pid_t *ret_ppid);

/*
 * How a process ended, as wait(2) has it, even when its parent has waited for it
 * already (Linux 6.15); -1 when it cannot be told.
 */
int aw_pidfd_status(int pidfd);

#endif
