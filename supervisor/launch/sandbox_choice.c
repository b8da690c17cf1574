/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_choice.c - which sandbox stands around the command, and what it is made from. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/array.h"
#include "policy/image/region.h"
#include "supervisor/cli/say.h"
#include "supervisor/launch/run.h"
#include "supervisor/util/cleanup.h"

/* Enforce without a word about runners: the best of these. */
static const char *const best[] = {"bwrap", "landlock"};

static const char *when_missing(const struct aw_run *run)
{
	return run->options.on_missing_runner	? run->options.on_missing_runner
	       : run->policy.on_missing_runner	? run->policy.on_missing_runner
	       : run->policy.mode == AW_ENFORCE ? "fail"
						: "exec";
}

static int use_exec(struct aw_run *run)
{
	run->sandbox.runner = aw_runner_find("exec");
	return 0;
}

static int use_named(struct aw_run *run, const char *name, struct aw_error *err)
{
	const struct aw_runner *runner = aw_runner_find(name);
	char install[128] = "";
	struct aw_error why;

	if (!runner)
		return aw_fail(err, EINVAL, "runner '%s' is not known; it is one of %s",
			name, aw_runner_names());
	if (runner->probe(&why) == 0) {
		run->sandbox.runner = runner;
		return 0;
	}
	if (runner->install && why.code == ENOENT)
		snprintf(install, sizeof(install), " (%s)", runner->install);
	if (strcmp(when_missing(run), "exec") != 0)
		return aw_fail(err, why.code,
			"runner '%s' cannot be used: %s%s; nothing was started "
			"(--on-missing-runner exec goes on without a sandbox)",
			name, why.text, install);
	aw_say("runner '%s' cannot be used: %s%s; going on with exec, without a sandbox",
		name, why.text, install);
	return use_exec(run);
}

static int use_best(struct aw_run *run, struct aw_error *err)
{
	char reasons[400] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(best); i++) {
		const struct aw_runner *runner = aw_runner_find(best[i]);
		const char *hint;
		struct aw_error why;

		if (runner->probe(&why) == 0) {
			run->sandbox.runner = runner;
			return 0;
		}
		hint = why.code == ENOENT ? runner->install : NULL;
		used += (size_t)snprintf(reasons + used,
			used < sizeof(reasons) ? sizeof(reasons) - used : 0,
			"%s%s%s%s%s", i ? "; " : "", why.text, hint ? " (" : "",
			hint ? hint : "", hint ? ")" : "");
	}
	if (strcmp(when_missing(run), "exec") == 0) {
		aw_say("no sandbox can be built here: %s; going on with exec, without one",
			reasons);
		return use_exec(run);
	}
	return aw_fail(err, ENOTSUP,
		"nothing was started, since no sandbox can be built here (--runner "
		"exec goes without one): %s",
		reasons);
}

const char *aw_sandbox_default(enum aw_mode mode, enum aw_base_kind base)
{
	struct aw_error ignored;

	if (mode != AW_ENFORCE || base == AW_BASE_OPEN)
		return "exec";
	for (size_t i = 0; i < ARRAY_SIZE(best); i++)
		if (aw_runner_find(best[i])->probe(&ignored) == 0)
			return best[i];
	return "exec";
}

const char *aw_sandbox_expected(const struct aw_policy *policy, const char *named)
{
	if (named || policy->runner)
		return named ? named : policy->runner;
	return aw_sandbox_default(policy->mode, policy->base_kind);
}

bool aw_sandbox_would_be_apart(
	const struct aw_policy *policy, const char *named, bool notified)
{
	const struct aw_runner *runner;
	struct aw_error ignored;

	if (!notified || !aw_image_network_closed(policy->image))
		return false;
	if (!named)
		named = policy->runner
				? policy->runner
				: aw_sandbox_default(AW_ENFORCE, policy->base_kind);
	if (strcmp(named, "bwrap") != 0 &&
		(strcmp(named, "firejail") != 0 || geteuid() != 0))
		return false;
	runner = aw_runner_find(named);
	return runner && runner->probe(&ignored) == 0;
}

static int choose(struct aw_run *run, struct aw_error *err)
{
	const char *name =
		run->options.runner ? run->options.runner : run->policy.runner;

	if (name)
		return use_named(run, name, err);
	if (run->policy.mode == AW_ENFORCE && run->policy.base_kind != AW_BASE_OPEN)
		return use_best(run, err);
	return use_exec(run);
}

static int read_again(struct aw_run *run, struct aw_error *err)
{
	struct aw_policy again;

	if (aw_run_load_policy(run, &again) < 0)
		return aw_fail(err, EINVAL,
			"the policy files changed while they were read; nothing was "
			"started, so try again");
	aw_policy_release(&run->policy);
	run->policy = again;
	return 0;
}

int aw_run_choose_sandbox(struct aw_run *run, struct aw_error *err)
{
	if (choose(run, err) < 0)
		return -1;
	if (run->policy.mode == AW_ENFORCE && !run->options.quiet &&
		strcmp(run->sandbox.runner->name, "exec") == 0)
		aw_say("enforcing without a sandbox (runner exec): hostile code may "
		       "get past it; --runner bwrap puts one around the command");
	if (!run->policy.sections ||
		strcmp(run->policy.sections, run->sandbox.runner->name) == 0)
		return 0;
	return read_again(run, err);
}

/* --- the directories of a redirected HOME --- */

static int make_instance(struct aw_run *run, struct aw_error *err)
{
	static const char *const names[] = {
		"", "/home", "/tmp", "/config", "/cache", "/state"};
	AW_FREE char *folder = aw_session_path(run->session, "instance");

	for (size_t i = 0; folder && i < ARRAY_SIZE(names); i++) {
		AW_FREE char *path = NULL;

		if (asprintf(&path, "%s%s", folder, names[i]) < 0)
			return aw_fail(err, ENOMEM,
				"environment.redirect_home: out of memory");
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return aw_fail(err, errno,
				"environment.redirect_home: making %s: %s", path,
				strerror(errno));
	}
	run->instance = folder ? realpath(folder, NULL) : NULL;
	if (!run->instance)
		return aw_fail(err, errno,
			"environment.redirect_home: the directory of the session has "
			"no real path: %s",
			strerror(errno));
	return 0;
}

/*
 * The policy once more, now that it is known which directory is the command's own, and
 * where the proxy is.
 */
static int admit_own(struct aw_run *run, struct aw_error *err)
{
	int failed;

	if (!run->instance && !run->listeners.proxy_port)
		return 0;
	run->layers.variables.instance = run->instance;
	run->layers.variables.proxy = run->listeners.proxy_port;
	run->told = true;
	failed = read_again(run, err);
	run->told = false;
	return failed;
}

/* --- the sandbox --- */

static int check_exposed(const struct aw_run *run, struct aw_error *err)
{
	const char *name = run->sandbox.runner->name;

	if (strcmp(name, "bwrap") == 0)
		return 0;
	for (size_t i = 0; i < run->policy.exposed_count; i++) {
		const struct aw_exposed *e = &run->policy.exposed[i];

		if (strcmp(e->source, e->target) != 0)
			return aw_fail(err, ENOTSUP,
				"filesystem.expose, line %u: runner %s cannot show %s "
				"at another place (%s); runner bwrap can",
				e->line, name, e->source, e->target);
	}
	return 0;
}

static int write_plan(const struct aw_run *run, struct aw_error *err)
{
	AW_FREE char *path = aw_session_path(run->session, "plan.txt");
	AW_FCLOSE FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return aw_fail(err, errno, "writing %s: %s", path ? path : "plan.txt",
			strerror(errno));
	if (run->plan.count)
		aw_sandbox_print(&run->plan, &run->sandbox, file);
	else
		fprintf(file, "runner  %s\n", run->sandbox.runner->name);
	return 0;
}

int aw_run_build_sandbox(struct aw_run *run, struct aw_error *err)
{
	AW_FREE char *cwd = getcwd(NULL, 0);
	const char *const parts[] = {run->enter,
		run->engine == AW_KERNEL || !run->shim ? run->enter : run->shim,
		run->socket, NULL};
	struct aw_plan_params params = {.policy = &run->policy,
		.variables = &run->layers.variables,
		.program = run->program,
		.command = run->command,
		.cwd = cwd,
		.parts = parts,
		.folder = run->session->dir,
		.enforce = run->policy.mode == AW_ENFORCE,
		.notified = run->engine != AW_PRELOAD};
	struct aw_error ignored;

	if (check_exposed(run, err) < 0)
		return -1;
	if ((run->policy.redirect_home && make_instance(run, err) < 0) ||
		aw_listeners_reserve(&run->listeners, &run->policy, err) < 0 ||
		admit_own(run, err) < 0)
		return -1;
	if (strcmp(run->sandbox.runner->name, "exec") == 0)
		return write_plan(run, err);
	params.instance = run->instance;
	if (!cwd)
		return aw_fail(err, errno,
			"the working directory has no name here: %s; change to one that is there",
			strerror(errno));
	params.layered = params.enforce && aw_landlock_probe(&ignored) == 0;
	if (aw_plan_make(&params, &run->plan, err) < 0)
		return -1;
	if (run->sandbox.runner->build(&params, &run->plan, &run->sandbox, err) < 0)
		return -1;
	return write_plan(run, err);
}
