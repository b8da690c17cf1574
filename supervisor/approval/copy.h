/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - an event that outlives the call that it is about.
 *
 * Events borrow their strings from the call that is being dealt with; a question waits
 * for longer than that.
 */
#ifndef AW_SUPERVISOR_APPROVAL_COPY_H
#define AW_SUPERVISOR_APPROVAL_COPY_H

#include "supervisor/audit/event.h"

struct aw_event_copy {
	struct aw_event event; /* its strings are below */
	struct aw_rule rule;
	struct aw_text *argv; /* owned */
	char *bytes;	      /* owned */
};

/* What a question shows of an event, and what a log line needs; NULL: out of memory. */
struct aw_event_copy *aw_event_copy_new(const struct aw_event *event);
void aw_event_copy_free(struct aw_event_copy *copy);

#endif
