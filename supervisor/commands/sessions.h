/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.h - the commands about running sessions, and what they share.
 */
#ifndef AW_SUPERVISOR_COMMANDS_SESSIONS_H
#define AW_SUPERVISOR_COMMANDS_SESSIONS_H

#include "supervisor/cli/options.h"
#include "supervisor/session/session.h"

extern const struct aw_command aw_command_ps;
extern const struct aw_command aw_command_stop;
extern const struct aw_command aw_command_policy_reload;

/*
 * Parse a command whose only argument is the name of a session that runs, and find it.
 * 1: go on with *ret; 0: help was printed, nothing to do; -1: *ret_status says how to
 * exit, the reason has been told.
 */
int aw_session_argument(const struct aw_command *command, int argc, char **argv,
	void *values, struct aw_session **ret, int *ret_status);

/* Send request to the session and print its answer on stdout; exit status. */
int aw_session_ask(const struct aw_session *session, const char *request);

#endif
