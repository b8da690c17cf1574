/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending_events.h - audit: connections wait for the name of their address, before they
 * are logged.
 *
 * A connection is reported by the kernel at once, the look-up before it by a ring that
 * is read now and then.  The call itself is not held up: its event waits here until all
 * rings have been read once more, 20 ms at most, and is then logged with the name.  A
 * verdict that no rule stands behind is given anew, as in enforce, where the name is
 * known at once.
 *
 * aw_pending_events_hold() may be called by any thread, the rest by the one that reads
 * the rings.
 */
#ifndef AW_SUPERVISOR_AUDIT_PENDING_EVENTS_H
#define AW_SUPERVISOR_AUDIT_PENDING_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "supervisor/audit/answers.h"
#include "supervisor/audit/event.h"

enum { AW_PENDING_EVENTS_MAX = 1024 }; /* at a time; more are logged without a name */

struct aw_pending_events;
struct aw_epoch;
struct aw_watch;

/*
 * readers: of the policies that rules of events belong to, which stay as long as the
 * events do.  NULL: out of memory.
 */
struct aw_pending_events *aw_pending_events_new(struct aw_epoch *readers);

/* What still waits is lost: aw_pending_events_begin() and aw_pending_events_end() come
 * first. */
void aw_pending_events_free(struct aw_pending_events *late);

/* An event that may get a name is kept; false: it is to be logged now. */
bool aw_pending_events_hold(
	struct aw_pending_events *late, const struct aw_event *event);

/* A process was told addresses. */
void aw_pending_events_answer(
	struct aw_pending_events *late, const struct aw_dns_report *answer);

/* The rings are about to be read: what waits now is due when they are. */
void aw_pending_events_begin(struct aw_pending_events *late);

/* They have been read. */
void aw_pending_events_end(struct aw_pending_events *late, struct aw_watch *watch);

/* The rings of a process were read to their end, and its end is to be logged. */
void aw_pending_events_exit(
	struct aw_pending_events *late, struct aw_watch *watch, pid_t pid);

#endif
