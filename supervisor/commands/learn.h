/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn.h - agentwatch learn and agentwatch policy from-log.
 */
#ifndef AW_SUPERVISOR_COMMANDS_LEARN_H
#define AW_SUPERVISOR_COMMANDS_LEARN_H

#include "supervisor/cli/options.h"

extern const struct aw_command aw_command_learn;
extern const struct aw_command aw_command_policy_from_log;

/* What both commands can be told; strings borrowed. */
struct aw_learn_options {
	const char *output, *for_whom, *default_files, *workspace, *agent;
	const char *engine, *session; /* learn alone */
	struct aw_string_list policies, also;
	long fold;
	bool force, diff, quiet;
};

/*
 * Make a policy from sessions and log files, write or print it, and prove it.  given is
 * the environment that the command had, or NULL; command is its name, or NULL.  The
 * exit status: 0, or AW_EXIT_FAILED with a sentence said.
 */
int aw_learn_from(const struct aw_learn_options *options,
	const struct aw_string_list *logs, const char *command,
	const char *const *given);

#endif
