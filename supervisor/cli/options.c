/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - one parser for the option tables of all commands. */
#include "supervisor/cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/cli/suggest.h"
#include "supervisor/util/cleanup.h"

const struct aw_command *const *aw_commands;
size_t aw_command_count;

void aw_commands_are(const struct aw_command *const *commands, size_t count)
{
	aw_commands = commands;
	aw_command_count = count;
}

enum { OPTIONS_MAX = 64, NAME_MAX_BYTES = 80 };

struct parser {
	const struct aw_command *command;
	int argc;
	char **argv;
	void *values;
	bool seen[OPTIONS_MAX]; /* given as a flag: the environment is not asked */
	bool help;
	struct aw_error *err;
};

/* Strings cut out of environment lists stay for the life of the program. */
struct kept {
	struct kept *next;
	char text[];
};
static struct kept *kept_texts;

static char *keep(const char *text)
{
	size_t size = strlen(text) + 1;
	struct kept *kept = malloc(sizeof(*kept) + size);

	if (!kept)
		return NULL;
	memcpy(kept->text, text, size);
	kept->next = kept_texts;
	kept_texts = kept;
	return kept->text;
}

void aw_string_list_free(struct aw_string_list *list)
{
	free(list->items);
	list->items = NULL;
	list->count = 0;
}

int aw_string_list_add(
	struct aw_string_list *list, const char *item, struct aw_error *err)
{
	const char **items =
		realloc(list->items, (list->count + 1) * sizeof(*list->items));

	if (!items)
		return aw_fail(err, ENOMEM, "out of memory");
	list->items = items;
	items[list->count++] = item;
	return 0;
}

void aw_option_variable(const struct aw_option *option, char *out, size_t size)
{
	int n = snprintf(out, size, "AGENTWATCH_%s", option->name);

	for (int i = 0; i < n && (size_t)i < size; i++)
		out[i] = out[i] == '-' ? '_' : (char)toupper((unsigned char)out[i]);
}

bool aw_option_choice(
	const struct aw_option *option, size_t index, char *out, size_t size)
{
	const char *at = option->choices;

	while (at && index-- > 0) {
		at = strchr(at, '|');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return false;
	snprintf(out, size, "%.*s", (int)strcspn(at, "|"), at);
	return true;
}

static int set_flag(
	bool *field, const char *who, const char *text, struct aw_error *err)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {{"1", true}, {"yes", true}, {"true", true}, {"0", false},
		{"no", false}, {"false", false}};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcasecmp(words[i].word, text)) {
			*field = words[i].value;
			return 0;
		}
	}
	return aw_fail(err, EINVAL, "%s takes 1, yes, true, 0, no or false, not '%s'",
		who, text);
}

static int set_choice(const struct aw_option *option, const char **field,
	const char *who, const char *text, struct aw_error *err)
{
	char choices[16][NAME_MAX_BYTES], all[256] = "";
	struct aw_suggestion near;
	size_t count = 0, used = 0;
	const char *best;

	aw_suggest_init(&near, text);
	while (count < 16 &&
		aw_option_choice(option, count, choices[count], NAME_MAX_BYTES)) {
		if (!strcmp(choices[count], text)) {
			*field = text;
			return 0;
		}
		aw_suggest_offer(&near, choices[count++]);
	}
	for (size_t i = 0; i < count && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
			i == 0		? ""
			: i + 1 < count ? ", "
					: " or ",
			choices[i]);
	best = aw_suggest_best(&near);
	if (best)
		return aw_fail(err, EINVAL, "%s is %s, not '%s'; did you mean '%s'?",
			who, all, text, best);
	return aw_fail(err, EINVAL, "%s is %s, not '%s'", who, all, text);
}

static int set_number(
	long *field, const char *who, const char *text, struct aw_error *err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || isspace((unsigned char)*text))
		return aw_fail(err, EINVAL, "%s wants a number, not '%s'", who, text);
	if (errno)
		return aw_fail(
			err, ERANGE, "%s: the number %s is too large", who, text);
	*field = value;
	return 0;
}

/* who is how the user named the option: "--mode" or "AGENTWATCH_MODE". */
static int set_value(struct parser *p, const struct aw_option *option, const char *who,
	const char *text)
{
	void *field = (char *)p->values + option->offset;

	switch (option->kind) {
	case AW_OPT_SWITCH:
		((bool *)field)[1] = true;
		return set_flag(field, who, text, p->err);
	case AW_OPT_FLAG:
		return set_flag(field, who, text, p->err);
	case AW_OPT_STRING:
		*(const char **)field = text;
		return 0;
	case AW_OPT_CHOICE:
		return set_choice(option, field, who, text, p->err);
	case AW_OPT_NUMBER:
		return set_number(field, who, text, p->err);
	case AW_OPT_LIST:
		return aw_string_list_add(field, text, p->err);
	}
	return aw_fail(p->err, EINVAL, "%s has no known kind", who);
}

static int set_from_list(struct parser *p, const struct aw_option *option,
	const char *who, const char *text)
{
	char *copy = keep(text), *item, *rest = copy;

	if (!copy)
		return aw_fail(p->err, ENOMEM, "%s: out of memory", who);
	while ((item = strsep(&rest, ":")))
		if (*item && set_value(p, option, who, item) < 0)
			return -1;
	return 0;
}

static int read_environment(struct parser *p)
{
	for (size_t i = 0; i < p->command->option_count; i++) {
		const struct aw_option *option = &p->command->options[i];
		char name[NAME_MAX_BYTES];
		const char *text;
		int r;

		aw_option_variable(option, name, sizeof(name));
		text = getenv(name);
		if (p->seen[i] || !text || !*text)
			continue;
		r = option->kind == AW_OPT_LIST ? set_from_list(p, option, name, text)
						: set_value(p, option, name, text);
		if (r < 0)
			return aw_while(p->err, "in the environment");
	}
	return 0;
}

static int unknown_option(struct parser *p, const char *name, size_t len)
{
	char word[NAME_MAX_BYTES];
	struct aw_suggestion near;
	const char *best;

	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	aw_suggest_init(&near, word);
	for (size_t i = 0; i < p->command->option_count; i++)
		aw_suggest_offer(&near, p->command->options[i].name);
	aw_suggest_offer(&near, "help");
	best = aw_suggest_best(&near);
	if (best)
		return aw_fail(p->err, EINVAL,
			"unknown option '--%s'; did you mean '--%s'?", word, best);
	return aw_fail(p->err, EINVAL, "unknown option '--%s'; see: agentwatch help %s",
		word, p->command->name);
}

static int missing_value(
	struct parser *p, const struct aw_option *option, const char *who)
{
	return aw_fail(p->err, EINVAL, "%s wants a value: %s %s", who, who,
		option->value	  ? option->value
		: option->choices ? option->choices
				  : "VALUE");
}

/* Takes argv[at], and perhaps its successor as the value; returns how many, or -1. */
static int take_long(struct parser *p, int at)
{
	const char *name = p->argv[at] + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	char who[NAME_MAX_BYTES];

	if (len == 4 && !strncmp(name, "help", 4) && !equals) {
		p->help = true;
		return 1;
	}
	for (size_t i = 0; i < p->command->option_count; i++) {
		const struct aw_option *option = &p->command->options[i];

		if (strncmp(option->name, name, len) || option->name[len])
			continue;
		snprintf(who, sizeof(who), "--%s", option->name);
		p->seen[i] = true;
		if (equals)
			return set_value(p, option, who, equals + 1) < 0 ? -1 : 1;
		if (aw_option_is_flag(option))
			return set_value(p, option, who, "1") < 0 ? -1 : 1;
		if (at + 1 >= p->argc)
			return missing_value(p, option, who);
		return set_value(p, option, who, p->argv[at + 1]) < 0 ? -1 : 2;
	}
	return unknown_option(p, name, len);
}

static const struct aw_option *find_letter(struct parser *p, char letter)
{
	for (size_t i = 0; i < p->command->option_count; i++) {
		if (p->command->options[i].letter == letter) {
			p->seen[i] = true;
			return &p->command->options[i];
		}
	}
	return NULL;
}

/* One word of letters: flags may stand together, the last may carry its value. */
static int take_letters(struct parser *p, int at)
{
	for (const char *c = p->argv[at] + 1; *c; c++) {
		const struct aw_option *option = find_letter(p, *c);
		char who[NAME_MAX_BYTES];

		if (option)
			snprintf(who, sizeof(who), "--%s", option->name);

		if (!option && *c == 'h') {
			p->help = true;
			continue;
		}
		if (!option)
			return aw_fail(p->err, EINVAL,
				"unknown option '-%c' in '%s'; see: agentwatch help %s",
				*c, p->argv[at], p->command->name);
		if (aw_option_is_flag(option)) {
			if (set_value(p, option, who, "1") < 0)
				return -1;
			continue;
		}
		if (c[1])
			return set_value(p, option, who, c + 1) < 0 ? -1 : 1;
		if (at + 1 >= p->argc)
			return missing_value(p, option, who);
		return set_value(p, option, who, p->argv[at + 1]) < 0 ? -1 : 2;
	}
	return 1;
}

/* Move the words [at, at + count) in front of [to, at), keeping both orders. */
static void move_forward(char **argv, int to, int at, int count)
{
	for (int i = 0; i < count; i++) {
		char *word = argv[at + i];

		memmove(&argv[to + i + 1], &argv[to + i],
			(size_t)(at - to) * sizeof(*argv));
		argv[to + i] = word;
	}
}

static int read_arguments(struct parser *p)
{
	int at = 1, first = 1; /* argv[first..at) are positional words passed over */

	while (at < p->argc && !p->help) {
		const char *word = p->argv[at];
		int taken;

		if (!strcmp(word, "--")) {
			move_forward(p->argv, first, at, 1);
			return first + 1;
		}
		if (word[0] != '-' || !word[1]) {
			if (!p->command->mixed)
				return at;
			at++;
			continue;
		}
		taken = word[1] == '-' ? take_long(p, at) : take_letters(p, at);
		if (taken < 0)
			return -1;
		move_forward(p->argv, first, at, taken);
		first += taken;
		at += taken;
	}
	return first;
}

int aw_options_parse(const struct aw_command *command, int argc, char **argv,
	void *values, bool *ret_help, struct aw_error *err)
{
	struct parser p = {.command = command,
		.argc = argc,
		.argv = argv,
		.values = values,
		.err = err};
	int first;

	if (command->option_count > OPTIONS_MAX)
		return aw_fail(
			err, E2BIG, "command '%s' has too many options", command->name);
	if (ret_help)
		*ret_help = false;
	first = read_arguments(&p);
	if (first < 0)
		return -1;
	if (p.help) {
		if (ret_help)
			*ret_help = true;
		return argc;
	}
	return read_environment(&p) < 0 ? -1 : first;
}
