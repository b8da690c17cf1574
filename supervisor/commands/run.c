/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - agentwatch run. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/commands/commands.h"
#include "supervisor/launch/run.h"
#include "supervisor/lint/base.h"
#include "supervisor/linux/target/terminal.h"
#include "supervisor/session/find.h"

enum { FEWEST_FILES = 64 };

#define FIELD(name) offsetof(struct aw_run_options, name)

static const struct aw_option options[] = {
	{"mode", 'm', AW_OPT_CHOICE, FIELD(mode), "MODE", "audit|enforce",
		"audit: log what would be denied; enforce: deny it"},
	{"base", 0, AW_OPT_CHOICE, FIELD(base), "BASE", "workspace|read-only|open",
		"what holds where no file says anything: a writable workspace and a "
		"closed network, the same with nothing writable, or everything"},
	{"policy", 'p', AW_OPT_LIST, FIELD(policies), "FILE", NULL,
		"one more policy layer on top; may be repeated"},
	{"runner", 0, AW_OPT_STRING, FIELD(runner), "NAME", NULL,
		"the sandbox around the command: bwrap, landlock, firejail, or exec for none"},
	{"engine", 0, AW_OPT_CHOICE, FIELD(engine), "ENGINE",
		"auto|hybrid|kernel|preload",
		"how calls are seen; auto takes the best that works here"},
	{"verdicts", 0, AW_OPT_CHOICE, FIELD(verdicts), "WHERE", "local|ask",
		"local: decided in the process where possible; ask: by the supervisor"},
	{"workspace", 'w', AW_OPT_STRING, FIELD(workspace), "DIR", NULL,
		"$WORKSPACE; default: the git repository, else the working directory"},
	{"agent", 'a', AW_OPT_STRING, FIELD(agent), "NAME", NULL,
		"the agent's name; default: the command's base name"},
	{"log", 'l', AW_OPT_STRING, FIELD(log), "FILE|-|none", NULL,
		"where events go; default: events.jsonl in the session's directory"},
	{"session", 's', AW_OPT_STRING, FIELD(session), "NAME", NULL,
		"name of the session"},
	{"require", 0, AW_OPT_CHOICE, FIELD(require), "STRENGTH", "kernel|supervisor",
		"refuse to start when a rule is held by less"},
	{"on-missing-runner", 0, AW_OPT_CHOICE, FIELD(on_missing_runner), "WHAT",
		"fail|exec", "when the runner is not there: fail, or go on with exec"},
	{"ask-deadline", 0, AW_OPT_STRING, FIELD(ask_deadline), "TIME", NULL,
		"how long a question to a human waits before it counts as denied: 90s, "
		"5m; 2m when nothing is said"},
	{"quiet", 'q', AW_OPT_SWITCH, FIELD(quiet), NULL, NULL,
		"no summary line at the end"},
	{"keep-descendants", 0, AW_OPT_SWITCH, FIELD(keep_descendants), NULL, NULL,
		"let processes that outlive the command go on, still watched"},
};

/*
 * The supervisor holds a descriptor a process; the command keeps the caller's limit. In
 * enforce each call needs some, and would fail for the want of them.
 */
static int raise_file_limit(struct aw_run *run, struct aw_error *err)
{
	struct rlimit most;

	getrlimit(RLIMIT_NOFILE, &run->files);
	most = run->files;
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
	if (run->policy.mode == AW_ENFORCE && most.rlim_cur < FEWEST_FILES)
		return aw_fail(err, EMFILE,
			"mode enforce needs %d descriptors at least and may have %llu; "
			"raise the hard limit (ulimit -Hn)",
			FEWEST_FILES, (unsigned long long)most.rlim_cur);
	return 0;
}

/*
 * An ignored SIGCHLD would keep us from fetching anybody's status, and a file that must
 * not grow any more (ulimit -f) would end us without a word.
 */
static void settle_signals(struct aw_run *run)
{
	struct sigaction usual = {.sa_handler = SIG_DFL}, before;
	sigset_t set;

	sigaction(SIGCHLD, &usual, &before);
	run->ignores_ends = before.sa_handler == SIG_IGN;
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, &run->mask);
}

/* In enforce: root, what is looser than the default, and what the name chose. */
static void say_start(const struct aw_run *run)
{
	struct aw_permission_diff loose;

	if (geteuid() == 0)
		aw_say("warning: running as root, so the command is root, too; start "
		       "it as an ordinary user where that is enough");
	for (size_t i = 0; aw_permission_diff(&run->policy, i, &loose); i++) {
		if (loose.given.line)
			aw_say("%s:%u: %s", loose.given.file, loose.given.line,
				loose.text);
		else
			aw_say("%s", loose.text);
	}
	if (run->policy.picked)
		aw_say("preset %s (from %s)", run->policy.picked,
			run->options.agent ? "--agent" : "the command's name");
}

static int run_main(int argc, char **argv)
{
	struct aw_run run = {.log_fd = -1, .shared = {.fd = -1}};
	struct aw_layers_params params;
	struct aw_error err;
	bool help = false;
	int first, failed;

	first = aw_options_parse(
		&aw_command_run, argc, argv, &run.options, &help, &err);
	if (help) {
		aw_options_help(&aw_command_run);
		return 0;
	}
	if (first >= 0 && !argv[first])
		first = aw_fail(&err, EINVAL,
			"no command; say agentwatch run -- COMMAND [ARG...]");
	if (first < 0) {
		aw_say("%s", err.text);
		return AW_RUN_FAILED;
	}
	settle_signals(&run);
	run.command = argv + first;
	run.enter = aw_find_part("agentwatch-enter");
	run.shim = aw_find_part("libagentwatch.so");
	if (!run.enter) {
		aw_say("agentwatch-enter is not beside this program; install agentwatch again");
		return AW_RUN_FAILED;
	}
	params = aw_run_params(&run);
	if (aw_layers_find(&params, &run.layers, &err) < 0) {
		aw_say("%s", err.text);
		return AW_RUN_FAILED;
	}
	if (aw_run_load_policy(&run, &run.policy) < 0) {
		aw_say("nothing was started, since the policy has mistakes");
		return AW_RUN_FAILED;
	}
	if (aw_run_merge_options(&run, &err) < 0) {
		aw_say("%s", err.text);
		return AW_RUN_FAILED;
	}
	if (run.policy.mode == AW_ENFORCE && !run.options.quiet)
		say_start(&run);
	aw_terminals_note();
	failed = aw_find_program(run.command[0], &run.program, &err);
	if (failed) {
		aw_say("%s", err.text);
		return failed;
	}
	if (raise_file_limit(&run, &err) < 0 || aw_run_prepare(&run, &err) < 0) {
		aw_say("%s", err.text);
		if (run.session &&
			aw_session_finish(run.session, AW_RUN_FAILED, NULL) < 0)
			aw_session_discard(run.session);
		return AW_RUN_FAILED;
	}
	failed = aw_launcher(&run);
	aw_limits_end(&run.limiter); /* where the service was killed */
	return failed;
}

const struct aw_command aw_command_run = {
	.name = "run",
	.arguments = "[--] COMMAND [ARG...]",
	.brief = "run a command under watch",
	.details =
		"Runs COMMAND with every open, exec, connect and spawn in it and in all its\n"
		"descendants judged by the policy and written to the session's log.\n\n"
		"Without a policy, the workspace and the temporary directory may be changed, "
		"and\n"
		"what an agent or a tool needs comes from a preset that the command's name\n"
		"picks; policies add to that (--base, docs/POLICY.md).  Mode\n"
		"audit refuses nothing and logs what enforce would.\n\n"
		"Exit status: the command's own, 128+N when signal N ended it; 125 when\n"
		"agentwatch failed before the command started, 126 when it could not be\n"
		"executed, 127 when it was not found.",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.main = run_main,
};
