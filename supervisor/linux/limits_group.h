/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits_group.h - control groups of either version; for limits.c.
 */
#ifndef AW_SUPERVISOR_LINUX_LIMITS_GROUP_H
#define AW_SUPERVISOR_LINUX_LIMITS_GROUP_H

#include "supervisor/linux/limits.h"

/* By which version each limit is held; NULL: by no group. */
struct aw_group_holds {
	const char *memory, *cpus, *processes;
};

/*
 * Make the groups that wish wants and that can be made here, write the limits into them
 * and the directories into to; stale ones beside them are removed.
 */
void aw_groups_make(const struct aw_limits *params, const struct aw_limit_world *world,
	struct aw_limiter *to, struct aw_group_holds *ret);

/* Write text to a file of a group. */
bool aw_group_write(const char *group, const char *file, const char *text);

/* The number behind key at the start of a line; 0 when there is none. */
unsigned long long aw_group_counter(
	const char *group, const char *file, const char *key);

#endif
