/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_time.h - telling one process from a later one with the same number.
 */
#ifndef AW_SUPERVISOR_LINUX_START_TIME_H
#define AW_SUPERVISOR_LINUX_START_TIME_H

#include <stdint.h>
#include <sys/types.h>

/* When pid started, in clock ticks since boot; -1 with errno (a zombie is ESRCH). */
int aw_process_start(pid_t pid, uint64_t *ret_ticks);

/* The kernel's id of this boot, owned by the caller; NULL when it cannot be read. */
char *aw_boot_id(void);

#endif
