/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - the policy's limits on what a command and its descendants may use.
 *
 * memory, cpus and processes are about all of them together, which only a control group
 * can hold: version 2 where a part of the tree is ours to use, else the hierarchies of
 * version 1 that can be written to.  Where there is neither, what comes nearest is used
 * and said: a limit a process, or a user, or fewer processors.  open_files and
 * file_size are limits of each process anyway.
 *
 * Groups are named after the process that made them, so that those which a killed
 * supervisor left behind can be removed at the next start.
 */
#ifndef AW_SUPERVISOR_LINUX_LIMITS_H
#define AW_SUPERVISOR_LINUX_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "policy/load/load.h"

enum { AW_LIMIT_GROUPS = 3, AW_LIMIT_TIMED_OUT = 124, AW_LIMIT_GRACE_MS = 5000 };

struct aw_limit {
	int resource; /* RLIMIT_ */
	uint64_t most;
};

/* Zero is one that limits nothing. */
struct aw_limiter {
	char *groups[AW_LIMIT_GROUPS]; /* owned; directories of control groups */
	size_t group_count;
	struct aw_limit limits[8]; /* for each process */
	size_t limit_count;
	unsigned processors; /* 0: all */
	uint64_t time;	     /* seconds, 0: no end */
	char text[512];	     /* what holds what, for the log; "" without limits */
	char nearly[512];    /* what is only approximated; "" when nothing is */
};

/* Files of the kernel to look at; the tests have their own. */
struct aw_limit_world {
	const char *mountinfo, *cgroup;
};
extern const struct aw_limit_world aw_limit_world;

/* Make groups and write limits into them, or take what comes nearest. */
void aw_limits_prepare(const struct aw_limits *params,
	const struct aw_limit_world *world, struct aw_limiter *ret);

/* The calling process, and all that it starts from now on, is limited. */
void aw_limits_join(const struct aw_limiter *limiter);

/* How often something was refused or killed for a limit, as a sentence; "" for never. */
void aw_limits_report(const struct aw_limiter *limiter, char *text, size_t size);

/* Remove the groups (those with processes in them stay); may be called again. */
void aw_limits_end(struct aw_limiter *limiter);

#endif
