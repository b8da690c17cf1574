/* SPDX-License-Identifier: Apache-2.0 */
/* show_plan.c - showing a sandbox without building it. */
#include "supervisor/commands/policy/show_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/sandbox/runner.h"
#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

static int print(const struct aw_plan_params *params, const struct aw_runner *runner,
	struct aw_error *err)
{
	struct aw_sandbox sandbox = {.runner = runner};
	struct aw_plan plan;
	int failed;

	if (aw_plan_make(params, &plan, err) < 0)
		return -1;
	failed = runner->build(params, &plan, &sandbox, err);
	if (!failed)
		aw_sandbox_print(&plan, &sandbox, stdout);
	aw_sandbox_release(&sandbox);
	aw_plan_release(&plan);
	return failed;
}

int aw_plan_show(const struct aw_policy *policy, const struct aw_layers *layers,
	const char *name, char **command, struct aw_error *err)
{
	AW_FREE char *cwd = getcwd(NULL, 0), *program = NULL;
	AW_FREE char *enter = aw_find_part("agentwatch-enter"),
		     *shim = aw_find_part("libagentwatch.so");
	const char *const parts[] = {enter ? enter : shim, shim, NULL};
	const struct aw_runner *runner;
	struct aw_error ignored;
	struct aw_plan_params params = {.policy = policy,
		.variables = &layers->variables,
		.command = command,
		.cwd = cwd,
		.parts = parts,
		.instance = policy->redirect_home ? "/SESSION/instance" : NULL,
		.enforce = aw_image_mode(policy->image) == AW_ENFORCE,
		.notified = !policy->engine || strcmp(policy->engine, "preload") != 0};

	name = name ? name : policy->runner ? policy->runner : "bwrap";
	runner = aw_runner_find(name);
	if (!runner)
		return aw_fail(err, EINVAL, "runner '%s' is not known; it is one of %s",
			name, aw_runner_names());
	if (command[0] && aw_find_program(command[0], &program, err) != 0)
		return -1;
	params.program = program;
	params.layered = params.enforce && aw_landlock_probe(&ignored) == 0;
	return print(&params, runner, err);
}
