/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_runners.c - rules that count behind one runner only.
 *
 * `restrictions` holds our own sections or the simple form: directories that may be
 * read, written or neither, and networking on or off.
 */
#include <string.h>

#include "policy/load/load_internal.h"

static const char *const bools[] = {"false", "true", NULL};

/* What hardly any program can do without, where only named directories may be read. */
static const char *const system_folders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32",
	"/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store", "/proc",
	"/sys", NULL};

enum { SYSTEM_FOLDERS_LINE = 40 }; /* behind the devices of load_builtin.c */

/* --- the simple form --- */

static void imply(struct aw_loader *l, const struct aw_node *at, enum aw_default how)
{
	uint8_t *implied = &l->implied[l->stratum];

	if (*implied < how)
		*implied = (uint8_t)how;
	aw_origin_add(l, at, "filesystem.default",
		how == AW_DEFAULT_DENY ? "deny" : "read-only");
}

static void read_folders(struct aw_loader *l, const struct aw_node *value, int list)
{
	if (list == AW_LIST_READ)
		imply(l, value, AW_DEFAULT_DENY);
	if (list == AW_LIST_WRITE)
		imply(l, value, AW_DEFAULT_READ_ONLY);
	aw_path_list_read(l, value, list);
}

/* Off means off: what lower layers let be reached is taken back. */
static void switch_network(struct aw_loader *l, const struct aw_node *at, bool on)
{
	struct aw_image_stratum *stratum = &l->draft.strata[l->stratum];
	size_t i, kept = 0;

	stratum->network = on ? AW_DEFAULT_ALLOW : AW_DEFAULT_DENY;
	l->default_set[l->stratum][2] = true;
	aw_origin_add(l, at, "network.default", on ? "allow" : "deny");
	if (on)
		return;
	stratum->listen = 0;
	for (i = 0; i < l->draft.count; i++) {
		struct aw_draft_entry *e = &l->draft.entries[i];

		if (e->stratum == l->stratum &&
			(e->list == AW_LIST_NET_ALLOW || e->list == AW_LIST_NET_ASK ||
				e->list == AW_LIST_NET_LISTEN))
			aw_draft_entry_free(e);
		else
			l->draft.entries[kept++] = *e;
	}
	l->draft.count = kept;
}

/* Read ahead of all others, so that lists beside it are exceptions. */
static void check_bool(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_word_read(l, value, bools);
}

static void read_limit(struct aw_loader *l, const struct aw_node *value, int cpus)
{
	aw_limit_read(l, value, cpus ? "cpus" : "memory");
}

static const struct aw_shape amount_shape = {.kind = AW_SHAPE_AMOUNT,
	.pattern = "^[0-9.]+[kKmMgGtT]?[bB]?$",
	.entry = "amount"};

static const struct aw_key docker_keys[] = {
	{"image", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"memory_limit", read_limit, 0, AW_KEY_UNTRUSTED, &amount_shape,
		"limits.memory"},
	{"cpu_limit", read_limit, 1, AW_KEY_UNTRUSTED, &amount_shape, "limits.cpus"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

static const struct aw_shape docker_shape = {.kind = AW_SHAPE_MAP, .keys = docker_keys};

static void read_docker(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_keys_read(l, value, "docker", docker_keys);
}

/* --- restrictions --- */

static const char *const sections[] = {
	"filesystem", "exec", "network", "environment", "limits"};

static void read_section(struct aw_loader *l, const struct aw_node *value, int section)
{
	aw_section_read(l, value, sections[section]);
}

static const struct aw_key keys[] = {
	{"filesystem", read_section, 0, AW_KEY_UNTRUSTED, &aw_files_shape, "as above"},
	{"exec", read_section, 1, AW_KEY_UNTRUSTED, &aw_exec_shape, "as above"},
	{"network", read_section, 2, AW_KEY_UNTRUSTED, &aw_network_shape, "as above"},
	{"environment", read_section, 3, AW_KEY_UNTRUSTED, &aw_environment_shape,
		"as above"},
	{"limits", read_section, 4, AW_KEY_UNTRUSTED, &aw_limits_shape, "as above"},
	{"container", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"user", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"allow_networking", check_bool, 0, AW_KEY_UNTRUSTED, &aw_switch_shape,
		"network.default, in one word"},
	{"allow_read_folders", read_folders, AW_LIST_READ, AW_KEY_UNTRUSTED,
		&aw_paths_shape, "filesystem.read"},
	{"allow_write_folders", read_folders, AW_LIST_WRITE, AW_KEY_UNTRUSTED,
		&aw_paths_shape, "filesystem.write"},
	{"deny_folders", read_folders, AW_LIST_DENY, AW_KEY_UNTRUSTED, &aw_paths_shape,
		"filesystem.deny"},
	{"merge_with_defaults", check_bool, 0, AW_KEY_UNTRUSTED, &aw_switch_shape,
		"false: merge_strategy: replace"},
	{"docker", read_docker, 0, AW_KEY_UNTRUSTED, &docker_shape,
		"limits of a container"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

static const struct aw_shape restrictions_shape = {.kind = AW_SHAPE_MAP, .keys = keys};

/* What `restrictions` holds: our own sections, or the simple form. */
static void read_restrictions(
	struct aw_loader *l, const struct aw_node *map, int argument)
{
	const struct aw_node *network = aw_map_get(map, "allow_networking");

	(void)argument;
	if (network && network->kind == AW_NODE_TEXT &&
		strcmp(network->text, "true") == 0)
		switch_network(l, network, true);
	if (network && network->kind == AW_NODE_TEXT &&
		strcmp(network->text, "false") == 0)
		switch_network(l, network, false);
	aw_keys_read(l, map, "restrictions", keys);
}

static void add_system_folders(struct aw_loader *l, enum aw_stratum stratum)
{
	unsigned i;

	for (i = 0; system_folders[i]; i++)
		aw_built_in_entry(l, stratum, AW_LIST_READ, AW_RANK_BASE,
			system_folders[i], SYSTEM_FOLDERS_LINE + i);
}

void aw_implied_complete(struct aw_loader *l)
{
	int s;

	for (s = 0; s < AW_STRATA; s++) {
		if (!l->implied[s] || l->default_set[s][0])
			continue;
		l->draft.strata[s].files = l->implied[s];
		l->default_set[s][0] = true;
		if (l->implied[s] == AW_DEFAULT_DENY)
			add_system_folders(l, (enum aw_stratum)s);
	}
}

/* --- one section --- */

static const char *const strategies[] = {"extend", "replace", NULL};
static const struct aw_shape strategy_shape = {
	.kind = AW_SHAPE_WORD, .words = strategies};
static const struct aw_shape type_shape = {
	.kind = AW_SHAPE_WORD, .words = aw_runner_words};

static void read_strategy(
	struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_word_read(l, value, strategies);
}

static void read_type(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_word_read(l, value, aw_runner_words);
}

static const struct aw_key section_keys[] = {
	{"type", read_type, 0, AW_KEY_UNTRUSTED, &type_shape, "the runner, once more"},
	{"restrictions", read_restrictions, 0, AW_KEY_UNTRUSTED, &restrictions_shape,
		"the rules"},
	{"merge_strategy", read_strategy, 0, AW_KEY_UNTRUSTED, &strategy_shape,
		"on the layers below, or in their place"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

static const struct aw_shape section_shape = {
	.kind = AW_SHAPE_MAP, .keys = section_keys};
const struct aw_shape aw_runners_shape = {
	.kind = AW_SHAPE_NAMED, .words = aw_runner_words, .first = &section_shape};

static bool says(const struct aw_node *node, const char *word)
{
	return node && node->kind == AW_NODE_TEXT && strcmp(node->text, word) == 0;
}

/* Whether what is below is dropped; "merge_with_defaults: false" means the same. */
static bool replaces(struct aw_loader *l, const struct aw_node *section)
{
	const struct aw_node *strategy = aw_map_get(section, "merge_strategy");
	const struct aw_node *own = aw_map_get(section, "restrictions");
	const struct aw_node *map =
		own ? own : aw_map_get(section, "default_restrictions");
	const struct aw_node *merge =
		map ? aw_map_get(map, "merge_with_defaults") : NULL;
	const struct aw_node *at = says(strategy, "replace") ? strategy : merge;

	if (strategy && merge && says(strategy, "replace") != says(merge, "false"))
		aw_warn(l, merge,
			"'merge_with_defaults' is ignored: 'merge_strategy' says otherwise");
	if (!says(strategy, "replace") && (strategy || !says(merge, "false")))
		return false;
	if (l->source->trust == AW_UNTRUSTED)
		aw_warn(l, at, "'replace' is ignored: this file is not trusted");
	else if (l->stratum == AW_STRATUM_SYSTEM)
		aw_warn(l, at,
			"'replace' is ignored: nothing replaces the system policy");
	else
		return true;
	return false;
}

/*
 * One {restrictions, merge_strategy} of the runner that is used; name is for messages.
 * A `replace` drops what the layers below say.
 */
static void read_applied(
	struct aw_loader *l, const struct aw_node *section, const char *name)
{
	const struct aw_node *type = aw_map_get(section, "type");

	if (replaces(l, section))
		aw_below_drop(l, false);
	aw_keys_read(l, section, name, section_keys);
	if (type && type->kind == AW_NODE_TEXT && strcmp(type->text, name) != 0)
		aw_report(l, type,
			"these are the rules for runner %s; 'runner: %.40s' chooses another",
			name, type->text);
}

static void read_idle(struct aw_loader *l, const struct aw_node *section)
{
	aw_keys_read(l, section, "restricted_runners", section_keys);
}

/* --- all sections --- */

void aw_runners_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	l->pending.runners = value;
}

void aw_runners_apply(struct aw_loader *l, const struct aw_node *section)
{
	size_t i, j;

	if (section->kind != AW_NODE_MAP) {
		aw_report(l, section,
			"expected a map of runners, such as {bwrap: {restrictions: "
			"{deny_folders: [\"~/.ssh\"]}}}");
		return;
	}
	l->sections = true;
	for (i = 0; i < section->count; i += 2) {
		const struct aw_node *name = section->items[i];
		const struct aw_node *value = section->items[i + 1];

		if (aw_word_read(l, name, aw_runner_words) < 0)
			continue;
		for (j = 0; j < i; j += 2)
			if (says(section->items[j], name->text))
				break;
		if (j < i)
			aw_report(l, name,
				"'%s' stands here a second time, after line %u",
				name->text, section->items[j]->line);
		else if (!l->idle && l->runner && strcmp(l->runner, name->text) == 0)
			read_applied(l, value, name->text);
		else
			aw_redundant_read(l, value, read_idle);
	}
}

/* --- the older form: one section for all runners, and the runner --- */

static const struct aw_key older_keys[] = {
	{"type", read_type, 0, AW_KEY_UNTRUSTED, &type_shape, "the runner"},
	{"default_type", read_type, 0, AW_KEY_UNTRUSTED, &type_shape, "the runner"},
	{"restrictions", read_restrictions, 0, AW_KEY_UNTRUSTED, &restrictions_shape,
		"the rules"},
	{"default_restrictions", read_restrictions, 0, AW_KEY_UNTRUSTED,
		&restrictions_shape, "the rules"},
	{"merge_strategy", read_strategy, 0, AW_KEY_UNTRUSTED, &strategy_shape,
		"on the layers below, or in their place"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

const struct aw_shape aw_older_runner_shape = {
	.kind = AW_SHAPE_MAP, .keys = older_keys};

void aw_older_runner_read(
	struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	l->pending.older = value;
}

void aw_older_runner_apply(
	struct aw_loader *l, const struct aw_node *section, bool chosen)
{
	const struct aw_node *type = aw_map_get(section, "type");

	aw_warn(l, section,
		"'restricted_runner' is an older form; 'runner' and "
		"'restricted_runners: {RUNNER: ...}' say the same");
	if (!type)
		type = aw_map_get(section, "default_type");
	if (type && l->source->trust == AW_UNTRUSTED)
		aw_warn(l, type,
			"'restricted_runner.type' is ignored: this file is not trusted");
	else if (type && !chosen)
		aw_runner_read(l, type);
	if (replaces(l, section))
		aw_below_drop(l, false);
	aw_keys_read(l, section, "restricted_runner", older_keys);
}
