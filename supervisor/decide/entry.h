/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.h - the role that a process gets with the program that it starts.
 */
#ifndef AW_SUPERVISOR_DECIDE_ENTRY_H
#define AW_SUPERVISOR_DECIDE_ENTRY_H

#include "supervisor/decide/watch.h"
#include "supervisor/process/mcp.h"

/*
 * The role of a process behind this exec: never less than who has now.  Profiles are
 * entered by the program, by what was asked for, or by the interpreter of a script, and
 * by the server's name.  A server of the
 * agents' files has its name from there, also below another server; what only looks
 * like one is named when nothing above it is.
 */
void aw_entry_foresee(struct aw_watch *watch, const struct aw_process_info *who,
	const struct aw_started *started, struct aw_role *ret);

/* For the line of an exec (engine preload): what the process will be behind it. */
void aw_entry_sign(struct aw_watch *watch, const struct aw_process_info *who,
	struct aw_event *event);

/* The same as the first for a program that runs already (engine preload), from what
 * /proc tells. */
void aw_entry_find(
	struct aw_watch *watch, const struct aw_process_info *who, struct aw_role *ret);

#endif
