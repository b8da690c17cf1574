/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock_internal.h - a ruleset while it is being made; for landlock_make.c and
 * landlock_reads.c.
 */
#ifndef AW_SUPERVISOR_SANDBOX_LANDLOCK_INTERNAL_H
#define AW_SUPERVISOR_SANDBOX_LANDLOCK_INTERNAL_H

#include "supervisor/sandbox/landlock.h"

/* Add a rule, without rights that are not handled; false: out of memory. */
bool aw_landlock_grant(struct aw_landlock *to, const char *path, uint64_t access);

/* One rule a path, in order. */
void aw_landlock_tidy(struct aw_landlock *to);

/*
 * Take every grant of reading back that is not as the wish's image wants it; where that
 * cannot be, nothing changes and made->why_not says why.  0, or -1: out of memory.
 */
int aw_landlock_narrow(
	const struct aw_landlock_params *params, struct aw_landlock *made);

#endif
