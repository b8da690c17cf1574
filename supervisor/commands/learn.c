/* SPDX-License-Identifier: Apache-2.0 */
/* learn.c - agentwatch learn and agentwatch policy from-log. */
#include "supervisor/commands/learn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/commands/commands.h"
#include "supervisor/learn/memory.h"
#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

#define AT(field) offsetof(struct aw_learn_options, field)

/* What both commands take. */
#define SHARED                                                                         \
	{"output", 'o', AW_OPT_STRING, AT(output), "FILE", NULL,                       \
		"write the policy there, for its owner alone, not to stdout"},         \
		{"force", 0, AW_OPT_FLAG, AT(force), NULL, NULL,                       \
			"replace FILE when it is there"},                              \
		{"for", 0, AW_OPT_CHOICE, AT(for_whom), "WHAT",                        \
			"policy|workspace|agent",                                      \
			"what it may say: for --policy, for .agentwatch.yaml, for "    \
			"agents/NAME.yaml"},                                           \
		{"default", 0, AW_OPT_CHOICE, AT(default_files), "WHAT",               \
			"deny|read-only",                                              \
			"what holds for files that were not used; default: deny, but " \
			"read-only beside a program's preset"},                        \
		{"fold", 0, AW_OPT_NUMBER, AT(fold), "N", NULL,                        \
			"so many names in a directory become the directory; default: " \
			"5"},                                                          \
		{"diff", 0, AW_OPT_FLAG, AT(diff), NULL, NULL,                         \
			"print what it gives and takes against the present policy"},   \
		{"also", 0, AW_OPT_LIST, AT(also), "SESSION|FILE", NULL,               \
			"learn from this log too; may be repeated"},                   \
		{"workspace", 'w', AW_OPT_STRING, AT(workspace), "DIR", NULL,          \
			"$WORKSPACE; default: that of the session"},                   \
		{"agent", 'a', AW_OPT_STRING, AT(agent), "NAME", NULL,                 \
			"the agent whose layer is part of the present policy"},        \
		{"policy", 'p', AW_OPT_LIST, AT(policies), "FILE", NULL,               \
			"one more layer of the present policy; may be repeated"},      \
	{                                                                              \
		"quiet", 'q', AW_OPT_FLAG, AT(quiet), NULL, NULL,                      \
			"only the policy, no summary on stderr"                        \
	}

static const struct aw_option from_log_options[] = {SHARED};

static const struct aw_option learn_options[] = {SHARED,
	{"engine", 0, AW_OPT_CHOICE, AT(engine), "ENGINE", "auto|hybrid|kernel|preload",
		"how calls are seen, as for run"},
	{"session", 's', AW_OPT_STRING, AT(session), "NAME", NULL,
		"name of the session whose log is kept"}};

static int check(const struct aw_learn_options *options, struct aw_error *err)
{
	if (options->fold < 0 || options->fold == 1 || options->fold > 1000)
		return aw_fail(err, EINVAL,
			"--fold wants a number from 2 to 1000, not %ld", options->fold);
	if (options->force && !options->output)
		return aw_fail(err, EINVAL,
			"--force replaces a file; name it with --output FILE");
	return 0;
}

static void release(struct aw_learn_options *options)
{
	aw_string_list_free(&options->policies);
	aw_string_list_free(&options->also);
}

static int from_log_main(int argc, char **argv)
{
	struct aw_learn_options options = {.output = NULL};
	struct aw_string_list logs = {0};
	struct aw_error err;
	bool help = false;
	int status, first = aw_options_parse(&aw_command_policy_from_log, argc, argv,
			    &options, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_policy_from_log);
		return 0;
	}
	if (first >= 0 && first == argc)
		first = aw_fail(&err, EINVAL,
			"no log; name a session or a file, see: agentwatch ps --all");
	for (int i = first; first >= 0 && i < argc; i++)
		if (aw_string_list_add(&logs, argv[i], &err) < 0)
			first = -1;
	if (first < 0 || check(&options, &err) < 0)
		status = aw_say_usage(&err);
	else
		status = aw_learn_from(&options, &logs, NULL, NULL);
	aw_string_list_free(&logs);
	release(&options);
	return status;
}

/* Words for a command line of run. */
struct words {
	const char *items[64];
	size_t count;
};

static void add(struct words *words, const char *option, const char *value)
{
	if (!value || words->count + 2 > ARRAY_SIZE(words->items))
		return;
	words->items[words->count++] = option;
	words->items[words->count++] = value;
}

/* Run it in audit without a sandbox, so that nothing is refused and all is seen. */
static int run(const struct aw_learn_options *options, const char *session, int argc,
	char **argv)
{
	struct words words = {.items = {"run", "--quiet"}, .count = 2};
	const char **all;
	int status;

	add(&words, "--mode", "audit");
	add(&words, "--runner", "exec");
	add(&words, "--session", session);
	add(&words, "--engine", options->engine);
	add(&words, "--workspace", options->workspace);
	add(&words, "--agent", options->agent);
	for (size_t i = 0; i < options->policies.count; i++)
		add(&words, "--policy", options->policies.items[i]);
	words.items[words.count++] = "--";
	all = aw_learn_new((words.count + (size_t)argc + 1) * sizeof(*all));
	memcpy(all, words.items, words.count * sizeof(*all));
	for (int i = 0; i < argc; i++)
		all[words.count + (size_t)i] = argv[i];
	status = aw_command_run.main((int)words.count + argc, (char **)all);
	free(all);
	return status;
}

/* A name of its own, so that the log is found again; owned by the caller. */
static char *session_name(void)
{
	time_t clock = time(NULL);
	char now[32];
	struct tm tm;

	localtime_r(&clock, &tm);
	strftime(now, sizeof(now), "%Y%m%d-%H%M%S", &tm);
	return aw_learn_text("learn-%s-%d", now, getpid());
}

static int watch_and_learn(
	const struct aw_learn_options *options, int argc, char **argv)
{
	AW_FREE char *made = options->session ? NULL : session_name();
	const char *session = made ? made : options->session;
	const struct aw_string_list logs = {&session, 1};
	int status, learnt;

	unsetenv("AGENTWATCH_LOG"); /* the log belongs to the session */
	status = run(options, session, argc, argv);
	if (status >= AW_RUN_FAILED && status <= AW_RUN_NOT_FOUND)
		return status;
	learnt = aw_learn_from(options, &logs, argv[0], (const char *const *)environ);
	return status ? status : learnt ? AW_RUN_FAILED : 0;
}

static int learn_main(int argc, char **argv)
{
	struct aw_learn_options options = {.output = NULL};
	struct aw_error err;
	bool help = false;
	int status = AW_RUN_FAILED, first = aw_options_parse(&aw_command_learn, argc,
					    argv, &options, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_learn);
		return 0;
	}
	if (first >= 0 && first == argc)
		first = aw_fail(&err, EINVAL,
			"no command; say agentwatch learn -- COMMAND [ARG...]");
	if (first >= 0 && options.output && !options.force &&
		access(options.output, F_OK) == 0)
		first = aw_fail(&err, EEXIST,
			"%s is there already; --force replaces it, --output FILE names another",
			options.output);
	if (first < 0 || check(&options, &err) < 0)
		aw_say("%s", err.text);
	else
		status = watch_and_learn(&options, argc - first, argv + first);
	release(&options);
	return status;
}

const struct aw_command aw_command_learn = {
	.name = "learn",
	.arguments = "[--] COMMAND [ARG...]",
	.brief = "run a command and print the policy that it needs",
	.details =
		"Runs COMMAND as run does in mode audit, without a sandbox, so nothing is "
		"refused; then prints the smallest readable policy that allows what was seen.\n\n"
		"Directories stand for the files used in them where that is safe, variables are "
		"put back, and presets that would have said the same take the place of their "
		"rules.  What looks like a secret, is protected or is denied by the present "
		"policy is never allowed: it is a question, a commented-out entry, for a person "
		"to decide.\n\n"
		"At the end every call of the log is judged by the new policy; only questions and "
		"calls that failed anyway may be refused.\n\n"
		"The exit status is the command's own; 125 when that is 0 and no policy could be "
		"made.",
	.options = learn_options,
	.option_count = ARRAY_SIZE(learn_options),
	.main = learn_main,
};

const struct aw_command aw_command_policy_from_log = {
	.name = "policy from-log",
	.arguments = "SESSION|FILE...",
	.brief = "print the policy that recorded sessions would have needed",
	.details =
		"As learn, from logs that are there already: of sessions, by their "
		"name or the start of it, or files; - is standard input.  Several of "
		"them make one policy.\n\n"
		"The exit status is 1 when no policy could be made, or when the proof "
		"fails: a call refused that is neither a question nor failed anyway.",
	.options = from_log_options,
	.option_count = ARRAY_SIZE(from_log_options),
	.mixed = true,
	.main = from_log_main,
};
