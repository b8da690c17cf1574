/* SPDX-License-Identifier: Apache-2.0 */
/* policy_command.c - agentwatch policy check and show. */
#include "supervisor/policy_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/load.h"
#include "supervisor/layers.h"
#include "supervisor/say.h"

struct policy_options {
	const char *workspace, *agent, *mode;
	struct aw_string_list policies;
};

/* Check one file by itself; returns the number of errors in it. */
static size_t check_file(const char *file, const struct aw_policy_variables *variables)
{
	struct aw_policy_source source = {file, "policy", AW_TRUSTED};
	struct aw_diagnostics found = {0};
	struct aw_policy policy = {0};
	size_t errors;
	int r;

	r = aw_policy_load(&source, 1, variables, AW_AUDIT, false, &policy, &found);
	aw_diagnostics_print(&found, stdout);
	errors = found.errors;
	if (r < 0 && !errors) {
		aw_say("%s: cannot be loaded", file);
		errors = 1;
	}
	if (!r && !found.count)
		printf("%s: no mistakes\n", file);
	if (!r)
		aw_policy_release(&policy);
	aw_diagnostics_free(&found);
	return errors;
}

/* The start that both commands share; as aw_session_argument(). */
static int start(const struct aw_command *command, int argc, char **argv,
	struct policy_options *values, struct aw_layers *layers, int *ret_status)
{
	struct aw_layers_wish wish;
	struct aw_error err;
	bool help;
	int first = aw_options_parse(command, argc, argv, values, &help, &err);

	*ret_status = 0;
	if (first >= 0 && help) {
		aw_options_help(command);
		return -1;
	}
	if (first >= 0 && command == &aw_command_policy_check && first == argc)
		first = aw_fail(&err, EINVAL, "policy check wants at least one file");
	if (first >= 0 && command == &aw_command_policy_show && first < argc)
		first = aw_fail(&err, EINVAL,
			"policy show takes no arguments, but '%s' was given; name a "
			"file "
			"with --policy",
			argv[first]);
	if (first < 0) {
		*ret_status = aw_say_usage(&err);
		return -1;
	}
	wish = (struct aw_layers_wish){.workspace = values->workspace,
		.agent = values->agent,
		.policies = &values->policies};
	if (aw_layers_find(&wish, layers, &err) < 0) {
		*ret_status = aw_say_failed(&err);
		return -1;
	}
	return first;
}

static int check_main(int argc, char **argv)
{
	struct policy_options values = {0};
	struct aw_layers layers;
	size_t errors = 0;
	int status, first;

	first = start(&aw_command_policy_check, argc, argv, &values, &layers, &status);
	if (first < 0)
		return status;
	for (int i = first; i < argc; i++)
		errors += check_file(argv[i], &layers.variables);
	aw_layers_release(&layers);
	return errors ? AW_EXIT_FAILED : 0;
}

static int show_main(int argc, char **argv)
{
	struct policy_options values = {0};
	struct aw_diagnostics found = {0};
	struct aw_policy policy = {0};
	struct aw_layers layers;
	enum aw_mode mode;
	int status, r;

	if (start(&aw_command_policy_show, argc, argv, &values, &layers, &status) < 0)
		return status;
	mode = values.mode && !strcmp(values.mode, "enforce") ? AW_ENFORCE : AW_AUDIT;
	r = aw_policy_load(layers.sources, layers.count, &layers.variables, mode,
		values.mode != NULL, &policy, &found);
	aw_diagnostics_print(&found, stderr);
	if (!r) {
		aw_policy_print(&policy, stdout);
		aw_policy_release(&policy);
	}
	aw_diagnostics_free(&found);
	aw_layers_release(&layers);
	aw_string_list_free(&values.policies);
	return r < 0 ? AW_EXIT_FAILED : 0;
}

#define AT(field) offsetof(struct policy_options, field)

static const struct aw_option check_options[] = {
	{"workspace", 'w', AW_OPT_STRING, AT(workspace), "DIR", NULL,
		"what $WORKSPACE stands for"},
};

static const struct aw_option show_options[] = {
	{"policy", 'p', AW_OPT_LIST, AT(policies), "FILE", NULL,
		"one more layer on top; may be repeated"},
	{"mode", 'm', AW_OPT_CHOICE, AT(mode), NULL, "audit|enforce",
		"show it for this mode"},
	{"agent", 'a', AW_OPT_STRING, AT(agent), "NAME", NULL,
		"with this agent's layer and preset"},
	{"workspace", 'w', AW_OPT_STRING, AT(workspace), "DIR", NULL,
		"for this folder, not for the one around the working directory"},
};

const struct aw_command aw_command_policy_check = {
	.name = "policy check",
	.arguments = "FILE...",
	.brief = "find mistakes in policy files",
	.details = "Every mistake is printed as file:line:column with a sentence, not "
		   "only the "
		   "first.  The exit status is 1 when there were errors; warnings "
		   "alone are no "
		   "failure.",
	.options = check_options,
	.option_count = sizeof(check_options) / sizeof(check_options[0]),
	.mixed = true,
	.main = check_main,
};

const struct aw_command aw_command_policy_show = {
	.name = "policy show",
	.arguments = NULL,
	.brief = "print the policy that would hold here, with the origin of each entry",
	.details = "The layers are the system's /etc/agentwatch/policy.yaml, the "
		   "user's own, "
		   "the agent's, the workspace's .agentwatch.yaml, and the files given "
		   "with "
		   "--policy.",
	.options = show_options,
	.option_count = sizeof(show_options) / sizeof(show_options[0]),
	.mixed = true,
	.main = show_main,
};
