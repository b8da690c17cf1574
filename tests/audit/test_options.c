/* SPDX-License-Identifier: Apache-2.0 */
/* test_options.c - the option parser, row by row. */
#include <stdlib.h>
#include <string.h>

#include "supervisor/cli/options.h"
#include "supervisor/cli/suggest.h"
#include "tests/unit/tap.h"

struct values {
	bool quiet, force;
	const char *name, *mode;
	struct aw_string_list files;
	long count;
};

#define AT(field) offsetof(struct values, field)

static const struct aw_option options[] = {
	{"quiet", 'q', AW_OPT_FLAG, AT(quiet), NULL, NULL, "say nothing"},
	{"force", 'f', AW_OPT_FLAG, AT(force), NULL, NULL, "do it all the same"},
	{"name", 'n', AW_OPT_STRING, AT(name), "NAME", NULL, "a name"},
	{"on-missing", 0, AW_OPT_CHOICE, AT(mode), NULL, "fail|exec", "what then"},
	{"policy", 'p', AW_OPT_LIST, AT(files), "FILE", NULL, "a file"},
	{"count", 'c', AW_OPT_NUMBER, AT(count), "N", NULL, "how many"},
};

static struct aw_command command = {
	.name = "try",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
};

static struct aw_error err;
static bool help;
static char *words[16];

/* Parse a line of words, at most 15; the words stay in words[]. */
static int parse(const char *line, struct values *values)
{
	static char copy[512];
	int argc = 0;

	memset(values, 0, sizeof(*values));
	memset(&err, 0, sizeof(err));
	snprintf(copy, sizeof(copy), "try %s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[argc++] = word;
	words[argc] = NULL;
	return aw_options_parse(&command, argc, words, values, &help, &err);
}

static bool refused(const char *line, const char *sentence)
{
	struct values v;
	int r = parse(line, &v);

	aw_string_list_free(&v.files);
	if (r < 0 && !strcmp(err.text, sentence))
		return true;
	note("%d: %s", r, err.text);
	return false;
}

static void what_is_accepted(void)
{
	struct values v;
	int first;

	first = parse("-q --name x --on-missing=exec -p a --policy=b cmd --name y", &v);
	ok(first == 8 && v.quiet && !strcmp(v.name, "x") && !strcmp(v.mode, "exec"),
		"options end at the first word that is none");
	ok(v.files.count == 2 && !strcmp(v.files.items[1], "b"),
		"a list gathers its values");
	aw_string_list_free(&v.files);
	first = parse("-qfc12 -- --name", &v);
	ok(first == 3 && v.quiet && v.force && v.count == 12, "letters stand together");
	ok(!strcmp(words[first], "--name"), "and -- ends the options");
	first = parse("--quiet=no --name=", &v);
	ok(first == 3 && !v.quiet && v.name && !*v.name, "a flag can be taken back");
	ok(parse("--name", &v) < 0, "a value that is missing is an error: %s",
		err.text);
	first = parse("- x", &v);
	ok(first == 1, "a single dash is an argument");
	first = parse("--help --bogus", &v);
	ok(help && first >= 0, "after --help nothing is looked at");
}

static void what_is_mixed(void)
{
	struct values v;
	int first;

	command.mixed = true;
	first = parse("one -q two --name n three -- -x", &v);
	ok(first == 5 && v.quiet && !strcmp(v.name, "n"),
		"a mixed command finds its options");
	ok(!strcmp(words[5], "one") && !strcmp(words[6], "two") &&
			!strcmp(words[7], "three") && !strcmp(words[8], "-x"),
		"and keeps the order of its arguments");
	command.mixed = false;
}

static void what_is_refused(void)
{
	ok(refused("--polcy x", "unknown option '--polcy'; did you mean '--policy'?"),
		"a slip is named with what was meant");
	ok(refused("--pol x", "unknown option '--pol'; did you mean '--policy'?"),
		"so is the start of a name");
	ok(refused("--zzzzzzzz",
		   "unknown option '--zzzzzzzz'; see: agentwatch help try"),
		"what is near to nothing points to the help");
	ok(refused("-qz", "unknown option '-z' in '-qz'; see: agentwatch help try"),
		"an unknown letter is named");
	ok(refused("--on-missing=exce",
		   "--on-missing is fail or exec, not 'exce'; did you mean 'exec'?"),
		"a choice is checked");
	ok(refused("-c 12x", "--count wants a number, not '12x'"),
		"a number is checked");
	ok(refused("--count 99999999999999999999",
		   "--count: the number 99999999999999999999 is too large"),
		"and its size too");
	ok(refused("-p", "--policy wants a value: --policy FILE"),
		"a value is asked for");
	ok(refused("--quiet=perhaps",
		   "--quiet takes 1, yes, true, 0, no or false, not 'perhaps'"),
		"a flag knows its words");
}

static void the_environment(void)
{
	struct values v;

	setenv("AGENTWATCH_QUIET", "yes", 1);
	setenv("AGENTWATCH_POLICY", "a:b::c", 1);
	setenv("AGENTWATCH_ON_MISSING", "exec", 1);
	setenv("AGENTWATCH_NAME", "", 1);
	ok(parse("x", &v) == 1 && v.quiet && v.files.count == 3 &&
			!strcmp(v.mode, "exec"),
		"flags, lists and choices are taken from the environment");
	ok(!strcmp(v.files.items[2], "c"), "a list is separated by colons");
	ok(!v.name, "an empty variable counts as not set");
	aw_string_list_free(&v.files);
	parse("--policy z --quiet=no", &v);
	ok(v.files.count == 1 && !strcmp(v.files.items[0], "z") && !v.quiet,
		"the command line wins");
	aw_string_list_free(&v.files);
	setenv("AGENTWATCH_ON_MISSING", "fial", 1);
	ok(refused("x",
		   "in the environment: AGENTWATCH_ON_MISSING is fail or exec, not "
		   "'fial'; did you mean 'fail'?"),
		"a mistake there names the variable");
	ok(parse("--on-missing fail", &v) > 0,
		"unless the command line has the option");
	aw_string_list_free(&v.files);
	ok(parse("--help", &v) >= 0 && help, "help comes all the same");
	aw_string_list_free(&v.files);
}

static void nearness(void)
{
	static const struct {
		const char *word, *candidate;
		bool near;
	} cases[] = {
		{"modee", "mode", true},
		{"mdoe", "mode", true},
		{"ru", "run", true},
		{"x", "run", false},
		{"workspce", "workspace", true},
		{"policy", "quiet", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aw_suggestion near;

		aw_suggest_init(&near, cases[i].word);
		aw_suggest_offer(&near, cases[i].candidate);
		ok((aw_suggest_best(&near) != NULL) == cases[i].near, "'%s' is %s '%s'",
			cases[i].word, cases[i].near ? "near" : "far from",
			cases[i].candidate);
	}
}

int main(void)
{
	what_is_accepted();
	what_is_mixed();
	what_is_refused();
	the_environment();
	nearness();
	return done();
}
