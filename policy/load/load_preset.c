/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_preset.c - fragments that ship with agentwatch, and the one for a command.
 *
 * A preset is read where it is named; its entries are brought in front of the files'
 * own afterwards (load_builtin.c), so that those can take them out again.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "policy/load/load_internal.h"
#include "policy/port_file.h"

#define PRESETS_MAX 100
#define NAME_MAX_LEN 64

static const char layer[] = "preset";

static const struct {
	const char *command, *preset;
} commands[] = {
	{"aider", "aider"},
	{"cargo", "rust"},
	{"claude", "claude-code"},
	{"claude-agent-acp", "claude-code"},
	{"claude-code-acp", "claude-code"},
	{"codex", "codex"},
	{"corepack", "node"},
	{"gemini", "gemini-cli"},
	{"go", "go"},
	{"goose", "goose"},
	{"gradle", "java"},
	{"mvn", "java"},
	{"node", "node"},
	{"npm", "node"},
	{"npx", "node"},
	{"opencode", "opencode"},
	{"pip", "python"},
	{"pip3", "python"},
	{"pnpm", "node"},
	{"pnpx", "node"},
	{"python", "python"},
	{"python3", "python"},
	{"qwen", "qwen-code"},
	{"rustc", "rust"},
	{"uv", "python"},
	{"uvx", "python"},
	{"yarn", "node"},
};

const char *aw_preset_command(size_t i, const char **ret_preset)
{
	if (i >= ARRAY_SIZE(commands))
		return NULL;
	*ret_preset = commands[i].preset;
	return commands[i].command;
}

static bool good_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return len > 0 && len < NAME_MAX_LEN && name[len] == '\0';
}

/* What there is, for the message about what there is not. */
static void no_such_preset(struct aw_loader *l, const struct aw_node *at)
{
	struct dirent **found;
	const char *names[PRESETS_MAX + 1], *nearest;
	int count = scandir(l->variables->presets, &found, NULL, alphasort), i, n = 0;
	char all[400] = "";
	size_t used = 0;

	for (i = 0; i < count; i++) {
		char *end = strstr(found[i]->d_name, ".yaml");

		if (!end || found[i]->d_name[0] == '.' || n == PRESETS_MAX)
			continue;
		*end = '\0';
		names[n++] = found[i]->d_name;
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
				n > 1 ? ", " : "", found[i]->d_name);
	}
	names[n] = NULL;
	nearest = aw_nearest(at->text, names);
	if (nearest)
		aw_report(l, at, "no preset '%.60s'; did you mean '%s'?", at->text,
			nearest);
	else
		aw_report(l, at, "no preset '%.60s'; there are: %s", at->text,
			n ? all : "none; install agentwatch again");
	for (i = 0; i < count; i++)
		free(found[i]);
	if (count >= 0)
		free(found);
}

static bool was_read(const struct aw_loader *l, const char *name)
{
	const struct aw_preset *p;

	for (p = l->presets; p; p = p->next)
		if (!p->dropped && p->stratum == l->stratum &&
			strcmp(p->name, name) == 0)
			return true;
	return false;
}

static struct aw_preset *add(struct aw_loader *l, const struct aw_node *at)
{
	struct aw_preset *preset = aw_new(l, 1, sizeof(*preset));

	if (!preset)
		return NULL;
	preset->next = l->presets;
	l->presets = preset;
	preset->stratum = l->stratum;
	preset->name = aw_copy(l, at->text);
	if (asprintf(&preset->file, "%s/%s.yaml", l->variables->presets, at->text) <
		0) {
		preset->file = NULL;
		l->failed = true;
	}
	return preset->name && preset->file ? preset : NULL;
}

static void read_preset(struct aw_loader *l, const struct aw_node *at)
{
	const struct aw_policy_source *outer = l->source;
	struct aw_policy_source source = {NULL, layer, AW_TRUSTED};
	struct aw_preset *preset;
	struct aw_tree tree;

	if (at->kind != AW_NODE_TEXT || !good_name(at->text)) {
		aw_report(l, at, "expected the name of a preset, such as node");
		return;
	}
	if (!l->variables->presets) {
		aw_report(l, at,
			"the presets that ship with agentwatch are not beside the "
			"program; install it again");
		return;
	}
	if (was_read(l, at->text))
		return;
	preset = add(l, at);
	if (!preset)
		return;
	if (access(preset->file, F_OK) < 0) {
		no_such_preset(l, at);
		return;
	}
	if (!aw_is_preset(outer))
		aw_origin_add(l, at, "preset", at->text);
	source.file = preset->file;
	l->source = &source;
	if (aw_source_read(l, &tree)) {
		aw_document_read(l, tree.root);
		aw_tree_free(&tree);
	}
	l->source = outer;
}

void aw_preset_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	size_t i;

	(void)argument;
	if (!aw_list_check(l, value))
		return;
	if (l->stratum == AW_STRATUM_TRUSTED && !aw_is_preset(l->source))
		l->no_preset = value->count == 0;
	for (i = 0; i < value->count; i++)
		read_preset(l, value->items[i]);
}

void aw_preset_pick(struct aw_loader *l)
{
	static const struct aw_policy_source built_in = {
		"built-in", "built-in", AW_TRUSTED};
	const char *command = l->variables->command;
	struct aw_node at = {.kind = AW_NODE_TEXT, .line = 1, .column = 1};
	size_t i;

	if (!aw_base_closed(l) || l->no_preset || !command)
		return;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].command, command) != 0)
			continue;
		at.text = (char *)commands[i].preset;
		l->source = &built_in;
		l->stratum = AW_STRATUM_TRUSTED;
		if (was_read(l, at.text))
			return;
		read_preset(l, &at);
		l->policy.picked = aw_copy(l, at.text);
		return;
	}
}
