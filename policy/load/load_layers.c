/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_layers.c - how a document stands on those below it.
 *
 * Behind its own sections come those for the runner, then its entry for the agent, and
 * what is intersected.  `merge: replace` counts before anything else in the document.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

#define AGENTS_MAX 1000

static const char *const strategies[] = {"extend", "replace", NULL};

static bool replaces(const struct aw_node *map)
{
	const struct aw_node *merge = aw_map_get(map, "merge");

	return merge && merge->kind == AW_NODE_TEXT &&
	       strcmp(merge->text, "replace") == 0;
}

void aw_merge_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	if (aw_word_read(l, value, strategies) != 1)
		return;
	if (l->stratum == AW_STRATUM_SYSTEM)
		aw_warn(l, value,
			"'merge: replace' is ignored: nothing replaces the system policy");
	else
		aw_origin_add(l, value, "merge", "replace");
}

static bool is_agent_name(const struct aw_node *name)
{
	return name->kind == AW_NODE_TEXT && name->text[0] && name->text[0] != '.' &&
	       !strchr(name->text, '/');
}

void aw_agents_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	if (strcmp(l->source->layer, "agent") == 0)
		aw_report(l, value,
			"'agents' has no place in the file of one agent; the global "
			"policy is where others stand");
	else
		l->pending.agents = value;
}

void aw_intersect_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	l->pending.intersect = value;
}

/* --- agents --- */

/* The entry is a layer of its own; the system's stays the system's. */
static void read_agent(struct aw_loader *l, const struct aw_node *entry)
{
	const struct aw_policy_source *outer = l->source;
	struct aw_policy_source source = *outer;

	if (source.trust != AW_SYSTEM)
		source.layer = "agent";
	l->source = &source;
	aw_entry_read(l, entry);
	l->source = outer;
}

static void check_agent(struct aw_loader *l, const struct aw_node *map, size_t at)
{
	const struct aw_node *name = map->items[at];
	size_t i;

	if (!is_agent_name(name)) {
		aw_report(l, name,
			"expected the name of an agent: a word without slashes, such as claude");
		return;
	}
	for (i = 0; i < at; i += 2)
		if (map->items[i]->kind == AW_NODE_TEXT &&
			strcmp(map->items[i]->text, name->text) == 0) {
			aw_report(l, name,
				"'%.60s' stands here a second time, after line %u",
				name->text, map->items[i]->line);
			return;
		}
}

static void read_agents(struct aw_loader *l, const struct aw_node *map)
{
	const char *chosen = l->variables->command;
	size_t i;

	if (map->kind != AW_NODE_MAP) {
		aw_report(l, map,
			"expected a map of agents' names, such as {claude: {preset: "
			"[claude-code]}}");
		return;
	}
	if (map->count / 2 > AGENTS_MAX) {
		aw_report(l, map, "more than %d agents", AGENTS_MAX);
		return;
	}
	for (i = 0; i < map->count; i += 2) {
		const struct aw_node *name = map->items[i], *entry = map->items[i + 1];

		check_agent(l, map, i);
		if (chosen && name->kind == AW_NODE_TEXT &&
			strcmp(name->text, chosen) == 0)
			read_agent(l, entry);
		else
			aw_redundant_read(l, entry, aw_entry_read);
	}
}

/* --- what is intersected --- */

static void read_rules(struct aw_loader *l, const struct aw_node *value, int section)
{
	static const char *const names[] = {
		"filesystem", "exec", "network", "environment", "profiles"};

	aw_section_read(l, value, names[section]);
}

static const struct aw_key rules_keys[] = {
	{"filesystem", read_rules, 0, AW_KEY_UNTRUSTED, &aw_files_shape, "as above"},
	{"exec", read_rules, 1, AW_KEY_UNTRUSTED, &aw_exec_shape, "as above"},
	{"network", read_rules, 2, AW_KEY_UNTRUSTED, &aw_network_shape, "as above"},
	{"environment", read_rules, 3, AW_KEY_UNTRUSTED, &aw_environment_shape,
		"as above"},
	{"profiles", read_rules, 4, AW_KEY_UNTRUSTED, &aw_profiles_shape, "as above"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

static void read_system_rules(struct aw_loader *l, const struct aw_node *map)
{
	aw_keys_read(l, map, "intersect.system", rules_keys);
}

/* As if these rules stood in a file of another layer. */
static void read_apart(struct aw_loader *l, const struct aw_node *map, int trust)
{
	const struct aw_policy_source *outer = l->source;
	struct aw_policy_source source = {
		outer->file, outer->layer, (enum aw_trust)trust};
	enum aw_stratum stratum = l->stratum;

	if (trust == AW_SYSTEM && l->system_named) {
		aw_warn(l, map,
			"'intersect.system' is ignored: there is a system policy, which holds");
		aw_redundant_read(l, map, read_system_rules);
		return;
	}
	l->source = &source;
	l->stratum = trust == AW_SYSTEM ? AW_STRATUM_SYSTEM : AW_STRATUM_UNTRUSTED;
	aw_keys_read(l, map,
		trust == AW_SYSTEM ? "intersect.system" : "intersect.untrusted",
		rules_keys);
	l->source = outer;
	l->stratum = stratum;
}

static const struct aw_shape apart_shape = {.kind = AW_SHAPE_MAP, .keys = rules_keys};

static const struct aw_key intersect_keys[] = {
	{"system", read_apart, AW_SYSTEM, 0, &apart_shape, "of the system policy"},
	{"untrusted", read_apart, AW_UNTRUSTED, 0, &apart_shape,
		"of files that are not trusted"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

const struct aw_shape aw_intersect_shape = {
	.kind = AW_SHAPE_MAP, .keys = intersect_keys};

/* Without `replace`, rules of others would stand among these and could loosen them. */
static void read_intersect(
	struct aw_loader *l, const struct aw_node *root, const struct aw_node *map)
{
	if (!replaces(root) || l->stratum != AW_STRATUM_TRUSTED) {
		aw_report(l, map,
			"'intersect' has a place only beside 'merge: replace', as "
			"policy show prints it");
		return;
	}
	aw_keys_read(l, map, "intersect", intersect_keys);
}

/* --- a document --- */

static void read_map(struct aw_loader *l, const struct aw_node *map, bool entry)
{
	struct aw_pending outer = l->pending;
	const struct aw_pending *now = &l->pending;

	l->pending = (struct aw_pending){.entry = entry};
	if (replaces(map) && l->stratum == AW_STRATUM_TRUSTED &&
		l->source->trust == AW_TRUSTED && !aw_is_preset(l->source))
		aw_below_drop(l, true);
	aw_keys_read(l, map, NULL, l->keys);
	if (now->runners)
		aw_runners_apply(l, now->runners);
	if (now->older)
		aw_older_runner_apply(l, now->older, aw_map_get(map, "runner") != NULL);
	if (now->agents)
		read_agents(l, now->agents);
	if (now->intersect)
		read_intersect(l, map, now->intersect);
	l->pending = outer;
}

void aw_document_read(struct aw_loader *l, const struct aw_node *root)
{
	if (!root) {
		aw_report_at(l, 1, 1, false,
			"an empty file; at least 'version: 1' is needed");
		return;
	}
	read_map(l, root, false);
	if (root->kind == AW_NODE_MAP && !aw_map_get(root, "version"))
		aw_report(l, root, "'version: 1' is missing");
}

void aw_entry_read(struct aw_loader *l, const struct aw_node *map)
{
	read_map(l, map, true);
}
