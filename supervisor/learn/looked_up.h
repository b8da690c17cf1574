/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looked_up.h - which names a process has looked up, to go with addresses without one.
 *
 * A guess for a person to judge: the log does not say what a look-up answered.
 */
#ifndef AW_SUPERVISOR_LEARN_LOOKED_UP_H
#define AW_SUPERVISOR_LEARN_LOOKED_UP_H

#include <sys/types.h>

#include "supervisor/learn/seen.h"

/* Names by process and port; zero is empty. */
struct aw_lookups {
	struct aw_lookup *items; /* owned */
};

/* Note a call that looks a name up; others are passed over. */
void aw_lookups_add(struct aw_lookups *lookups, const struct aw_seen *seen);

/* The name that the process looked up last for this port, or NULL; borrowed. */
const char *aw_lookups_find(
	const struct aw_lookups *lookups, const struct aw_seen *seen);

void aw_lookups_free(struct aw_lookups *lookups);

#endif
