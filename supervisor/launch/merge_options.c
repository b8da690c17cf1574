/* SPDX-License-Identifier: Apache-2.0 */
/* merge_options.c - flags over environment over files, and the system policy over all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/launch/run.h"
#include "supervisor/util/cleanup.h"

#define OPTION(name) offsetof(struct aw_run_options, name)
#define POLICY(name) offsetof(struct aw_policy, name)

/* Words that flags and files both may say. */
static const struct {
	const char *key;
	size_t option; /* const char * */
	size_t file;   /* of struct aw_policy; 0: asked for where it is needed */
} words[] = {
	{"mode", OPTION(mode), 0},
	{"base", OPTION(base), 0},
	{"runner", OPTION(runner), 0},
	{"engine", OPTION(engine), 0},
	{"verdicts", OPTION(verdicts), 0},
	{"on_missing_runner", OPTION(on_missing_runner), 0},
	{"require", OPTION(require), POLICY(require)},
	{"log", OPTION(log), POLICY(log)},
};

static const struct {
	const char *key;
	size_t option, file; /* bool [2], char * */
} switches[] = {
	{"quiet", OPTION(quiet), POLICY(quiet)},
	{"keep_descendants", OPTION(keep_descendants), POLICY(keep_descendants)},
};

static const char *file_says(const struct aw_policy *policy, size_t at)
{
	return *(char *const *)(const void *)((const char *)policy + at);
}

/* "audit" where the system enforces, "exec" where it says bwrap. */
static void say_ignored(const char *key, const char *word, const char *fixed)
{
	aw_say("%s %s is ignored: the system policy says %s", key, word, fixed);
}

static int settle_word(struct aw_run *run, size_t i, struct aw_error *err)
{
	char *options = (char *)&run->options;
	const char **option = (const char **)(void *)(options + words[i].option);
	const char *fixed = aw_policy_fixed(&run->policy, words[i].key), *said;
	AW_FREE char *copy = NULL;

	if (fixed && *option && strcmp(*option, fixed) != 0)
		say_ignored(words[i].key, *option, fixed);
	if (fixed)
		*option = NULL;
	said = words[i].file ? file_says(&run->policy, words[i].file) : NULL;
	if (*option || !said)
		return 0;
	copy = strdup(said);
	if (!copy)
		return aw_fail(err, ENOMEM, "out of memory");
	*option = aw_take_ptr(&copy); /* as long as the program, which is one run */
	return 0;
}

static void settle_switch(struct aw_run *run, size_t i)
{
	char *options = (char *)&run->options;
	bool *option = (bool *)(options + switches[i].option), said = option[1], now;
	const char *fixed = aw_policy_fixed(&run->policy, switches[i].key);
	const char *word = file_says(&run->policy, switches[i].file);

	if (!word || (said && !fixed))
		return;
	now = strcmp(word, "true") == 0;
	if (said && now != *option)
		say_ignored(switches[i].key, *option ? "true" : "false", word);
	*option = now;
}

int aw_run_merge_options(struct aw_run *run, struct aw_error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (settle_word(run, i, err) < 0)
			return -1;
	for (i = 0; i < ARRAY_SIZE(switches); i++)
		settle_switch(run, i);
	return 0;
}
