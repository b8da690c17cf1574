/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - agentwatch policy explain. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/profile.h"
#include "supervisor/audit/json.h"
#include "supervisor/cleanup.h"
#include "supervisor/find.h"
#include "supervisor/held.h"
#include "supervisor/kernel/landlock_rights.h"
#include "supervisor/policy/command.h"
#include "supervisor/policy/subject.h"
#include "supervisor/run.h"
#include "supervisor/say.h"

/* Exit statuses: as run has them for its own failures. */
enum { ALL_ALLOWED = 0, SOME_DENIED = 1 };

struct explain_options {
	const char *workspace, *agent, *mode, *runner, *engine;
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

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

/* All that an answer is made from. */
struct explained {
	struct explain_options options;
	struct aw_layers layers;
	struct aw_policy policy;
	struct aw_plan plan;
	struct aw_wall wall;
	struct aw_holding holding;
	const char *runner;
};

static const struct aw_string_list *list_of(
	const struct explain_options *options, unsigned question)
{
	return (const struct aw_string_list *)((const char *)options +
					       questions[question].list);
}

static int load(struct explained *x, struct aw_error *err)
{
	const struct aw_layers_wish wish = {.workspace = x->options.workspace,
		.agent = x->options.agent,
		.policies = &x->options.policies};
	struct aw_diagnostics found = {0};
	const char *mode = x->options.mode;
	int failed;

	if (aw_layers_find(&wish, &x->layers, err) < 0)
		return -1;
	failed =
		aw_policy_load(x->layers.sources, x->layers.count, &x->layers.variables,
			mode && strcmp(mode, "enforce") == 0 ? AW_ENFORCE : AW_AUDIT,
			mode != NULL, &x->policy, &found);
	aw_diagnostics_print(&found, stderr);
	aw_diagnostics_free(&found);
	return failed ? aw_fail(err, EINVAL, "the policy has mistakes") : 0;
}

/* What `run` would see calls with. */
static int find_engine(struct explained *x, bool *ret_notified, struct aw_error *err)
{
	const char *wanted = x->options.engine ? x->options.engine : x->policy.engine;
	AW_FREE char *shim = aw_find_part("libagentwatch.so");
	struct aw_run run = {.shim = shim, .policy = x->policy};

	if (aw_run_choose_engine(&run, wanted, err) < 0)
		return -1;
	*ret_notified = run.engine != AW_PRELOAD;
	return 0;
}

/* The wall that `run` would build, but not around anything. */
static int build_wall(struct explained *x, struct aw_error *err)
{
	const struct aw_runner *runner = aw_runner_find(x->runner);
	AW_FREE char *cwd = getcwd(NULL, 0);
	AW_FREE char *enter = aw_find_part("agentwatch-enter");
	char *const command[] = {(char *)"/bin/sh", NULL};
	const char *const parts[] = {enter, NULL};
	const struct aw_plan_wish wish = {.policy = &x->policy,
		.variables = &x->layers.variables,
		.program = command[0],
		.command = (char **)command,
		.cwd = cwd ? cwd : "/",
		.parts = parts,
		.enforce = x->policy.mode == AW_ENFORCE};
	struct aw_error why;

	if (!runner)
		return aw_fail(err, EINVAL, "runner '%s' is not known; it is one of %s",
			x->runner, aw_runner_names());
	if (strcmp(x->runner, "exec") == 0)
		return 0;
	if (runner->probe(&why) < 0)
		return aw_fail(err, why.code, "runner '%s' cannot be used here: %s",
			x->runner, why.text);
	if (aw_plan_make(&wish, &x->plan, err) < 0)
		return -1;
	x->wall.runner = runner;
	return runner->build(&wish, &x->plan, &x->wall, err);
}

/* The set that --profile names. */
static int find_profiles(struct explained *x, uint32_t *ret, struct aw_error *err)
{
	const struct aw_string_list *names = &x->options.profiles;

	for (size_t i = 0; i < names->count; i++) {
		uint32_t set = aw_image_profile_set(x->policy.image, names->items[i]);

		if (!set)
			return aw_fail(err, EINVAL,
				"no profile '%s' in the policy; agentwatch policy show "
				"lists what there is",
				names->items[i]);
		*ret |= set;
	}
	return 0;
}

static int prepare(struct explained *x, struct aw_error *err)
{
	bool notified;

	uint32_t profiles = 0;

	if (load(x, err) < 0 || find_profiles(x, &profiles, err) < 0 ||
		find_engine(x, &notified, err) < 0)
		return -1;
	x->runner = aw_wall_expected(&x->policy, x->options.runner, x->layers.count);
	if (build_wall(x, err) < 0)
		return -1;
	if (aw_hold(&x->policy, &x->plan, &x->wall, notified, &x->holding, err) < 0)
		return -1;
	x->holding.facts.profiles = profiles;
	return 0;
}

struct answer {
	const struct aw_subject *subject;
	const char *word; /* "read", ... */
	struct aw_decision decision;
	struct aw_rule rule;
	bool by_rule;
	struct aw_held held;
	const char *granted; /* the folder by which Landlock lets it, or NULL */
};

static void print_text(const struct explained *x, const struct answer *a)
{
	AW_FREE char *asked = aw_shown(a->subject->asked, strlen(a->subject->asked));
	AW_FREE char *path = aw_shown(a->subject->path, strlen(a->subject->path));
	bool denied = a->decision.verdict != AW_ALLOW;

	printf("%-5s %s %s\n", aw_verdict_name(a->decision.verdict), a->word,
		asked ? asked : "?");
	if (path && path[0] && asked && strcmp(path, asked) != 0)
		printf("      which is %s\n", path);
	if (a->by_rule)
		printf("      by %s:%u: \"%s\" (%s)\n", a->rule.file, a->rule.line,
			a->rule.text, a->rule.layer);
	else
		printf("      by no rule, but by the default\n");
	if (denied && !x->holding.facts.enforce)
		printf("      not refused in mode audit; seen by %s\n", a->held.by);
	else
		printf("      %s by %s: %s\n", denied ? "held" : "judged",
			aw_strength_name(a->held.strength), a->held.by);
	if (a->granted)
		printf("      not held by Landlock, which lets %s be %s as a whole\n",
			a->granted,
			aw_landlock_granted(&x->holding.landlock, a->granted) &
					AW_LL_READ_FILE
				? "used"
				: "listed");
}

static void put_text(struct aw_json *json, const char *key, const char *text)
{
	aw_json_raw(json, ",", json->len > 1);
	aw_json_string(json, key, strlen(key));
	AW_JSON_LITERAL(json, ":");
	aw_json_string(json, text, strlen(text));
}

static void print_json(const struct explained *x, const struct answer *a)
{
	struct aw_json json = {.bytes = NULL};

	AW_JSON_LITERAL(&json, "{");
	put_text(&json, "action", a->word);
	put_text(&json, "subject", a->subject->asked);
	if (a->subject->path[0])
		put_text(&json, "path", a->subject->path);
	put_text(&json, "verdict", aw_verdict_name(a->decision.verdict));
	put_text(&json, "mode", x->holding.facts.enforce ? "enforce" : "audit");
	put_text(&json, "runner", x->runner);
	put_text(&json, "strength", aw_strength_name(a->held.strength));
	put_text(&json, "by", a->held.by);
	if (a->granted)
		put_text(&json, "granted", a->granted);
	if (a->by_rule) {
		AW_JSON_LITERAL(&json, ",\"rule\":{\"line\":");
		aw_json_unsigned(&json, a->rule.line);
		put_text(&json, "file", a->rule.file);
		put_text(&json, "text", a->rule.text);
		put_text(&json, "layer", a->rule.layer);
		AW_JSON_LITERAL(&json, "}");
	}
	AW_JSON_LITERAL(&json, "}\n");
	fwrite(json.bytes, 1, json.failed ? 0 : json.len, stdout);
	aw_json_free(&json);
}

static int answer(const struct explained *x, unsigned question, const char *asked,
	bool *denied, struct aw_error *err)
{
	const struct aw_strength_facts *facts = &x->holding.facts;
	AW_FREE struct aw_subject *subject = malloc(sizeof(*subject));
	struct answer a = {.subject = subject, .word = questions[question].word};

	if (!subject)
		return aw_fail(err, ENOMEM, "out of memory");
	if (aw_subject_read(questions[question].action, asked, subject, err) < 0)
		return -1;
	aw_subject_judge(subject, facts, &a.decision, &a.held);
	a.by_rule = aw_image_rule(facts->image, a.decision.rule, &a.rule);
	if (a.decision.verdict != AW_ALLOW)
		*denied = true;
	if (a.decision.verdict != AW_ALLOW && facts->landlock &&
		subject->path[0] == '/' && a.held.strength != AW_BY_KERNEL)
		a.granted = aw_landlock_lets(
			facts->landlock, subject->action, subject->path);
	if (x->options.json)
		print_json(x, &a);
	else
		print_text(x, &a);
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
	aw_holding_release(&x->holding);
	aw_wall_release(&x->wall);
	aw_plan_release(&x->plan);
	if (x->policy.image)
		aw_policy_release(&x->policy);
	aw_layers_release(&x->layers);
	aw_string_list_free(&x->options.policies);
	aw_string_list_free(&x->options.profiles);
	for (unsigned q = 0; q < QUESTIONS; q++)
		aw_string_list_free((struct aw_string_list *)list_of(&x->options, q));
}

static int explain_main(int argc, char **argv)
{
	struct explained x = {.runner = NULL};
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
	{"runner", 0, AW_OPT_STRING, AT(runner), "NAME", NULL, "behind this wall"},
	{"engine", 0, AW_OPT_CHOICE, AT(engine), "ENGINE", "auto|hybrid|kernel|preload",
		"with this engine"},
	{"mode", 'm', AW_OPT_CHOICE, AT(mode), NULL, "audit|enforce", "in this mode"},
	{"policy", 'p', AW_OPT_LIST, AT(policies), "FILE", NULL,
		"one more layer on top; may be repeated"},
	{"profile", 0, AW_OPT_LIST, AT(profiles), "NAME", NULL,
		"for a process in this profile; may be repeated"},
	{"workspace", 'w', AW_OPT_STRING, AT(workspace), "DIR", NULL,
		"for this folder, not for the one around the working directory"},
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
		"verdict, the rule with its file and line, and by whom it is held:\n\n"
		"  kernel: a wall or Landlock refuses the program's own calls\n"
		"  supervisor: it makes the call for the program, or refuses it\n"
		"  supervisor (raced): it judges, then the call goes on, and a second "
		"thread could exchange the name in between\n"
		"  shim: a library in the program, which could be taken out\n\n"
		"In mode audit nothing is refused.  The exit status is 0 when all is "
		"allowed, 1 when something is not, 125 when a question makes no sense "
		"or the policy has mistakes.",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.mixed = true,
	.main = explain_main,
};
