/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_profile.c - profiles: what some programs of a session may, on top of what all
 * may.
 *
 * A profile is a stratum of its own and so can only tighten, wherever it stands.  The
 * same name in several trusted files is one profile, whose lists are appended; those of
 * the system policy and of files that are not trusted are profiles apart.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

#define NAME_LENGTH 64

static bool good_name(struct aw_loader *l, const struct aw_node *at)
{
	const char *c;

	if (at->kind != AW_NODE_TEXT || !at->text[0]) {
		aw_report(l, at, "expected the name of a profile");
		return false;
	}
	for (c = at->text; *c; c++)
		if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') &&
			!(*c >= '0' && *c <= '9') && !strchr("-_.", *c))
			break;
	if (!*c && c - at->text <= NAME_LENGTH)
		return true;
	aw_report(l, at,
		"'%.80s' is not the name of a profile: letters, digits, '-', '_' and "
		"'.', at most %d",
		at->text, NAME_LENGTH);
	return false;
}

/* The number of a profile, which is new or has been read from another file; or -1. */
static int number_of(struct aw_loader *l, const struct aw_node *at)
{
	struct aw_policy *policy = &l->policy;
	unsigned i;

	for (i = 0; i < policy->profile_count; i++)
		if (policy->profiles[i].trust == l->source->trust &&
			strcmp(policy->profiles[i].name, at->text) == 0)
			return (int)i;
	if (i == AW_PROFILES) {
		aw_report(l, at,
			"more than %d profiles, those of this session's earlier policies included",
			AW_PROFILES);
		return -1;
	}
	policy->profiles[i].trust = l->source->trust;
	policy->profiles[i].name = aw_copy(l, at->text);
	if (!policy->profiles[i].name)
		return -1;
	policy->profile_count++;
	return (int)i;
}

/* A pattern of MCP servers' names. */
static void read_mcp_list(struct aw_loader *l, const struct aw_node *value, int list)
{
	struct aw_draft_entry *entry;
	const char *text;
	size_t i;

	for (i = 0; i < value->count; i++) {
		entry = aw_entry_add(l, value->items[i], (enum aw_list)list, &text);
		if (!entry || !aw_glob_check(l, value->items[i], text, strlen(text)))
			continue;
		entry->names = aw_copy(l, text);
	}
}

/* One text stands for a list with nothing else in it. */
static void read_when(struct aw_loader *l, const struct aw_node *value, int list)
{
	struct aw_node *one = (struct aw_node *)value;
	const struct aw_node single = {.kind = AW_NODE_LIST,
		.line = value->line,
		.column = value->column,
		.items = &one,
		.count = 1};

	if (value->kind == AW_NODE_TEXT && value->text[0])
		value = &single;
	if (!aw_list_check(l, value))
		return;
	if (list == AW_LIST_ENTER)
		aw_exec_list_read(l, value, list);
	else
		read_mcp_list(l, value, list);
}

static const struct aw_shape one_shape = {.kind = AW_SHAPE_TEXT, .entry = "text"};
static const struct aw_shape program_list_shape = {
	.kind = AW_SHAPE_LIST, .entry = "path patterns, names, or names and arguments"};
static const struct aw_shape server_list_shape = {
	.kind = AW_SHAPE_LIST, .entry = "names and patterns"};
static const struct aw_shape programs_shape = {
	.kind = AW_SHAPE_EITHER, .first = &program_list_shape, .second = &one_shape};
static const struct aw_shape servers_shape = {
	.kind = AW_SHAPE_EITHER, .first = &server_list_shape, .second = &one_shape};

static const struct aw_key when_keys[] = {
	{"exec", read_when, AW_LIST_ENTER, AW_KEY_UNTRUSTED, &programs_shape,
		"programs that enter it"},
	{"mcp", read_when, AW_LIST_ENTER_MCP, AW_KEY_UNTRUSTED, &servers_shape,
		"MCP servers that do, by their names"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

const struct aw_shape aw_when_shape = {.kind = AW_SHAPE_MAP, .keys = when_keys};

void aw_profile_when_read(
	struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_keys_read(l, value, "when", when_keys);
	if (value->kind == AW_NODE_MAP && !value->count)
		aw_report(l, value, "'when' says nothing; it wants 'exec' or 'mcp'");
}

/* In this file, or in one below it. */
static bool can_be_entered(const struct aw_loader *l)
{
	size_t i;

	for (i = 0; i < l->draft.count; i++) {
		const struct aw_draft_entry *e = &l->draft.entries[i];

		if (e->stratum == l->stratum && !e->negated &&
			(e->list == AW_LIST_ENTER || e->list == AW_LIST_ENTER_MCP))
			return true;
	}
	return false;
}

static void read_profile(
	struct aw_loader *l, const struct aw_node *name, const struct aw_node *value)
{
	enum aw_stratum stratum = l->stratum;
	char key[NAME_LENGTH + 32];
	size_t errors = l->diagnostics->errors;
	int number;

	if (!good_name(l, name) || (number = number_of(l, name)) < 0)
		return;
	snprintf(key, sizeof(key), "profiles.%s", name->text);
	l->profile = key; /* cppcheck-suppress autoVariables; until the end of this */
	l->stratum = (enum aw_stratum)(AW_STRATA + number);
	aw_keys_read(l, value, key, aw_profile_sections);
	/* read for its mistakes alone, it may be about one of a layer below */
	if (l->diagnostics->errors == errors && !l->idle && !can_be_entered(l))
		aw_report(l, name,
			"nothing enters profile '%s': it wants 'when: {exec: …}' or "
			"'when: {mcp: …}'",
			name->text);
	l->profile = NULL;
	l->stratum = stratum;
}

void aw_profiles_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	size_t i, j;

	(void)argument;
	if (value->kind != AW_NODE_MAP) {
		aw_report(l, value, "expected a map of profiles and their names");
		return;
	}
	for (i = 0; i < value->count; i += 2) {
		const struct aw_node *name = value->items[i];

		for (j = 0; j < i; j += 2)
			if (name->kind == AW_NODE_TEXT &&
				value->items[j]->kind == AW_NODE_TEXT &&
				strcmp(value->items[j]->text, name->text) == 0)
				break;
		if (j < i)
			aw_report(l, name,
				"'%s' stands here a second time, after line %u",
				name->text, value->items[j]->line);
		else
			read_profile(l, name, value->items[i + 1]);
	}
}

void aw_profiles_keep(struct aw_loader *l)
{
	const struct aw_policy *before = l->variables->before;
	unsigned i;

	for (i = 0; before && i < before->profile_count; i++) {
		l->policy.profiles[i].trust = before->profiles[i].trust;
		l->policy.profiles[i].name = aw_copy(l, before->profiles[i].name);
		l->policy.profile_count += l->policy.profiles[i].name != NULL;
	}
}

void aw_profiles_free(struct aw_policy *policy)
{
	while (policy->profile_count > 0)
		free(policy->profiles[--policy->profile_count].name);
}

bool aw_profile_is_there(const struct aw_image *image, unsigned i)
{
	const struct aw_image_entry *e = aw_part_at(image, AW_PART_ENTRIES);
	uint32_t n;

	for (n = 0; n < image->parts[AW_PART_ENTRIES].count; n++)
		if (e[n].stratum == AW_STRATA + i &&
			(e[n].list == AW_LIST_ENTER || e[n].list == AW_LIST_ENTER_MCP))
			return true;
	return false;
}
