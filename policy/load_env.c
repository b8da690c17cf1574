/* SPDX-License-Identifier: Apache-2.0 */
/* load_env.c - which variables the command sees. */
#include <stdlib.h>
#include <string.h>

#include "policy/glob.h"
#include "policy/load_internal.h"

#define SET_MAX 1000

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

static void add_names(struct aw_loader *l, const struct aw_node *value, const char *key,
	char ***names, size_t *count)
{
	char **grown;
	size_t i;

	grown = realloc(*names, (*count + value->count + 1) * sizeof(*grown));
	if (!grown) {
		l->failed = true;
		return;
	}
	*names = grown;
	for (i = 0; i < value->count; i++) {
		if (!good_name(l, value->items[i], 0))
			continue;
		grown[*count] = aw_copy(l, value->items[i]->text);
		if (grown[*count])
			aw_origin_add(l, value->items[i], key, grown[(*count)++]);
	}
}

static void free_names(char ***names, size_t *count)
{
	while (*count > 0)
		free((*names)[--*count]);
	free(*names);
	*names = NULL;
}

static const char *const inherit_words[] = {"all", "none", NULL};

static const struct aw_shape word_shape = {
	.kind = AW_SHAPE_WORD, .words = inherit_words};
static const struct aw_shape names_shape = {
	.kind = AW_SHAPE_LIST, .entry = "names and patterns"};
const struct aw_shape aw_inherit_shape = {
	.kind = AW_SHAPE_EITHER, .first = &word_shape, .second = &names_shape};
const struct aw_shape aw_settings_shape = {.kind = AW_SHAPE_NAMED};

/* What the system lets through at most: what others say can only be less. */
static void read_at_most(struct aw_loader *l, const struct aw_node *value)
{
	int word;

	if (value->kind == AW_NODE_LIST) {
		l->policy.environment.limited = true;
		add_names(l, value, "inherit", &l->policy.environment.at_most,
			&l->policy.environment.at_most_count);
		return;
	}
	word = aw_word_read(l, value, inherit_words);
	if (word < 0)
		return;
	l->policy.environment.limited |= word == 1;
	aw_origin_add(l, value, "inherit", inherit_words[word]);
}

void aw_inherit_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	int word;

	(void)argument;
	l->inherit_named = true;
	if (l->source->trust == AW_SYSTEM) {
		read_at_most(l, value);
		return;
	}
	if (value->kind == AW_NODE_LIST) {
		l->policy.environment.inherit_all = false;
		add_names(l, value, "inherit", &l->policy.environment.inherit,
			&l->policy.environment.inherit_count);
		return;
	}
	word = aw_word_read(l, value, inherit_words);
	if (word < 0)
		return;
	free_names(
		&l->policy.environment.inherit, &l->policy.environment.inherit_count);
	l->policy.environment.inherit_all = word == 0;
	aw_origin_add(l, value, "inherit", inherit_words[word]);
}

/* Put a name in at this place of a list. */
static void insert_name(
	struct aw_loader *l, const char *name, char ***names, size_t *count, size_t at)
{
	char **grown = realloc(*names, (*count + 1) * sizeof(*grown));
	char *copy = aw_copy(l, name);

	if (grown)
		*names = grown;
	if (!grown || !copy) {
		l->failed = true;
		free(copy);
		return;
	}
	memmove(grown + at + 1, grown + at, (*count - at) * sizeof(*grown));
	grown[at] = copy;
	++*count;
}

void aw_unset_add(struct aw_loader *l, const char *name)
{
	const struct aw_node at = {
		.kind = AW_NODE_TEXT, .line = 1, .column = 1, .text = (char *)name};

	insert_name(l, name, &l->policy.environment.unset,
		&l->policy.environment.unset_count, l->unset_built_in++);
	aw_origin_add(l, &at, "unset", name);
}

/* In front of what files say stands what presets say, and before that our own. */
static void unset_one(struct aw_loader *l, const struct aw_node *at)
{
	char ***names = &l->policy.environment.unset;
	size_t *count = &l->policy.environment.unset_count, place;
	bool kept = at->kind == AW_NODE_TEXT && at->text[0] == '!';

	if (!good_name(l, at, kept))
		return;
	if (kept && l->source->trust == AW_UNTRUSTED) {
		aw_warn(l, at, "'%.60s' is ignored: this file is not trusted",
			at->text);
		return;
	}
	if (l->stratum != AW_STRATUM_TRUSTED) {
		names = &l->policy.environment.always_unset;
		count = &l->policy.environment.always_unset_count;
	}
	place = *count;
	if (aw_is_preset(l->source) && l->stratum == AW_STRATUM_TRUSTED)
		place = l->unset_presets++;
	insert_name(l, at->text, names, count, place);
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

/* A later value replaces an earlier one of the same name. */
static void add_setting(struct aw_loader *l, const struct aw_node *name, char *value)
{
	struct aw_setting *setting = find_setting(&l->policy, name->text), *grown;

	if (setting) {
		free(setting->value);
		setting->value = value;
		return;
	}
	grown = realloc(l->policy.environment.set,
		(l->policy.environment.set_count + 1) * sizeof(*grown));
	if (!grown) {
		l->failed = true;
		free(value);
		return;
	}
	l->policy.environment.set = grown;
	grown += l->policy.environment.set_count;
	grown->name = aw_copy(l, name->text);
	grown->value = value;
	if (grown->name)
		l->policy.environment.set_count++;
	else
		free(value);
}

void aw_setting_add(struct aw_loader *l, const char *name, const char *value)
{
	const struct aw_node at = {
		.kind = AW_NODE_TEXT, .line = 1, .column = 1, .text = (char *)name};
	char *copy;

	if (find_setting(&l->policy, name) || !(copy = aw_copy(l, value)))
		return;
	aw_origin_add(l, &at, "set", name);
	add_setting(l, &at, copy);
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
	if (!text)
		return;
	aw_origin_add(l, name, "set", name->text);
	add_setting(l, name, text);
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

static bool any_matches(char *const *names, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (aw_glob_match(names[i], strlen(names[i]), name, strlen(name)))
			return true;
	return false;
}

/* The last of the list that matches decides. */
static bool is_unset(char *const *names, size_t count, const char *name)
{
	while (count-- > 0) {
		const char *pattern = names[count];
		bool kept = pattern[0] == '!';

		pattern += kept;
		if (aw_glob_match(pattern, strlen(pattern), name, strlen(name)))
			return !kept;
	}
	return false;
}

bool aw_policy_keeps_variable(const struct aw_policy *policy, const char *name)
{
	if (is_unset(
		    policy->environment.unset, policy->environment.unset_count, name) ||
		is_unset(policy->environment.always_unset,
			policy->environment.always_unset_count, name))
		return false;
	if (policy->environment.limited &&
		!any_matches(policy->environment.at_most,
			policy->environment.at_most_count, name))
		return false;
	return policy->environment.inherit_all ||
	       any_matches(policy->environment.inherit,
		       policy->environment.inherit_count, name);
}
