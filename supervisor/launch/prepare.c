/* SPDX-License-Identifier: Apache-2.0 */
/* prepare.c - all that a run needs before anything is forked. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/image/profile.h"
#include "supervisor/cli/say.h"
#include "supervisor/launch/run.h"
#include "supervisor/util/cleanup.h"

/* Who holds what, and what Landlock is given, behind the plan that it comes from. */
static int write_holding(const struct aw_run *run, struct aw_error *err)
{
	AW_FREE char *path = aw_session_path(run->session, "plan.txt");
	AW_FCLOSE FILE *file = path ? fopen(path, "ae") : NULL;

	if (!file)
		return aw_fail(err, errno, "writing %s: %s", path ? path : "plan.txt",
			strerror(errno));
	aw_enforcement_print(&run->holding, file);
	if (run->holding.landlock.version)
		aw_landlock_print(&run->holding.landlock,
			run->sandbox.own_mounts ? NULL : &run->plan, file);
	return 0;
}

/* By whom the rules are held, and whether that is enough. */
static int hold(struct aw_run *run, struct aw_error *err)
{
	if (aw_enforcement_init(&run->policy, run->plan.count ? &run->plan : NULL,
		    &run->sandbox, run->engine != AW_PRELOAD, &run->holding, err) < 0 ||
		write_holding(run, err) < 0)
		return -1;
	return aw_require(&run->holding.facts, run->options.require, aw_say, err);
}

int aw_run_load_policy(const struct aw_run *run, struct aw_policy *ret)
{
	const char *mode = run->options.mode;
	struct aw_policy_variables variables = run->layers.variables;
	struct aw_diagnostics problems = {.count = 0};
	int failed;

	/* once a sandbox is chosen its rules count, whatever was asked for */
	if (run->sandbox.runner)
		variables.runner = run->sandbox.runner->name;
	failed = aw_policy_load(run->layers.sources, run->layers.count, &variables,
		mode && strcmp(mode, "enforce") == 0 ? AW_ENFORCE : AW_AUDIT,
		mode != NULL, ret, &problems);

	for (size_t i = 0; i < problems.count; i++) {
		const struct aw_diagnostic *d = &problems.items[i];

		if (d->warning && run->told)
			continue;
		aw_say("%s:%u:%u: %s: %s", d->file, d->line, d->column,
			d->warning ? "warning" : "error", d->text);
	}
	aw_diagnostics_free(&problems);
	return failed;
}

/* How long a question waits: the option, else the files. */
static int settle_deadline(struct aw_run *run, struct aw_error *err)
{
	const char *said = run->options.ask_deadline;

	run->ask_deadline = run->policy.ask_deadline;
	if (said && !aw_duration_read(said, &run->ask_deadline))
		return aw_fail(err, EINVAL,
			"--ask-deadline: '%s' is not a time such as 90s, 30m or 1h",
			said);
	return 0;
}

struct aw_layers_params aw_run_params(const struct aw_run *run)
{
	const struct aw_run_options *o = &run->options;

	return (struct aw_layers_params){.workspace = o->workspace,
		.agent = o->agent,
		.command = run->command[0],
		.log = o->log,
		.runner = o->runner,
		.base = o->base,
		.policies = &o->policies};
}

static bool asks(const struct aw_run *run, const struct aw_policy *policy)
{
	const char *where =
		run->options.verdicts ? run->options.verdicts : policy->verdicts;

	return where && strcmp(where, "ask") == 0;
}

/* The filter lets opens for reading through; it stays as it was at the start. */
static bool passes_reads(const struct aw_run *run)
{
	const struct aw_page *first = run->shared.page;

	return first ? atomic_load(&first->work) == AW_WORK_READS
		     : !run->holding.gate_refused;
}

int aw_run_share(const struct aw_run *run, const struct aw_policy *policy,
	struct aw_shared *ret, struct aw_error *err)
{
	struct aw_shared_facts facts = {
		.work = run->engine == AW_PRELOAD ? AW_WORK_PRELOAD : AW_WORK_KERNEL,
		.enforce = policy->mode == AW_ENFORCE,
		.ask = asks(run, policy),
		.hides = aw_image_hides(policy->image),
		.profiles = aw_image_profiles(policy->image) > 0,
		.refusal = (uint32_t)policy->network.refusal,
		.shim = run->shim && run->engine != AW_KERNEL ? run->shim : "",
		.socket = run->socket,
		.session = run->session->id,
	};

	if (run->engine == AW_HYBRID && !facts.enforce && !facts.ask)
		facts.work = AW_WORK_FAST;
	else if (run->engine == AW_HYBRID && !facts.ask && passes_reads(run))
		facts.work = AW_WORK_READS;
	return aw_shared_create(&facts, policy->image, policy->image_size, ret, err);
}

/* A descriptor of ours by its name, which is a link. */
static bool is_stream(const char *path)
{
	return strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
	       strncmp(path, "/proc/self/fd/", 14) == 0;
}

/*
 * What was in the file goes, and so do other people's rights to it: a log tells what is
 * in command lines.  Another one's file stays as it is; a pipe or device has no text.
 */
static int begin_log(int fd, const char *path, struct aw_error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return aw_fail(
			err, errno, "opening the log %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return 0;
	if (st.st_uid != geteuid())
		return aw_fail(err, EPERM,
			"the log %s belongs to another user; --log FILE puts it elsewhere",
			path);
	if (st.st_nlink > 1)
		return aw_fail(err, EPERM,
			"the log %s has other names (hard links); --log FILE puts it elsewhere",
			path);
	if ((st.st_mode & 0777 & ~0600u && fchmod(fd, 0600) < 0) ||
		ftruncate(fd, 0) < 0)
		return aw_fail(
			err, errno, "opening the log %s: %s", path, strerror(errno));
	return 0;
}

static int open_log(struct aw_run *run, struct aw_error *err)
{
	const char *log = run->options.log;
	AW_FREE char *path = NULL;

	run->log_fd = -1;
	if (log && strcmp(log, "none") == 0)
		return 0;
	if (log && strcmp(log, "-") == 0) {
		run->log_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return run->log_fd >= 0
			       ? 0
			       : aw_fail(err, errno, "writing to standard output: %s",
					 strerror(errno));
	}
	path = log ? strdup(log) : aw_session_path(run->session, "events.jsonl");
	if (!path)
		return aw_fail(err, ENOMEM, "naming the log: out of memory");
	run->log_fd = open(path,
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
			(is_stream(path) ? 0 : O_NOFOLLOW),
		0600);
	if (run->log_fd < 0)
		return aw_fail(err, errno,
			"opening the log %s: %s; --log FILE puts it elsewhere", path,
			errno == ELOOP ? "it is a symbolic link" : strerror(errno));
	return begin_log(run->log_fd, path, err);
}

static int write_policy_file(const struct aw_run *run, struct aw_error *err)
{
	AW_FREE char *path = aw_session_path(run->session, "policy.txt");
	AW_FCLOSE FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return aw_fail(err, errno, "writing %s: %s", path ? path : "policy.txt",
			strerror(errno));
	aw_policy_print(&run->policy, file);
	return 0;
}

static char *absolute_log(const char *log)
{
	AW_FREE char *cwd = NULL;
	char *path;

	if (!log || log[0] == '/' || strcmp(log, "-") == 0 || strcmp(log, "none") == 0)
		return log ? strdup(log) : NULL;
	cwd = getcwd(NULL, 0);
	return cwd && asprintf(&path, "%s/%s", cwd, log) >= 0 ? path : NULL;
}

static int describe_session(struct aw_run *run, struct aw_error *err)
{
	AW_FREE char *log = absolute_log(run->options.log);
	AW_FREE char *proxy = aw_listeners_proxy_text(&run->listeners);
	AW_FREE char *forward = aw_listeners_forward_text(&run->listeners);
	const struct aw_session_about about = {
		.argv = (const char *const *)run->command,
		.mode = run->policy.mode == AW_ENFORCE ? "enforce" : "audit",
		.engine = aw_engine_name(run->engine),
		.runner = run->sandbox.runner->name,
		.workspace = run->layers.variables.workspace,
		.log = log,
		.proxy = proxy,
		.forward = forward,
	};

	if (aw_session_describe(run->session, &about, err) < 0)
		return -1;
	return aw_session_save(run->session, err);
}

/* Where the preload engine's shim asks: beside the control socket. */
static int name_socket(struct aw_run *run, struct aw_error *err)
{
	size_t len;

	if (run->engine != AW_PRELOAD)
		return 0;
	len = strlen(run->session->control);
	if (len < 8 || asprintf(&run->socket, "%.*s.ask",
			       (int)(strrchr(run->session->control, '.') -
				       run->session->control),
			       run->session->control) < 0)
		return aw_fail(
			err, ENOMEM, "naming the session's socket: out of memory");
	if (strlen(run->socket) >= 108)
		return aw_fail(err, ENAMETOOLONG,
			"%s is too long for a socket; set XDG_RUNTIME_DIR to a shorter one",
			run->socket);
	return 0;
}

static const char *engine_wanted(const struct aw_run *run)
{
	return run->options.engine ? run->options.engine : run->policy.engine;
}

int aw_run_prepare(struct aw_run *run, struct aw_error *err)
{
	err->code = 0;
	if (settle_deadline(run, err) < 0)
		return -1;
	if (aw_run_choose_engine(run, engine_wanted(run), err) < 0)
		return -1;
	if (err->code && !run->options.quiet)
		aw_say("%s", err->text);
	if (aw_run_choose_sandbox(run, err) < 0)
		return -1;
	run->foresees_network = run->policy.mode == AW_AUDIT &&
				aw_sandbox_would_be_apart(&run->policy,
					run->options.runner, run->engine != AW_PRELOAD);
	if (aw_session_create(run->options.session, &run->session, err) < 0 ||
		name_socket(run, err) < 0 || aw_run_build_sandbox(run, err) < 0 ||
		aw_listeners_open(&run->listeners, &run->policy,
			run->sandbox.own_network, err) < 0 ||
		hold(run, err) < 0 || open_log(run, err) < 0 ||
		describe_session(run, err) < 0 || write_policy_file(run, err) < 0 ||
		aw_run_share(run, &run->policy, &run->shared, err) < 0)
		return -1;
	aw_limits_prepare(&run->policy.limits, &aw_limit_world, &run->limiter);
	if (run->limiter.nearly[0] && !run->options.quiet)
		aw_say("limits are not held exactly here: %s", run->limiter.nearly);
	return 0;
}
