/* SPDX-License-Identifier: Apache-2.0 */
/* load_env.c - which variables the command sees. */
#include <stdlib.h>
#include <string.h>

#include "policy/glob.h"
#include "policy/load_internal.h"

#define SET_MAX 1000

static bool good_name(struct aw_loader *l, const struct aw_node *at)
{
	if (at->kind != AW_NODE_TEXT || !at->text[0]) {
		aw_report(l, at, "expected the name of a variable");
		return false;
	}
	if (strchr(at->text, '=') || at->text[0] == '!' || at->text[0] == '$') {
		aw_report(l, at, "'%.60s' is not the name of a variable", at->text);
		return false;
	}
	return aw_glob_check(l, at, at->text, strlen(at->text));
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
		if (!good_name(l, value->items[i]))
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

void aw_inherit_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	static const char *const words[] = {"all", "none", NULL};
	int word;

	(void)argument;
	if (value->kind == AW_NODE_LIST) {
		l->policy.environment.inherit_all = false;
		add_names(l, value, "inherit", &l->policy.environment.inherit,
			&l->policy.environment.inherit_count);
		return;
	}
	word = aw_word_read(l, value, words);
	if (word < 0)
		return;
	free_names(
		&l->policy.environment.inherit, &l->policy.environment.inherit_count);
	l->policy.environment.inherit_all = word == 0;
	aw_origin_add(l, value, "inherit", words[word]);
}

void aw_unset_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	if (aw_list_check(l, value))
		add_names(l, value, "unset", &l->policy.environment.unset,
			&l->policy.environment.unset_count);
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

static void read_setting(struct aw_loader *l, const struct aw_node *map,
	const struct aw_node *value, size_t at)
{
	const struct aw_node *name = map->items[at];
	char *text;
	size_t i;

	if (!good_name(l, name))
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
		aw_report(l, value, "expected a map of names and values");
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

bool aw_policy_keeps_variable(const struct aw_policy *policy, const char *name)
{
	if (any_matches(
		    policy->environment.unset, policy->environment.unset_count, name))
		return false;
	return policy->environment.inherit_all ||
	       any_matches(policy->environment.inherit,
		       policy->environment.inherit_count, name);
}
