/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mitto.c - Mitto's settings.json (or .mittorc) and a workspace's .mittorc.
 *
 * Resolved as Mitto does for one agent and one type of runner, each level extending or
 * replacing what is below: global restricted_runners[TYPE], the older global
 * restricted_runner.default_restrictions, the agent's restricted_runners[TYPE], the
 * agent's older restricted_runner.restrictions, the workspace's
 * restricted_runners[TYPE] and its older restricted_runner.restrictions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/import/import.h"
#include "supervisor/util/cleanup.h"

enum { LEVELS = 6, FOLDERS = 3 };

static const struct {
	const char *name;
	enum aw_import_key key;
} folder_keys[FOLDERS] = {
	{"allow_read_folders", AW_IMPORT_READ},
	{"allow_write_folders", AW_IMPORT_WRITE},
	{"deny_folders", AW_IMPORT_DENY},
};

/* What holds so far: nodes of the documents. */
struct resolved {
	const struct aw_node *networking, *defaults, *docker;
	const char *networking_file, *defaults_file, *docker_file;
	const struct aw_node
		*restrictions[LEVELS]; /* whose directories count, in order */
	const char *files[LEVELS];
	size_t count;
};

struct mitto {
	struct aw_import *import;
	const struct aw_node *settings, *agent, *workspace;
	const char *settings_file, *workspace_file, *type;
	struct resolved found;
};

static void take_value(const struct aw_node *restrictions, const char *key,
	const char *file, const struct aw_node **ret, const char **ret_file)
{
	const struct aw_node *value = aw_foreign_get(restrictions, key);

	if (value) {
		*ret = value;
		*ret_file = file;
	}
}

static void take_level(struct mitto *m, const char *file,
	const struct aw_node *restrictions, const char *strategy)
{
	struct resolved *found = &m->found;

	if (!restrictions || restrictions->kind != AW_NODE_MAP)
		return;
	if (strategy && strcmp(strategy, "replace") == 0)
		memset(found, 0, sizeof(*found));
	found->restrictions[found->count] = restrictions;
	found->files[found->count++] = file;
	take_value(restrictions, "allow_networking", file, &found->networking,
		&found->networking_file);
	take_value(restrictions, "merge_with_defaults", file, &found->defaults,
		&found->defaults_file);
	take_value(restrictions, "docker", file, &found->docker, &found->docker_file);
}

/* restricted_runners[TYPE], then the older restricted_runner, of one level. */
static void take_runners(struct mitto *m, const char *file, const struct aw_node *level,
	const char *older_key)
{
	const struct aw_node *runners = aw_foreign_get(level, "restricted_runners");
	const struct aw_node *one = aw_foreign_get(runners, m->type);
	const struct aw_node *older = aw_foreign_get(level, "restricted_runner");

	if (one)
		take_level(m, file, aw_foreign_get(one, "restrictions"),
			aw_foreign_text(one, "merge_strategy"));
	if (!older)
		return;
	m->import->file = file;
	aw_import_note(m->import, older,
		"'restricted_runner' is Mitto's older form; it was read");
	take_level(m, file, aw_foreign_get(older, older_key),
		aw_foreign_text(older, "merge_strategy"));
}

/* "- {name: x, ...}" or the older "- x: {...}". */
static const struct aw_node *agent_of(const struct aw_node *item, const char **ret_name)
{
	*ret_name = aw_foreign_text(item, "name");
	if (*ret_name || item->kind != AW_NODE_MAP || item->count != 2 ||
		item->items[0]->kind != AW_NODE_TEXT)
		return item;
	*ret_name = item->items[0]->text;
	return item->items[1];
}

static void note_other_agent(
	struct mitto *m, const struct aw_node *at, const char *name)
{
	if (!aw_foreign_get(at, "restricted_runners") &&
		!aw_foreign_get(at, "restricted_runner"))
		return;
	aw_import_note(m->import, at,
		"the restrictions of agent '%.60s' are for a policy of its own; "
		"--agent takes them",
		name ? name : "");
}

static int find_agent(struct mitto *m, struct aw_error *err)
{
	static const char *const lists[] = {"acp_servers", "acp"};
	const char *wanted = m->import->agent, *name;

	for (size_t l = 0; l < 2; l++) {
		const struct aw_node *list = aw_foreign_get(m->settings, lists[l]);

		for (size_t i = 0;
			list && list->kind == AW_NODE_LIST && i < list->count; i++) {
			const struct aw_node *agent = agent_of(list->items[i], &name);

			if (wanted && name && strcmp(wanted, name) == 0)
				m->agent = agent;
			else if (!wanted)
				note_other_agent(m, agent, name);
		}
	}
	if (wanted && !m->agent)
		return aw_fail(err, EINVAL,
			"%s has no agent '%s' below acp_servers or acp; --agent takes "
			"one of its names",
			m->settings_file, wanted);
	return 0;
}

static void find_type(struct mitto *m)
{
	const struct aw_node *global = aw_foreign_get(m->settings, "restricted_runner");
	const struct aw_node *own = aw_foreign_get(m->agent, "restricted_runner");

	m->type = m->import->type;
	if (!m->type)
		m->type = aw_foreign_text(own, "type");
	if (!m->type)
		m->type = aw_foreign_text(global, "default_type");
	if (!m->type)
		m->type = aw_foreign_text(global, "type");
	if (!m->type)
		m->type = "exec";
}

/* Mitto's variables that we have under other names. */
static void put_folder(
	struct mitto *m, enum aw_import_key key, const struct aw_node *at)
{
	static const struct {
		const char *theirs, *ours;
	} names[] = {
		{"$MITTO_WORKING_DIR", "$WORKSPACE"},
		{"${MITTO_WORKING_DIR}", "$WORKSPACE"},
		{"$MITTO_DIR", "$env:MITTO_DIR"},
		{"${MITTO_DIR}", "$env:MITTO_DIR"},
	};
	AW_FREE char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i].theirs);

		if (strncmp(at->text, names[i].theirs, len) != 0 ||
			(at->text[len] && at->text[len] != '/'))
			continue;
		if (names[i].ours[1] == 'e')
			aw_import_note(m->import, at,
				"MITTO_DIR has to be set in the environment of agentwatch");
		if (asprintf(&text, "%s%s", names[i].ours, at->text + len) < 0) {
			text = NULL;
			m->import->failed = true;
			return;
		}
		break;
	}
	aw_import_path(m->import, key, at, text ? text : at->text);
}

static void put_folders(struct mitto *m)
{
	for (size_t i = 0; i < m->found.count; i++)
		for (size_t k = 0; k < FOLDERS; k++) {
			const struct aw_node *list = aw_foreign_get(
				m->found.restrictions[i], folder_keys[k].name);

			m->import->file = m->found.files[i];
			for (size_t j = 0;
				list && list->kind == AW_NODE_LIST && j < list->count;
				j++)
				if (list->items[j]->kind == AW_NODE_TEXT)
					put_folder(
						m, folder_keys[k].key, list->items[j]);
		}
}

static void put_docker(struct aw_import *import, const struct aw_node *docker)
{
	static const struct aw_foreign keys[] = {
		{"image", NULL, 0,
			"no container is used; the programs of this system are"},
		{"memory_limit", aw_foreign_texts, AW_IMPORT_MEMORY, NULL},
		{"cpu_limit", aw_foreign_texts, AW_IMPORT_CPUS, NULL},
		{NULL, NULL, 0, NULL},
	};

	aw_foreign_read(import, docker, "docker", true, keys);
}

static void put_runner(struct mitto *m)
{
	static const char *const ours[] = {"exec", "landlock", "bwrap", "firejail"};
	const struct aw_node nowhere = {.line = 1, .column = 1};

	m->import->file = m->settings_file;
	aw_import_put(m->import, AW_IMPORT_MODE, NULL,
		strcmp(m->type, "exec") == 0 ? "audit" : "enforce");
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strcmp(m->type, ours[i]) == 0) {
			aw_import_put(m->import, AW_IMPORT_RUNNER, NULL, ours[i]);
			return;
		}
	aw_import_note(m->import, &nowhere,
		"there is no runner '%.60s' on this system; bwrap or landlock is "
		"taken, whichever is there",
		m->type);
}

/* Lists that say what may be read mean that the rest may not. */
static void put_defaults(struct mitto *m)
{
	bool bare = m->found.defaults && m->found.defaults->kind == AW_NODE_TEXT &&
		    strcmp(m->found.defaults->text, "false") == 0;

	m->import->file = m->found.networking_file;
	if (m->found.networking && m->found.networking->kind == AW_NODE_TEXT)
		aw_import_put(m->import, AW_IMPORT_NET_DEFAULT, m->found.networking,
			aw_foreign_true(m->import, m->found.networking) ? "allow"
									: "deny");
	if (!aw_import_has(m->import, AW_IMPORT_READ)) {
		if (aw_import_has(m->import, AW_IMPORT_WRITE))
			aw_import_put(
				m->import, AW_IMPORT_FILES_DEFAULT, NULL, "read-only");
		return;
	}
	aw_import_put(m->import, AW_IMPORT_FILES_DEFAULT, NULL, "deny");
	m->import->file = m->found.defaults_file;
	if (bare)
		aw_import_note(m->import, m->found.defaults,
			"programs do not start without the system's directories; they "
			"stay readable");
	aw_import_system(m->import, NULL);
}

int aw_import_mitto(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err)
{
	struct mitto m = {.import = import,
		.settings = documents[0].tree.root,
		.workspace = count > 1 ? documents[1].tree.root : NULL,
		.settings_file = documents[0].file,
		.workspace_file = count > 1 ? documents[1].file : NULL};

	if (find_agent(&m, err) < 0)
		return -1;
	find_type(&m);
	take_runners(&m, m.settings_file, m.settings, "default_restrictions");
	take_runners(&m, m.settings_file, m.agent, "restrictions");
	if (m.workspace)
		take_runners(&m, m.workspace_file, m.workspace, "restrictions");
	put_runner(&m);
	put_folders(&m);
	put_defaults(&m);
	import->file = m.found.docker_file;
	if (m.found.docker)
		put_docker(import, m.found.docker);
	return 0;
}
