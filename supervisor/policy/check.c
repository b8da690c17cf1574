/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - agentwatch policy check. */
#include "supervisor/policy/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/load.h"
#include "supervisor/cleanup.h"
#include "supervisor/say.h"

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

/* Whether a workspace's file would be trusted there. */
static void tell_trust(const char *file)
{
	AW_FREE char *folder = realpath(file, NULL);
	struct aw_trust_judgement *judgement;
	char *slash = folder ? strrchr(folder, '/') : NULL;
	struct aw_error err;

	if (!slash || strcmp(slash + 1, AW_TRUST_FILE) != 0)
		return;
	*slash = '\0';
	if (aw_trust_judge(folder, &judgement, &err) < 0) {
		aw_say("%s", err.text);
		return;
	}
	aw_trust_print(judgement, "", stdout);
	aw_trust_free(judgement);
}

static int check_main(int argc, char **argv)
{
	struct aw_policy_options values = {0};
	struct aw_layers layers;
	size_t errors = 0;
	int status, first;

	first = aw_policy_start(
		&aw_command_policy_check, argc, argv, &values, &layers, &status);
	if (first < 0)
		return status;
	for (int i = first; i < argc; i++) {
		errors += check_file(argv[i], &layers.variables);
		tell_trust(argv[i]);
	}
	aw_layers_release(&layers);
	return errors ? AW_EXIT_FAILED : 0;
}

#define AT(field) offsetof(struct aw_policy_options, field)

static const struct aw_option check_options[] = {
	{"workspace", 'w', AW_OPT_STRING, AT(workspace), "DIR", NULL,
		"what $WORKSPACE stands for"},
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
