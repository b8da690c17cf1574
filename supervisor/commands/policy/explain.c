/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - agentwatch policy explain. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "policy/image/profile.h"
#include "supervisor/cli/say.h"
#include "supervisor/commands/policy/answer.h"
#include "supervisor/commands/policy/policy_command.h"
#include "supervisor/util/cleanup.h"

/* Exit statuses: as run has them for its own failures. */
enum { ALL_ALLOWED = 0, SOME_DENIED = 1 };

struct explain_options {
	const char *workspace, *agent, *mode, *base, *runner, *engine;
	struct aw_string_list policies, profiles;
	struct aw_string_list read, write, create, delete, exec, connect, listen;
	bool json;
};

#define AT(field) offsetof(struct explain_options, field)

/* In the order in which they are answered. */
static const struct {
	size_t list;
	enum aw_action action;
	const char *word;
} questions[] = {
	{AT(read), AW_READ, "read"},
	{AT(write), AW_WRITE, "write"},
	{AT(create), AW_CREATE, "create"},
	{AT(delete), AW_DELETE, "delete"},
	{AT(exec), AW_EXEC, "exec"},
	{AT(connect), AW_CONNECT, "connect"},
	{AT(listen), AW_BIND, "listen"},
};

enum { QUESTIONS = ARRAY_SIZE(questions) };

/* All that an answer is made from. */
struct explained {
	struct explain_options options;
	struct aw_effective standing;
	struct aw_source_verdicts words;
};

static const struct aw_string_list *list_of(
	const struct explain_options *options, unsigned question)
{
	return (const struct aw_string_list *)((const char *)options +
					       questions[question].list);
}

/* The set that --profile names. */
static int find_profiles(struct explained *x, struct aw_error *err)
{
	const struct aw_string_list *names = &x->options.profiles;
	struct aw_effective *standing = &x->standing;

	for (size_t i = 0; i < names->count; i++) {
		uint32_t set =
			aw_image_profile_set(standing->policy.image, names->items[i]);

		if (!set)
			return aw_fail(err, EINVAL,
				"no profile '%s' in the policy; agentwatch policy show "
				"lists what there is",
				names->items[i]);
		standing->holding.facts.profiles |= set;
	}
	return 0;
}

static int prepare(struct explained *x, struct aw_error *err)
{
	const struct aw_effective_params params = {.workspace = x->options.workspace,
		.agent = x->options.agent,
		.mode = x->options.mode,
		.base = x->options.base,
		.runner = x->options.runner,
		.engine = x->options.engine,
		.policies = &x->options.policies};
	struct aw_diagnostics found;
	int failed = aw_effective_load(&params, &x->standing, &found, err);

	aw_diagnostics_print(&found, stderr);
	aw_diagnostics_free(&found);
	if (failed || aw_effective_hold(&params, &x->standing, err) < 0 ||
		find_profiles(x, err) < 0)
		return -1;
	return aw_source_verdicts_load(&x->standing, &x->words, err);
}

static int answer(const struct explained *x, unsigned question, const char *asked,
	bool *denied, struct aw_error *err)
{
	const struct aw_strength_facts *facts = &x->standing.holding.facts;
	const struct aw_asking how = {.home = x->standing.layers.variables.home,
		.literal = strcmp(x->standing.engine, "preload") == 0};
	AW_FREE struct aw_asked_subject *subject = malloc(sizeof(*subject));
	struct aw_answer a = {.standing = &x->standing,
		.words = &x->words,
		.subject = subject,
		.verb = questions[question].word};
	bool refused;

	if (!subject)
		return aw_fail(err, ENOMEM, "out of memory");
	if (aw_subject_read(questions[question].action, asked, &how, subject, err) < 0)
		return -1;
	aw_source_verdicts_decide(&x->standing, subject, &a.word);
	aw_subject_enforced(subject, facts, &a.word.decision, &a.held);
	refused = a.word.decision.verdict != AW_ALLOW;
	*denied |= refused;
	if (refused && facts->landlock && subject->path[0] == '/' &&
		a.held.strength != AW_BY_KERNEL)
		a.granted = aw_landlock_lets(
			facts->landlock, subject->action, subject->path);
	if (x->options.json)
		aw_answer_print_json(&a);
	else
		aw_answer_print(&a);
	return 0;
}

static int answer_all(const struct explained *x, bool *denied, struct aw_error *err)
{
	size_t count = 0;

	for (unsigned q = 0; q < QUESTIONS; q++) {
		const struct aw_string_list *list = list_of(&x->options, q);

		for (size_t i = 0; i < list->count; i++, count++)
			if (answer(x, q, list->items[i], denied, err) < 0)
				return -1;
	}
	return count ? 0
		     : aw_fail(err, EINVAL,
			       "nothing was asked; say for example policy explain "
			       "--read ~/.ssh/id_rsa");
}

static void release(struct explained *x)
{
	aw_source_verdicts_release(&x->words);
	aw_effective_release(&x->standing);
	aw_string_list_free(&x->options.policies);
	aw_string_list_free(&x->options.profiles);
	for (unsigned q = 0; q < QUESTIONS; q++)
		aw_string_list_free((struct aw_string_list *)list_of(&x->options, q));
}

static int explain_main(int argc, char **argv)
{
	struct explained x = {.options = {.json = false}};
	struct aw_error err;
	bool help = false, denied = false;
	int status = AW_RUN_FAILED;
	int first = aw_options_parse(
		&aw_command_policy_explain, argc, argv, &x.options, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_policy_explain);
		return 0;
	}
	if (first >= 0 && first < argc)
		first = aw_fail(&err, EINVAL,
			"'%s' belongs to no option; say what is asked, as in --read %s",
			argv[first], argv[first]);
	if (first >= 0 && prepare(&x, &err) == 0 && answer_all(&x, &denied, &err) == 0)
		status = denied ? SOME_DENIED : ALL_ALLOWED;
	else
		aw_say("%s", err.text);
	release(&x);
	return status;
}

static const struct aw_option options[] = {
	{"read", 0, AW_OPT_LIST, AT(read), "PATH", NULL, "may this be read?"},
	{"write", 0, AW_OPT_LIST, AT(write), "PATH", NULL, "may this be changed?"},
	{"create", 0, AW_OPT_LIST, AT(create), "PATH", NULL, "may this be made?"},
	{"delete", 0, AW_OPT_LIST, AT(delete), "PATH", NULL, "may this be removed?"},
	{"exec", 0, AW_OPT_LIST, AT(exec), "COMMAND", NULL,
		"may this run? Its arguments too, parted by blanks"},
	{"connect", 0, AW_OPT_LIST, AT(connect), "HOST:PORT", NULL,
		"may this be spoken to? Also unix:/path, unix:@name"},
	{"listen", 0, AW_OPT_LIST, AT(listen), "PORT", NULL,
		"may this be listened on? Also ADDRESS:PORT, unix:/path"},
	{"runner", 0, AW_OPT_STRING, AT(runner), "NAME", NULL, "behind this sandbox"},
	{"engine", 0, AW_OPT_CHOICE, AT(engine), "ENGINE", "auto|hybrid|kernel|preload",
		"with this engine"},
	{"mode", 'm', AW_OPT_CHOICE, AT(mode), NULL, "audit|enforce", "in this mode"},
	{"base", 0, AW_OPT_CHOICE, AT(base), "BASE", "workspace|read-only|open",
		"on this base"},
	{"policy", 'p', AW_OPT_LIST, AT(policies), "FILE", NULL,
		"one more layer on top; may be repeated"},
	{"profile", 0, AW_OPT_LIST, AT(profiles), "NAME", NULL,
		"for a process in this profile; may be repeated"},
	{"workspace", 'w', AW_OPT_STRING, AT(workspace), "DIR", NULL,
		"for this directory, not for the one around the working directory"},
	{"agent", 'a', AW_OPT_STRING, AT(agent), "NAME", NULL,
		"with this agent's layer and preset"},
	{"json", 0, AW_OPT_FLAG, AT(json), NULL, NULL, "one JSON object a line"},
};

const struct aw_command aw_command_policy_explain = {
	.name = "policy explain",
	.arguments = NULL,
	.brief = "say what the policy answers to a question, and who holds the answer",
	.details =
		"Each question is an option and may be repeated.  The answer has the "
		"verdict, the rule (or the default) with its file, line and layer, by "
		"whom it is held, and what each file, the presets and the protections "
		"say by themselves.  Paths may be relative, begin with ~ or not exist "
		"yet; what is judged is the file that a link leads to.\n\n"
		"  kernel: a sandbox or Landlock refuses the program's own calls\n"
		"  supervisor: it makes the call for the program, or refuses it\n"
		"  supervisor-raced: it judges, then the call goes on, and a second "
		"thread could exchange the name in between\n"
		"  shim: a library in the program, which could be taken out\n\n"
		"In mode audit nothing is refused.  The exit status is 0 when all is "
		"allowed, 1 when something is not, 125 when a question makes no sense "
		"or the policy has mistakes.",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.mixed = true,
	.main = explain_main,
};
