/* SPDX-License-Identifier: Apache-2.0 */
/* start.c - how the policy commands begin: options, then the layers that count. */
#include <errno.h>

#include "supervisor/cli/say.h"
#include "supervisor/commands/policy/policy_command.h"

int aw_policy_start(const struct aw_command *command, int argc, char **argv,
	struct aw_policy_options *values, struct aw_layers *layers, int *ret_status)
{
	struct aw_layers_params params;
	struct aw_error err;
	bool help;
	int first = aw_options_parse(command, argc, argv, values, &help, &err);

	*ret_status = 0;
	if (first >= 0 && help) {
		aw_options_help(command);
		return -1;
	}
	if (first >= 0 && command == &aw_command_policy_show && first < argc &&
		!values->plan)
		first = aw_fail(&err, EINVAL,
			"policy show takes no arguments without --plan, but '%s' was "
			"given; name a file with --policy",
			argv[first]);
	if (first < 0) {
		*ret_status = aw_say_usage(&err);
		return -1;
	}
	params = (struct aw_layers_params){.workspace = values->workspace,
		.agent = values->agent,
		.runner = values->runner,
		.base = values->base,
		.policies = &values->policies};
	if (aw_layers_find(&params, layers, &err) < 0) {
		*ret_status = aw_say_failed(&err);
		return -1;
	}
	return first;
}
