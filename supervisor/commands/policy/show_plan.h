/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_plan.h - agentwatch policy show --plan.
 */
#ifndef AW_SUPERVISOR_COMMANDS_POLICY_SHOW_PLAN_H
#define AW_SUPERVISOR_COMMANDS_POLICY_SHOW_PLAN_H

#include "supervisor/launch/layers.h"

/*
 * Print the sandbox that `run` would build for command (NULL at the end; may be empty)
 * with this runner; NULL: the policy's, else bwrap.  Nothing is made or started.
 */
int aw_plan_show(const struct aw_policy *policy, const struct aw_layers *layers,
	const char *runner, char **command, struct aw_error *err);

#endif
