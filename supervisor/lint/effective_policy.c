/* SPDX-License-Identifier: Apache-2.0 */
/* effective_policy.c - the policy that would hold here, and what would hold it. */
#include "supervisor/lint/effective_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

/* Does the file stand in the folder of the presets that ship? */
static bool is_preset(const char *file, const char *presets)
{
	AW_FREE char *real = realpath(file, NULL);
	AW_FREE char *folder = presets ? realpath(presets, NULL) : NULL;
	size_t len = folder ? strlen(folder) : 0;

	return real && len && strncmp(real, folder, len) == 0 && real[len] == '/' &&
	       !strchr(real + len + 1, '/');
}

static void find_sources(const struct aw_standing_wish *wish, struct aw_standing *s)
{
	s->sources = wish->file ? &s->one : s->layers.sources;
	s->source_count = wish->file ? 1 : s->layers.count;
	if (wish->file)
		s->one = (struct aw_policy_source){.file = wish->file,
			.layer = is_preset(wish->file, s->layers.variables.presets)
					 ? "preset"
					 : "policy",
			.trust = AW_TRUSTED};
}

int aw_standing_load(const struct aw_standing_wish *wish, struct aw_standing *ret,
	struct aw_diagnostics *found, struct aw_error *err)
{
	const struct aw_layers_wish layers = {.workspace = wish->workspace,
		.agent = wish->agent,
		.runner = wish->runner,
		.base = wish->base,
		.policies = wish->policies};
	bool enforce = wish->mode && strcmp(wish->mode, "enforce") == 0;

	memset(found, 0, sizeof(*found));
	if (aw_layers_find(&layers, &ret->layers, err) < 0)
		return -1;
	find_sources(wish, ret);
	if (aw_policy_load(ret->sources, ret->source_count, &ret->layers.variables,
		    enforce ? AW_ENFORCE : AW_AUDIT, wish->mode != NULL, &ret->policy,
		    found) < 0)
		return aw_fail(err, EINVAL, "the policy has mistakes");
	ret->loaded = true;
	return 0;
}

/* What `run` would see calls with. */
static int find_engine(const struct aw_standing_wish *wish, struct aw_standing *s,
	bool *ret_notified, struct aw_error *err)
{
	static const char *const names[] = {[AW_HYBRID] = "hybrid",
		[AW_KERNEL] = "kernel",
		[AW_PRELOAD] = "preload"};
	AW_FREE char *shim = aw_find_part("libagentwatch.so");
	struct aw_run run = {.shim = shim, .policy = s->policy};

	if (aw_run_choose_engine(
		    &run, wish->engine ? wish->engine : s->policy.engine, err) < 0)
		return -1;
	*ret_notified = run.engine != AW_PRELOAD;
	s->engine = names[run.engine];
	return 0;
}

/* The wall that `run` would build, but not around anything. */
static int build_wall(struct aw_standing *s, bool notified, struct aw_error *err)
{
	const struct aw_runner *runner = aw_runner_find(s->runner);
	AW_FREE char *cwd = getcwd(NULL, 0);
	AW_FREE char *enter = aw_find_part("agentwatch-enter");
	char *const command[] = {(char *)"/bin/sh", NULL};
	const char *const parts[] = {enter, NULL};
	struct aw_error none;
	const struct aw_plan_wish wish = {.policy = &s->policy,
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
	if (aw_plan_make(&wish, &s->plan, err) < 0)
		return -1;
	s->wall.runner = runner;
	return runner->build(&wish, &s->plan, &s->wall, err);
}

int aw_standing_hold(const struct aw_standing_wish *wish, struct aw_standing *standing,
	struct aw_error *err)
{
	bool notified;

	if (find_engine(wish, standing, &notified, err) < 0)
		return -1;
	standing->runner = aw_wall_expected(&standing->policy, wish->runner);
	if (build_wall(standing, notified, err) < 0)
		return -1;
	standing->apart = standing->policy.mode == AW_ENFORCE
				  ? notified && standing->wall.own_network
				  : aw_wall_would_be_apart(
					    &standing->policy, wish->runner, notified);
	return aw_hold(&standing->policy, &standing->plan, &standing->wall, notified,
		&standing->holding, err);
}

void aw_standing_release(struct aw_standing *standing)
{
	aw_holding_release(&standing->holding);
	aw_wall_release(&standing->wall);
	aw_plan_release(&standing->plan);
	if (standing->loaded)
		aw_policy_release(&standing->policy);
	aw_layers_release(&standing->layers);
	memset(standing, 0, sizeof(*standing));
}
