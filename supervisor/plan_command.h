/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_command.h - agentwatch policy show --plan.
 */
#ifndef AW_SUPERVISOR_PLAN_COMMAND_H
#define AW_SUPERVISOR_PLAN_COMMAND_H

#include "supervisor/layers.h"

/*
 * Print the wall that `run` would build for command (NULL at the end; may be empty)
 * with this runner; NULL: the policy's, else bwrap.  Nothing is made or started.
 */
int aw_plan_show(const struct aw_policy *policy, const struct aw_layers *layers,
	const char *runner, char **command, struct aw_error *err);

#endif
