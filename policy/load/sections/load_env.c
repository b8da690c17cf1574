/* SPDX-License-Identifier: Apache-2.0 */
/* load_env.c - which variables the command sees. */
#include <stdlib.h>
#include <string.h>

#include "policy/glob.h"
#include "policy/load/load_internal.h"

#define SET_MAX 1000
#define NAMES_MAX 2000

/* skip: how many signs stand in front of the name. */
static bool good_name(struct aw_loader *l, const struct aw_node *at, size_t skip)
{
	const char *name;

	if (at->kind != AW_NODE_TEXT || !at->text[0]) {
		aw_report(l, at, "expected the name of a variable");
		return false;
	}
	name = at->text + skip;
	if (!name[0] || strchr(name, '=') || name[0] == '!' || name[0] == '$') {
		aw_report(l, at, "'%.60s' is not the name of a variable", at->text);
		return false;
	}
	return aw_glob_check(l, at, name, strlen(name));
}

/* The rules of the policy that is being read. */
static struct aw_variable_rules *rules_of(struct aw_loader *l)
{
	return &l->policy.environment.rules[l->stratum];
}

/* Put a name in at this place of a list. */
static void insert_name(struct aw_loader *l, const char *name,
	struct aw_variable_names *names, size_t at)
{
	char **grown = realloc(names->items, (names->count + 1) * sizeof(*grown));
	char *copy = aw_copy(l, name);

	if (grown)
		names->items = grown;
	if (!grown || !copy) {
		l->failed = true;
		free(copy);
		return;
	}
	memmove(grown + at + 1, grown + at, (names->count - at) * sizeof(*grown));
	grown[at] = copy;
	names->count++;
}

void aw_variable_names_free(struct aw_variable_names *names)
{
	while (names->count > 0)
		free(names->items[--names->count]);
	free(names->items);
	names->items = NULL;
}

/* The last of equal names stays, where it stands. */
static void drop_doubles(struct aw_variable_names *names)
{
	size_t i, j, kept = 0;

	for (i = 0; i < names->count; i++) {
		for (j = i + 1; j < names->count; j++)
			if (strcmp(names->items[i], names->items[j]) == 0)
				break;
		if (j < names->count)
			free(names->items[i]);
		else
			names->items[kept++] = names->items[i];
	}
	names->count = kept;
}

void aw_variable_names_complete(struct aw_loader *l)
{
	int s;

	for (s = 0; s <= AW_STRATUM_UNTRUSTED; s++) {
		drop_doubles(&l->policy.environment.rules[s].inherit);
		drop_doubles(&l->policy.environment.rules[s].unset);
	}
}

static bool too_many(struct aw_loader *l, const struct aw_node *at,
	const struct aw_variable_names *n)
{
	if (n->count < NAMES_MAX)
		return false;
	aw_report(l, at, "more than %d names of variables", NAMES_MAX);
	return true;
}

static const char *const inherit_words[] = {"all", "none", NULL};

static const struct aw_shape word_shape = {
	.kind = AW_SHAPE_WORD, .words = inherit_words};
static const struct aw_shape names_shape = {
	.kind = AW_SHAPE_LIST, .entry = "names and patterns"};
const struct aw_shape aw_inherit_shape = {
	.kind = AW_SHAPE_EITHER, .first = &word_shape, .second = &names_shape};
const struct aw_shape aw_settings_shape = {.kind = AW_SHAPE_NAMED};

void aw_inherit_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	struct aw_variable_rules *rules = rules_of(l);
	int word;
	size_t i;

	(void)argument;
	l->inherit_named = true;
	if (value->kind == AW_NODE_LIST) {
		rules->some = true;
		for (i = 0; i < value->count; i++) {
			const struct aw_node *at = value->items[i];

			if (!good_name(l, at, 0) || too_many(l, at, &rules->inherit))
				continue;
			insert_name(l, at->text, &rules->inherit, rules->inherit.count);
			aw_origin_add(l, at, "inherit", at->text);
		}
		return;
	}
	word = aw_word_read(l, value, inherit_words);
	if (word < 0)
		return;
	aw_variable_names_free(&rules->inherit);
	rules->some = word != 0;
	aw_origin_add(l, value, "inherit", inherit_words[word]);
}

void aw_unset_add(struct aw_loader *l, const char *name)
{
	const struct aw_node at = {
		.kind = AW_NODE_TEXT, .line = 1, .column = 1, .text = (char *)name};

	l->stratum = AW_STRATUM_TRUSTED;
	insert_name(l, name, &rules_of(l)->unset, l->unset_built_in++);
	aw_origin_add(l, &at, "unset", name);
}

/* In front of what files say stands what presets say, and before that our own. */
static void unset_one(struct aw_loader *l, const struct aw_node *at)
{
	struct aw_variable_names *names = &rules_of(l)->unset;
	bool kept = at->kind == AW_NODE_TEXT && at->text[0] == '!';
	size_t place;

	if (!good_name(l, at, kept) || too_many(l, at, names))
		return;
	if (kept && l->source->trust == AW_UNTRUSTED) {
		aw_warn(l, at, "'%.60s' is ignored: this file is not trusted",
			at->text);
		return;
	}
	place = names->count;
	if (aw_is_preset(l->source) && l->stratum == AW_STRATUM_TRUSTED)
		place = l->unset_presets++;
	insert_name(l, at->text, names, place);
	aw_origin_add(l, at, "unset", at->text);
}

void aw_unset_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	size_t i;

	(void)argument;
	if (!aw_list_check(l, value))
		return;
	for (i = 0; i < value->count; i++)
		unset_one(l, value->items[i]);
}

static struct aw_setting *find_setting(struct aw_policy *policy, const char *name)
{
	size_t i;

	for (i = 0; i < policy->environment.set_count; i++)
		if (strcmp(policy->environment.set[i].name, name) == 0)
			return &policy->environment.set[i];
	return NULL;
}

static void free_setting(struct aw_setting *s)
{
	free(s->name);
	free(s->value);
	free(s->text);
}

/* A later value replaces an earlier one of the same name.  Takes what *from owns. */
static void keep_setting(struct aw_loader *l, struct aw_setting *from)
{
	struct aw_setting *setting = find_setting(&l->policy, from->name), *grown;
	size_t count = l->policy.environment.set_count;

	if (setting) {
		free_setting(setting);
		*setting = *from;
		return;
	}
	grown = realloc(l->policy.environment.set, (count + 1) * sizeof(*grown));
	if (!grown) {
		l->failed = true;
		free_setting(from);
		return;
	}
	l->policy.environment.set = grown;
	grown[l->policy.environment.set_count++] = *from;
}

/* text is what stands in the file, value what it means. */
static void add_setting(
	struct aw_loader *l, const char *name, const char *value, const char *text)
{
	struct aw_setting s = {aw_copy(l, name), aw_copy(l, value), aw_copy(l, text),
		l->stratum == AW_STRATUM_SYSTEM};

	if (s.name && s.value && s.text)
		keep_setting(l, &s);
	else
		free_setting(&s);
}

void aw_setting_add(struct aw_loader *l, const char *name, const char *value)
{
	const struct aw_node at = {
		.kind = AW_NODE_TEXT, .line = 1, .column = 1, .text = (char *)name};

	if (find_setting(&l->policy, name))
		return;
	l->stratum = AW_STRATUM_TRUSTED;
	aw_origin_add(l, &at, "set", name);
	add_setting(l, name, value, value);
}

/* True, after a warning, when the system policy has settled this variable. */
static bool is_settled(struct aw_loader *l, const struct aw_node *name)
{
	const struct aw_setting *s = find_setting(&l->policy, name->text);

	if (!s || !s->system || l->stratum == AW_STRATUM_SYSTEM)
		return false;
	aw_warn(l, name, "'%.60s' is ignored: the system policy sets it", name->text);
	return true;
}

static void read_setting(struct aw_loader *l, const struct aw_node *map,
	const struct aw_node *value, size_t at)
{
	const struct aw_node *name = map->items[at];
	char *text;
	size_t i;

	if (!good_name(l, name, 0))
		return;
	for (i = 0; i < at; i += 2)
		if (map->items[i]->kind == AW_NODE_TEXT &&
			strcmp(map->items[i]->text, name->text) == 0) {
			aw_report(l, name,
				"'%.60s' stands here a second time, after line %u",
				name->text, map->items[i]->line);
			return;
		}
	if (value->kind != AW_NODE_TEXT) {
		aw_report(l, value, "expected a text, not a list or map");
		return;
	}
	text = aw_expand(l, value, value->text, AW_EXPAND_PLAIN);
	if (!text || is_settled(l, name)) {
		free(text);
		return;
	}
	aw_origin_add(l, name, "set", name->text);
	add_setting(l, name->text, text, value->text);
	free(text);
}

void aw_set_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	size_t i;

	(void)argument;
	if (value->kind != AW_NODE_MAP) {
		aw_report(l, value,
			"expected a map of names and values, such as {NAME: value}");
		return;
	}
	if (value->count / 2 > SET_MAX) {
		aw_report(l, value, "more than %d variables", SET_MAX);
		return;
	}
	for (i = 0; i < value->count; i += 2)
		read_setting(l, value, value->items[i + 1], i);
}

static bool any_matches(const struct aw_variable_names *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		if (aw_glob_match(names->items[i], strlen(names->items[i]), name,
			    strlen(name)))
			return true;
	return false;
}

/* The last of the list that matches decides. */
static bool is_unset(const struct aw_variable_names *names, const char *name)
{
	size_t i = names->count;

	while (i-- > 0) {
		const char *pattern = names->items[i];
		bool kept = pattern[0] == '!';

		pattern += kept;
		if (aw_glob_match(pattern, strlen(pattern), name, strlen(name)))
			return !kept;
	}
	return false;
}

bool aw_policy_keeps_variable(const struct aw_policy *policy, const char *name)
{
	int s;

	for (s = 0; s <= AW_STRATUM_UNTRUSTED; s++) {
		const struct aw_variable_rules *rules = &policy->environment.rules[s];

		if (is_unset(&rules->unset, name) ||
			(rules->some && !any_matches(&rules->inherit, name)))
			return false;
	}
	return true;
}
