/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_command.h - agentwatch policy check, explain, import, presets, schema, show
 * and test; trust and untrust.
 */
#ifndef AW_SUPERVISOR_COMMANDS_POLICY_POLICY_COMMAND_H
#define AW_SUPERVISOR_COMMANDS_POLICY_POLICY_COMMAND_H

#include "supervisor/cli/options.h"
#include "supervisor/launch/layers.h"

extern const struct aw_command aw_command_policy_check;
extern const struct aw_command aw_command_policy_explain;
extern const struct aw_command aw_command_policy_import;
extern const struct aw_command aw_command_policy_presets;
extern const struct aw_command aw_command_policy_schema;
extern const struct aw_command aw_command_policy_show;
extern const struct aw_command aw_command_policy_test;
extern const struct aw_command aw_command_trust;
extern const struct aw_command aw_command_untrust;

struct aw_policy_options {
	const char *workspace, *agent, *mode, *runner, *base;
	bool plan, json;
	struct aw_string_list policies;
};

/*
 * What show begins with.  The index of the first argument; -1 when there is
 * nothing more to do but end with *ret_status.
 */
int aw_policy_start(const struct aw_command *command, int argc, char **argv,
	struct aw_policy_options *values, struct aw_layers *layers, int *ret_status);

#endif
