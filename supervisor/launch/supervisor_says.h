/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervisor_says.h - what the service tells the log and the user about the session.
 *
 * For supervisor.c alone.  Nothing here fails: a log that cannot be written is the
 * business of aw_watch_log().
 */
#ifndef AW_SUPERVISOR_LAUNCH_SUPERVISOR_SAYS_H
#define AW_SUPERVISOR_LAUNCH_SUPERVISOR_SAYS_H

#include "supervisor/launch/run.h"

/* A warning of this kind in the log, and the same on stderr unless quiet is true. */
void aw_supervisor_say_warning(struct aw_watch *watch, const char *kind, bool quiet,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* A `policy` event. */
void aw_supervisor_say_policy(
	struct aw_watch *watch, const struct aw_run *run, const char *text);

/* The engine preload: what it does not see. */
void aw_supervisor_say_gap(struct aw_watch *watch, const struct aw_run *run);

/* The log's first lines: how the command is watched and held, and by what its limits. */
void aw_supervisor_say_start(
	struct aw_watch *watch, const struct aw_run *run, pid_t command);

/* When something was killed or refused for a limit. */
void aw_supervisor_say_limits(struct aw_watch *watch, const struct aw_run *run);

/* The log's last line, and the one on stderr when something was denied. */
void aw_supervisor_say_summary(struct aw_watch *watch, const struct aw_run *run);

/* The last word on stderr when events could not be written. */
void aw_supervisor_say_unwritten(const struct aw_watch *watch);

#endif
