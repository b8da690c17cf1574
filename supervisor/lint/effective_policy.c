/* SPDX-License-Identifier: Apache-2.0 */
/* effective_policy.c - the policy that would hold here, and what would hold it. */
#include "supervisor/lint/effective_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

/* Does the file stand in the directory of the presets that ship? */
static bool is_preset(const char *file, const char *presets)
{
	AW_FREE char *real = realpath(file, NULL);
	AW_FREE char *folder = presets ? realpath(presets, NULL) : NULL;
	size_t len = folder ? strlen(folder) : 0;

	return real && len && strncmp(real, folder, len) == 0 && real[len] == '/' &&
	       !strchr(real + len + 1, '/');
}

static void find_sources(
	const struct aw_effective_params *params, struct aw_effective *s)
{
	s->sources = params->file ? &s->one : s->layers.sources;
	s->source_count = params->file ? 1 : s->layers.count;
	if (params->file)
		s->one = (struct aw_policy_source){.file = params->file,
			.layer = is_preset(params->file, s->layers.variables.presets)
					 ? "preset"
					 : "policy",
			.trust = AW_TRUSTED};
}

int aw_effective_load(const struct aw_effective_params *params,
	struct aw_effective *ret, struct aw_diagnostics *found, struct aw_error *err)
{
	const struct aw_layers_params layers = {.workspace = params->workspace,
		.agent = params->agent,
		.runner = params->runner,
		.base = params->base,
		.policies = params->policies};
	bool enforce = params->mode && strcmp(params->mode, "enforce") == 0;

	memset(found, 0, sizeof(*found));
	if (aw_layers_find(&layers, &ret->layers, err) < 0)
		return -1;
	find_sources(params, ret);
	if (aw_policy_load(ret->sources, ret->source_count, &ret->layers.variables,
		    enforce ? AW_ENFORCE : AW_AUDIT, params->mode != NULL, &ret->policy,
		    found) < 0)
		return aw_fail(err, EINVAL, "the policy has mistakes");
	ret->loaded = true;
	return 0;
}

/* What `run` would see calls with. */
static int find_engine(const struct aw_effective_params *params, struct aw_effective *s,
	bool *ret_notified, struct aw_error *err)
{
	static const char *const names[] = {[AW_HYBRID] = "hybrid",
		[AW_KERNEL] = "kernel",
		[AW_PRELOAD] = "preload"};
	AW_FREE char *shim = aw_find_part("libagentwatch.so");
	struct aw_run run = {.shim = shim, .policy = s->policy};

	if (aw_run_choose_engine(
		    &run, params->engine ? params->engine : s->policy.engine, err) < 0)
		return -1;
	*ret_notified = run.engine != AW_PRELOAD;
	s->engine = names[run.engine];
	return 0;
}

/* The sandbox that `run` would build, but not around anything. */
static int build_wall(struct aw_effective *s, bool notified, struct aw_error *err)
{
	const struct aw_runner *runner = aw_runner_find(s->runner);
	AW_FREE char *cwd = getcwd(NULL, 0);
	AW_FREE char *enter = aw_find_part("agentwatch-enter");
	char *const command[] = {(char *)"/bin/sh", NULL};
	const char *const parts[] = {enter, NULL};
	struct aw_error none;
	const struct aw_plan_params params = {.policy = &s->policy,
		.variables = &s->layers.variables,
		.program = command[0],
		.command = (char **)command,
		.cwd = cwd ? cwd : "/",
		.parts = parts,
		.enforce = s->policy.mode == AW_ENFORCE,
		.layered =
			s->policy.mode == AW_ENFORCE && aw_landlock_probe(&none) == 0,
		.notified = notified};
	struct aw_error why;

	if (!runner)
		return aw_fail(err, EINVAL, "runner '%s' is not known; it is one of %s",
			s->runner, aw_runner_names());
	if (strcmp(s->runner, "exec") == 0)
		return 0;
	if (runner->probe(&why) < 0)
		return aw_fail(err, why.code, "runner '%s' cannot be used here: %s",
			s->runner, why.text);
	if (aw_plan_make(&params, &s->plan, err) < 0)
		return -1;
	s->sandbox.runner = runner;
	return runner->build(&params, &s->plan, &s->sandbox, err);
}

int aw_effective_hold(const struct aw_effective_params *params,
	struct aw_effective *standing, struct aw_error *err)
{
	bool notified;

	if (find_engine(params, standing, &notified, err) < 0)
		return -1;
	standing->runner = aw_sandbox_expected(&standing->policy, params->runner);
	if (build_wall(standing, notified, err) < 0)
		return -1;
	standing->apart = standing->policy.mode == AW_ENFORCE
				  ? notified && standing->sandbox.own_network
				  : aw_sandbox_would_be_apart(&standing->policy,
					    params->runner, notified);
	return aw_enforcement_init(&standing->policy, &standing->plan,
		&standing->sandbox, notified, &standing->holding, err);
}

void aw_effective_release(struct aw_effective *standing)
{
	aw_enforcement_release(&standing->holding);
	aw_sandbox_release(&standing->sandbox);
	aw_plan_release(&standing->plan);
	if (standing->loaded)
		aw_policy_release(&standing->policy);
	aw_layers_release(&standing->layers);
	memset(standing, 0, sizeof(*standing));
}
