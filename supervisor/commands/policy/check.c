/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - agentwatch policy check. */
#include "policy/array.h"
#include "supervisor/lint/check_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/cli/say.h"
#include "supervisor/commands/policy/policy_command.h"
#include "supervisor/util/cleanup.h"

struct check_options {
	const char *workspace, *agent, *mode, *base, *runner, *engine, *require;
	struct aw_string_list policies;
	bool verbose, json;
};

static void print(const struct check_options *options,
	const struct aw_effective *standing, const struct aw_findings *findings)
{
	aw_findings_print(findings, options->verbose, options->json);
	for (size_t i = 0; i < standing->source_count && !options->json; i++) {
		const char *file = standing->sources[i].file;

		if (!aw_findings_count(findings, AW_FOUND_ERROR, file) &&
			!aw_findings_count(findings, AW_FOUND_WARNING, file))
			printf("%s: no mistakes\n", file);
	}
	if (!standing->source_count && !options->json)
		puts("no policy file counts here");
}

/* One file by itself, or with NULL all layers together; the number of errors. */
static size_t check_one(const struct check_options *options, const char *file)
{
	const struct aw_effective_params params = {.workspace = options->workspace,
		.agent = options->agent,
		.mode = options->mode,
		.base = options->base,
		.runner = options->runner,
		.engine = options->engine,
		.policies = &options->policies,
		.file = file};
	struct aw_effective standing = {.runner = NULL};
	struct aw_findings findings = {0};
	struct aw_diagnostics loaded;
	struct aw_error err;
	size_t errors;

	int failed = aw_effective_load(&params, &standing, &loaded, &err);

	aw_findings_add_all(&findings, &loaded);
	aw_diagnostics_free(&loaded);
	if (failed && !findings.count)
		aw_say("%s%s%s", file ? file : "", file ? ": " : "", err.text);
	if (!failed) {
		aw_check_base(&standing, &findings);
		aw_check_redundant(&standing, &findings);
		aw_check_rules(&standing, &findings);
	}
	if (!failed && (options->require || options->verbose))
		aw_check_enforced(&params, &standing, options->require, &findings);
	aw_findings_sort(&findings);
	errors = aw_findings_count(&findings, AW_FOUND_ERROR, NULL);
	print(options, &standing, &findings);
	aw_findings_free(&findings);
	aw_effective_release(&standing);
	return failed && !errors ? 1 : errors;
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
	struct check_options values = {.json = false};
	struct aw_error err;
	size_t errors = 0;
	bool help = false;
	int first = aw_options_parse(
		&aw_command_policy_check, argc, argv, &values, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_policy_check);
		return 0;
	}
	if (first < 0)
		return aw_say_usage(&err);
	if (first == argc)
		errors = check_one(&values, NULL);
	for (int i = first; i < argc; i++) {
		errors += check_one(&values, argv[i]);
		if (!values.json)
			tell_trust(argv[i]);
	}
	aw_string_list_free(&values.policies);
	return errors ? AW_EXIT_FAILED : 0;
}

#define AT(field) offsetof(struct check_options, field)

static const struct aw_option check_options[] = {
	{"verbose", 'v', AW_OPT_FLAG, AT(verbose), NULL, NULL,
		"notes too: what matches nothing today, what is held softly"},
	{"require", 0, AW_OPT_CHOICE, AT(require), NULL, "kernel|supervisor",
		"a rule that is held by less is an error, as in run"},
	{"runner", 0, AW_OPT_STRING, AT(runner), "NAME", NULL,
		"with --require and --verbose: behind this sandbox"},
	{"engine", 0, AW_OPT_CHOICE, AT(engine), "ENGINE", "auto|hybrid|kernel|preload",
		"the same: with this engine"},
	{"mode", 'm', AW_OPT_CHOICE, AT(mode), NULL, "audit|enforce",
		"the same: in this mode"},
	{"base", 0, AW_OPT_CHOICE, AT(base), "BASE", "workspace|read-only|open",
		"on this base"},
	{"policy", 'p', AW_OPT_LIST, AT(policies), "FILE", NULL,
		"without FILE: one more layer on top; may be repeated"},
	{"workspace", 'w', AW_OPT_STRING, AT(workspace), "DIR", NULL,
		"what $WORKSPACE stands for"},
	{"agent", 'a', AW_OPT_STRING, AT(agent), "NAME", NULL,
		"with this agent's layer and preset"},
	{"json", 0, AW_OPT_FLAG, AT(json), NULL, NULL, "one JSON object a line"},
};

const struct aw_command aw_command_policy_check = {
	.name = "policy check",
	.arguments = "[FILE...]",
	.brief = "find mistakes in policy files",
	.details =
		"Every mistake is printed as file:line:column with a sentence, not only the "
		"first.  Without FILE the files that count here are looked at together, with FILE "
		"each by itself.\n\n"
		"Warnings are about entries that do nothing: written twice, covered, taken out or "
		"put in again by another one, refused by a denial, below a file, through a "
		"symbolic link, or a name of a host that cannot be looked up.  What is found "
		"about two entries does not hang on where the workspace and the home are.  The "
		"exit status is 1 when there were errors; warnings alone are no failure.",
	.options = check_options,
	.option_count = ARRAY_SIZE(check_options),
	.mixed = true,
	.main = check_main,
};
