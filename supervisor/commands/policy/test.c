/* SPDX-License-Identifier: Apache-2.0 */
/* test.c - agentwatch policy test. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/commands/policy/policy_command.h"
#include "supervisor/commands/policy/source_verdicts.h"
#include "supervisor/util/cleanup.h"

struct test_options {
	const char *workspace, *agent, *mode, *base;
	struct aw_string_list policies;
};

/* A policy as it holds for one agent in one mode. */
struct variant {
	const char *agent, *mode;
	struct aw_effective standing;
	struct variant *next;
};

/* One run over the expectations of one file, or of all layers. */
struct run {
	const struct test_options *options;
	const char *file;	  /* this one alone, or NULL */
	struct variant *variants; /* owned; the last one is the plain one */
	size_t *count, *failed;
};

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The policy for this agent and mode; loaded when it is asked for first. */
static struct variant *variant_of(
	struct run *run, const char *agent, const char *mode, struct aw_error *err)
{
	const struct aw_effective_params params = {.workspace = run->options->workspace,
		.agent = agent,
		.mode = mode,
		.base = run->options->base,
		.policies = &run->options->policies,
		.file = run->file};
	struct aw_diagnostics found = {0};
	struct variant *v;
	int failed;

	for (v = run->variants; v; v = v->next)
		if (same(v->agent, agent) && same(v->mode, mode))
			return v;
	v = calloc(1, sizeof(*v));
	if (!v) {
		aw_fail(err, ENOMEM, "out of memory");
		return NULL;
	}
	v->agent = agent;
	v->mode = mode;
	v->next = run->variants;
	run->variants = v;
	failed = aw_effective_load(&params, &v->standing, &found, err);
	/* the plain one has said what there is to say about the files */
	if (failed || !v->next)
		aw_diagnostics_print(&found, stderr);
	aw_diagnostics_free(&found);
	return failed ? NULL : v;
}

/* After "got deny": by which rule, or whose default. */
static void print_reason(const struct aw_source_line *word)
{
	AW_FREE char *text =
		word->by_rule ? aw_shown(word->rule.text, strlen(word->rule.text))
			      : NULL;

	if (word->kept)
		printf(" by agentwatch itself: %s\n", word->kept);
	else if (word->by_rule)
		printf(" by \"%s\" %s:%u (%s)\n", text ? text : "?", word->rule.file,
			word->rule.line, word->rule.layer);
	else if (word->given.line)
		printf(" by the default %s: %s %s:%u (%s)\n", word->key, word->value,
			word->given.file, word->given.line, word->given.layer);
	else
		printf(" by the default %s: %s\n", word->key, word->value);
}

/* A "#" would begin a directive. */
static void tame(char *text)
{
	for (; text && *text; text++)
		if (*text == '#')
			*text = '?';
}

static void print_test(const struct aw_expectation *e, size_t number, bool good)
{
	AW_FREE char *text = aw_shown(e->text, strlen(e->text));
	AW_FREE char *name = e->name ? aw_shown(e->name, strlen(e->name)) : NULL;

	tame(text);
	tame(name);
	printf("%sok %zu - %s:%u: ", good ? "" : "not ", number, e->file, e->line);
	if (name)
		printf("%s\n", name);
	else
		printf("%s %s%s%s%s%s: %s\n", e->word, text ? text : "?",
			e->agent ? " for " : "", e->agent ? e->agent : "",
			e->mode_set ? " in " : "",
			!e->mode_set		? ""
			: e->mode == AW_ENFORCE ? "enforce"
						: "audit",
			aw_verdict_name(e->expect));
}

static void print_failure(const struct aw_expectation *e,
	const struct aw_asked_subject *subject, const struct aw_source_line *word)
{
	AW_FREE char *path = aw_shown(subject->path, strlen(subject->path));
	AW_FREE char *text = aw_shown(e->text, strlen(e->text));

	if (e->name)
		printf("# %s %s\n", e->word, text ? text : "?");
	if (path && path[0] && strcmp(path, e->text) != 0)
		printf("# which is %s\n", path);
	printf("# expected %s, got %s", aw_verdict_name(e->expect),
		aw_verdict_name(word->decision.verdict));
	print_reason(word);
	if (word->unknown)
		printf("# \"%s\" %s:%u covers the name, but names with a wildcard are "
		       "not looked up by the engine preload\n",
			word->wildcard.text, word->wildcard.file, word->wildcard.line);
}

static int test_one(
	struct run *run, const struct aw_expectation *e, struct aw_error *err)
{
	AW_FREE struct aw_asked_subject *subject = NULL;
	const char *mode = !e->mode_set		   ? run->options->mode
			   : e->mode == AW_ENFORCE ? "enforce"
						   : "audit";
	const struct variant *v =
		variant_of(run, e->agent ? e->agent : run->options->agent, mode, err);
	struct aw_asking how = {.missing_programs = true};
	struct aw_source_line word;
	bool good;

	if (!v)
		return aw_while(err, "%s:%u", e->file, e->line);
	subject = calloc(1, sizeof(*subject));
	if (!subject)
		return aw_fail(err, ENOMEM, "out of memory");
	how.home = v->standing.layers.variables.home;
	how.literal = v->standing.policy.engine &&
		      strcmp(v->standing.policy.engine, "preload") == 0;
	if (aw_subject_read(e->action, e->asked, &how, subject, err) < 0)
		return aw_while(err, "%s:%u", e->file, e->line);
	aw_source_verdicts_decide(&v->standing, subject, &word);
	good = word.decision.verdict == e->expect;
	print_test(e, ++*run->count, good);
	if (!good)
		print_failure(e, subject, &word);
	*run->failed += !good;
	return 0;
}

static int test_all(struct run *run, struct aw_error *err)
{
	const struct variant *plain =
		variant_of(run, run->options->agent, run->options->mode, err);

	if (!plain)
		return run->file ? aw_while(err, "%s", run->file) : -1;
	for (size_t i = 0; i < plain->standing.policy.test_count; i++)
		if (test_one(run, &plain->standing.policy.tests[i], err) < 0)
			return -1;
	return 0;
}

static int run_one(const struct test_options *options, const char *file, size_t *count,
	size_t *failed, struct aw_error *err)
{
	struct run run = {
		.options = options, .file = file, .count = count, .failed = failed};
	int result = test_all(&run, err);
	struct variant *next;

	for (; run.variants; run.variants = next) {
		next = run.variants->next;
		aw_effective_release(&run.variants->standing);
		free(run.variants);
	}
	return result;
}

static int test_files(const struct test_options *options, char **files, int count)
{
	size_t tests = 0, failed = 0;
	struct aw_error err;
	int broken = 0;

	for (int i = 0; i < (count ? count : 1); i++) {
		const char *file = count ? files[i] : NULL;

		if (run_one(options, file, &tests, &failed, &err) < 0) {
			printf("not ok %zu - %s\n", ++tests, err.text);
			broken++;
		}
	}
	if (tests)
		printf("1..%zu\n", tests);
	else
		printf("1..0 # SKIP there is no 'tests' section in %s\n",
			!count	     ? "the policy files that count here"
			: count == 1 ? files[0]
				     : "these files");
	return failed || broken ? AW_EXIT_FAILED : 0;
}

static int test_main(int argc, char **argv)
{
	struct test_options values = {.agent = NULL};
	struct aw_error err;
	bool help = false;
	int status = 0, first = aw_options_parse(&aw_command_policy_test, argc, argv,
				&values, &help, &err);

	if (first >= 0 && help)
		aw_options_help(&aw_command_policy_test);
	else if (first >= 0)
		status = test_files(&values, argv + first, argc - first);
	else
		status = aw_say_usage(&err);
	aw_string_list_free(&values.policies);
	return status;
}

#define AT(field) offsetof(struct test_options, field)

static const struct aw_option options[] = {
	{"mode", 'm', AW_OPT_CHOICE, AT(mode), NULL, "audit|enforce",
		"in this mode, where an entry names none"},
	{"base", 0, AW_OPT_CHOICE, AT(base), "BASE", "workspace|read-only|open",
		"on this base"},
	{"policy", 'p', AW_OPT_LIST, AT(policies), "FILE", NULL,
		"one more layer on top; may be repeated"},
	{"workspace", 'w', AW_OPT_STRING, AT(workspace), "DIR", NULL,
		"for this directory, not for the one around the working directory"},
	{"agent", 'a', AW_OPT_STRING, AT(agent), "NAME", NULL,
		"for this agent, where an entry names none"},
};

const struct aw_command aw_command_policy_test = {
	.name = "policy test",
	.arguments = "[FILE...]",
	.brief = "compare what the policy answers with what its tests expect",
	.details =
		"Without FILE the tests of all files that count here are put to the policy "
		"that they make together; with FILE each file's to that file alone.  An entry "
		"of the section tests asks one question and says what is expected:\n\n"
		"  tests:\n"
		"    - {read: \"$WORKSPACE/.env\", expect: deny}\n"
		"    - {exec: \"git push --force\", expect: deny, name: no force}\n"
		"    - {connect: \"api.github.com:443\", expect: allow, agent: claude}\n\n"
		"It prints TAP, a line for each entry with its file and line, and below one "
		"that fails the rule that decided.  The exit status is 1 when one failed or a "
		"policy has mistakes.",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.mixed = true,
	.main = test_main,
};
