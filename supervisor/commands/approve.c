/* SPDX-License-Identifier: Apache-2.0 */
/* approve.c - agentwatch approve: see what sessions ask, and answer. */
#include "supervisor/commands/approve.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/process/inside.h"
#include "supervisor/util/cleanup.h"

struct approve_options {
	bool once, session, always, deny, all, watch, json;
	const char *layer, *user;
};

/* Whose sessions: root may look after another user's. */
static int become_user(const char *name, struct aw_error *err)
{
	const struct passwd *account = getpwnam(name);

	if (!account)
		return aw_fail(err, ENOENT, "there is no user '%s'", name);
	setenv("HOME", account->pw_dir, 1);
	unsetenv("XDG_STATE_HOME");
	return 0;
}

static bool answers(const struct approve_options *o)
{
	return o->once || o->session || o->always || o->deny;
}

static int check(const struct approve_options *o, int names, struct aw_error *err)
{
	int ways = o->once + o->session + o->always;

	if (ways > 1)
		return aw_fail(err, EINVAL,
			"only one of --once, --session and --always can be meant");
	if (o->watch && (o->all || names || answers(o)))
		return aw_fail(
			err, EINVAL, "--watch takes its answers from standard input");
	if (o->all && names)
		return aw_fail(err, EINVAL,
			"--all and the numbers of questions do not go together");
	if (answers(o) && !o->all && !names)
		return aw_fail(err, EINVAL,
			"which question? say its number, or --all; see: agentwatch approve");
	if ((o->all || names) && !answers(o))
		return aw_fail(err, EINVAL,
			"what is the answer? say --once, --session, --always or --deny");
	if (o->layer && !o->always && !o->watch)
		return aw_fail(err, EINVAL, "--layer goes with --always");
	return 0;
}

static int show_all(const struct aw_open_questions *questions, bool json)
{
	for (size_t i = 0; i < questions->count; i++) {
		if (json)
			printf("%s\n", questions->items[i].line);
		else
			aw_open_question_show(&questions->items[i]);
	}
	if (!questions->count && !json)
		printf("no question is open\n");
	return fflush(stdout) ? AW_EXIT_FAILED : 0;
}

static int answer_one(
	const struct aw_open_question *question, const struct approve_options *o)
{
	const char *how = o->always ? "always" : o->session ? "session" : "once";
	AW_FREE char *text = NULL;
	AW_FREE char *shown = NULL;
	struct aw_error err;

	if (aw_open_question_answer(
		    question, !o->deny, how, o->layer ? o->layer : "", &text, &err) < 0)
		return aw_say_failed(&err);
	shown = aw_shown(text, strlen(text));
	printf("%s/%llu: %s\n", question->session, (unsigned long long)question->id,
		shown ? shown : "");
	return 0;
}

static int answer_all(const struct aw_open_questions *questions,
	const struct approve_options *o, char **names, int count)
{
	struct aw_error err;
	int status = 0;

	for (size_t i = 0; o->all && i < questions->count; i++)
		status |= answer_one(&questions->items[i], o);
	if (o->all && !questions->count)
		printf("no question is open\n");
	for (int i = 0; i < count; i++) {
		const struct aw_open_question *question =
			aw_open_questions_find(questions, names[i], &err);

		status |= question ? answer_one(question, o) : aw_say_failed(&err);
	}
	return status;
}

/* An answer is given each time; and AGENTWATCH_SESSION is the name that run takes. */
static void forget_answers(void)
{
	static const char *const names[] = {"ONCE", "SESSION", "ALWAYS", "DENY", "ALL"};
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(name, sizeof(name), "AGENTWATCH_%s", names[i]);
		unsetenv(name);
	}
}

static int approve_main(int argc, char **argv)
{
	struct approve_options values = {.once = false};
	struct aw_open_questions questions;
	struct aw_error err;
	bool help;
	int first, status;

	forget_answers();
	first = aw_options_parse(&aw_command_approve, argc, argv, &values, &help, &err);
	if (first >= 0 && help) {
		aw_options_help(&aw_command_approve);
		return 0;
	}
	if (first < 0 || check(&values, argc - first, &err) < 0 ||
		(values.user && become_user(values.user, &err) < 0))
		return aw_say_usage(&err);
	if ((values.watch || answers(&values)) &&
		aw_refuse_inside(aw_command_approve.name, &err) < 0)
		return aw_say_failed(&err);
	if (values.watch)
		return aw_approve_watch(values.json, values.layer ? values.layer : "");
	if (aw_open_questions_get(&questions, &err) < 0)
		return aw_say_failed(&err);
	status = answers(&values)
			 ? answer_all(&questions, &values, argv + first, argc - first)
			 : show_all(&questions, values.json);
	aw_open_questions_free(&questions);
	return status;
}

#define FIELD(name) offsetof(struct approve_options, name)

static const struct aw_option options[] = {
	{"once", 0, AW_OPT_FLAG, FIELD(once), NULL, NULL,
		"yes, for the calls that wait now"},
	{"session", 0, AW_OPT_FLAG, FIELD(session), NULL, NULL,
		"remember the answer until the session ends"},
	{"always", 0, AW_OPT_FLAG, FIELD(always), NULL, NULL,
		"write the answer into a policy file"},
	{"deny", 0, AW_OPT_FLAG, FIELD(deny), NULL, NULL,
		"no; for the calls that wait, or with --session or --always"},
	{"layer", 0, AW_OPT_CHOICE, FIELD(layer), "LAYER", "global|agent|workspace",
		"with --always: whose file; global when nothing is said"},
	{"all", 0, AW_OPT_FLAG, FIELD(all), NULL, NULL, "all open questions"},
	{"watch", 0, AW_OPT_FLAG, FIELD(watch), NULL, NULL,
		"show questions as they come and read answers: y, s, a or n"},
	{"user", 0, AW_OPT_STRING, FIELD(user), "NAME", NULL,
		"the sessions of this user, for root"},
	{"json", 'j', AW_OPT_FLAG, FIELD(json), NULL, NULL,
		"one JSON object a question"},
};

const struct aw_command aw_command_approve = {
	.name = "approve",
	.arguments = "[QUESTION...]",
	.brief = "see and answer what running sessions ask",
	.details =
		"Calls that an `ask` list is about wait in mode enforce until they are answered\n"
		"here, from outside of the session, or until their deadline.  Without an answer\n"
		"in the options all open questions are shown.  A question is named by its\n"
		"number, or SESSION/NUMBER where several sessions have one.\n\n"
		"--session and --always are about exactly what was asked: this path to be read\n"
		"or to be changed, these arguments, this address.  --always adds a rule to the\n"
		"layer's file, and leaves it alone when the rule would not have that effect.\n\n"
		"Answers are not taken from the environment.\n\n"
		"With --watch a line of input answers the oldest question that was shown: y\n"
		"(once), s (session), a (always) or n (no); \"SESSION/NUMBER y\" answers "
		"another\n"
		"one.",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.mixed = true,
	.main = approve_main,
};
