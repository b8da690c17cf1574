/* SPDX-License-Identifier: Apache-2.0 */
/* load_protect.c - protections: a stratum of their own, which no "!" reaches into. */
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "policy/load/load_internal.h"
#include "policy/port_file.h"

#define BASES_MAX 4
#define FILE_NAME "protections"

enum protection {
#define AW_PROTECTION(id, name, about) id,
#define AW_PROTECT(id, list, text)
#include "policy/load/protections.def"
	PROTECTIONS
};

static const struct {
	enum protection protection;
	enum aw_list list;
	const char *text;
} rows[] = {
#define AW_PROTECTION(id, name, about)
#define AW_PROTECT(id, list, text) {id, AW_LIST_##list, text},
#include "policy/load/protections.def"
};

enum { ROWS = ARRAY_SIZE(rows) };

/* What "~/" and its kin stand for here. */
struct bases {
	const char *paths[BASES_MAX]; /* owned */
	size_t count;
};

struct protector {
	struct aw_loader *l;
	struct bases homes, configs, runtimes;
};

static const char *const on_off[] = {"on", "off", NULL};

/* A preset stands below the files: what one of them says holds, wherever it stands. */
static bool file_has_said(
	struct aw_loader *l, const struct aw_node *value, int i, int off)
{
	if (!aw_is_preset(l->source)) {
		l->protection_named |= 1u << i;
		return false;
	}
	if (!(l->protection_named & (1u << i)))
		return false;
	if (off && !(l->unprotected & (1u << i)))
		aw_warn(l, value,
			"'protections: {%s: off}' of this preset is ignored: a policy "
			"file has it on",
			aw_protection_name((unsigned)i));
	return true;
}

static void switch_one(struct aw_loader *l, const struct aw_node *value, int i)
{
	int off = aw_word_read(l, value, on_off);
	char key[64];

	if (off < 0 || file_has_said(l, value, i, off))
		return;
	if (off && (l->protected & (1u << i)) && l->source->trust != AW_SYSTEM) {
		aw_warn(l, value,
			"'protections: {%s: off}' is ignored: the system policy has it on",
			aw_protection_name((unsigned)i));
		return;
	}
	if (l->source->trust == AW_SYSTEM)
		l->protected = (l->protected & ~(1u << i)) | (off ? 0 : 1u << i);
	l->unprotected = (l->unprotected & ~(1u << i)) | (off ? 1u << i : 0);
	snprintf(key, sizeof(key), "protections.%s", aw_protection_name((unsigned)i));
	aw_origin_add(l, value, key, on_off[off]);
}

static const struct aw_shape switch_shape = {.kind = AW_SHAPE_WORD, .words = on_off};

static const struct aw_key keys[] = {
#define AW_PROTECTION(id, name, about)                                                 \
	{name, switch_one, id, AW_KEY_PRESET, &switch_shape, about},
#define AW_PROTECT(id, list, text)
#include "policy/load/protections.def"
	{NULL, NULL, 0, 0, NULL, NULL},
};

static const struct aw_shape map_shape = {.kind = AW_SHAPE_MAP, .keys = keys};
const struct aw_shape aw_protections_shape = {
	.kind = AW_SHAPE_EITHER, .first = &switch_shape, .second = &map_shape};

const char *aw_protection_name(unsigned i)
{
	return i < PROTECTIONS ? keys[i].name : NULL;
}

void aw_protections_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	int i;

	(void)argument;
	if (value->kind == AW_NODE_MAP) {
		aw_keys_read(l, value, "protections", keys);
		return;
	}
	if (aw_word_read(l, value, on_off) < 0)
		return;
	for (i = 0; i < PROTECTIONS; i++)
		switch_one(l, value, i);
}

static void add_base(
	struct aw_loader *l, struct bases *bases, const char *path, const char *below)
{
	char *text = NULL;
	size_t i;

	if (!path || path[0] != '/' || strcmp(path, "/") == 0 ||
		bases->count == BASES_MAX)
		return;
	if (asprintf(&text, "%s%s", path, below) < 0) {
		l->failed = true;
		return;
	}
	for (i = 0; i < bases->count; i++)
		if (strcmp(bases->paths[i], text) == 0) {
			free(text);
			return;
		}
	bases->paths[bases->count++] = text;
}

static void free_bases(struct bases *bases)
{
	while (bases->count > 0)
		free((char *)bases->paths[--bases->count]);
}

/* "NAME: TEXT" is what the log shows of a rule. */
static void name_entry(struct aw_loader *l, struct aw_draft_entry *entry,
	enum protection protection, const char *text)
{
	char *named = NULL;

	entry->file = FILE_NAME;
	if (asprintf(&named, "%s: %s", keys[protection].name, text) < 0) {
		l->failed = true;
		return;
	}
	free(entry->text);
	entry->text = named;
}

static void add_entry(struct aw_loader *l, enum protection protection,
	enum aw_list list, const char *pattern, const char *shown, unsigned line)
{
	struct aw_draft_entry *entry;

	if (l->unprotected & (1u << protection))
		return;
	entry = aw_built_in_entry(
		l, AW_STRATUM_PROTECTIONS, list, AW_RANK_BASE, pattern, line);
	if (entry)
		name_entry(l, entry, protection, shown);
}

/* base and rest as one path; where that is a symbolic link, what it leads to as well. */
static void add_path(struct protector *p, size_t row, const char *prefix,
	const char *base, const char *rest, bool first)
{
	struct aw_loader *l = p->l;
	char *path = NULL, *plain = NULL, *pattern = NULL, *real = NULL;
	struct stat st;

	if (asprintf(&path, "%s%s", base, rest) < 0 ||
		!(plain = aw_path_quoted(l, path)) ||
		asprintf(&pattern, "%s%s", prefix, plain) < 0) {
		l->failed = true;
		free(path);
		free(plain);
		return;
	}
	add_entry(l, rows[row].protection, rows[row].list, pattern,
		first ? rows[row].text : pattern, (unsigned)row + 1);
	free(pattern);
	free(plain);
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) &&
		(real = realpath(path, NULL)) && (plain = aw_path_quoted(l, real))) {
		if (asprintf(&pattern, "%s%s", prefix, plain) >= 0) {
			add_entry(l, rows[row].protection, rows[row].list, pattern,
				pattern, (unsigned)row + 1);
			free(pattern);
		}
		free(plain);
	}
	free(real);
	free(path);
}

static void add_row(struct protector *p, size_t row)
{
	static const char unix_prefix[] = "unix:";
	const char *text = rows[row].text, *prefix = "";
	const struct bases *bases = NULL;
	size_t i;

	if (p->l->unprotected & (1u << rows[row].protection))
		return;
	if (strncmp(text, unix_prefix, 5) == 0) {
		prefix = unix_prefix;
		text += 5;
	}
	if (strncmp(text, "~/", 2) == 0)
		bases = &p->homes;
	else if (strncmp(text, "$CONFIG/", 8) == 0)
		bases = &p->configs;
	else if (strncmp(text, "$RUNTIME/", 9) == 0)
		bases = &p->runtimes;
	if (bases) {
		for (i = 0; i < bases->count; i++)
			add_path(p, row, prefix, bases->paths[i], strchr(text, '/'),
				i == 0);
	} else if (text[0] == '/') {
		add_path(p, row, prefix, "", text, true);
	} else {
		add_entry(p->l, rows[row].protection, rows[row].list, rows[row].text,
			rows[row].text, (unsigned)row + 1);
	}
}

void aw_protect_keyed(struct aw_loader *l, const char *path)
{
	char *real = realpath(path, NULL);
	const char *const names[] = {path, real && strcmp(real, path) ? real : NULL};

	for (int i = 0; i < 2; i++) {
		char *plain = names[i] ? aw_path_quoted(l, names[i]) : NULL;

		if (plain)
			add_entry(l, CONFIG, AW_LIST_KEYED, plain, names[i], ROWS + 2);
		free(plain);
	}
	free(real);
}

static void add_git_config(struct aw_loader *l, const struct protector *p,
	const char *base, const char *rest, bool named)
{
	char *file = NULL;

	if (!base || base[0] != '/' || l->unprotected & (1u << CONFIG))
		return;
	if (asprintf(&file, "%s%s", base, rest) < 0) {
		l->failed = true;
		return;
	}
	/* by its own name too, so that another one of the same file can be told */
	if (!named && access(file, F_OK) == 0)
		aw_protect_keyed(l, file);
	aw_gitconfig_add(l, p->homes.count ? p->homes.paths[0] : NULL, file);
	free(file);
}

/* The files that git reads in the workspace: what they include is judged like them. */
static void add_git_configs(struct aw_loader *l, const struct protector *p)
{
	const struct aw_policy_variables *v = l->variables;
	size_t i;

	for (i = 0; i < p->homes.count; i++)
		add_git_config(l, p, p->homes.paths[i], "/.gitconfig", true);
	for (i = 0; i < p->configs.count; i++)
		add_git_config(l, p, p->configs.paths[i], "/git/config", true);
	add_git_config(l, p, "/etc", "/gitconfig", true);
	add_git_config(l, p, v->workspace, "/.git/config", false);
	add_git_config(l, p, v->workspace, "/.git/config.worktree", false);
	add_git_config(l, p, v->git_dir, "/config", false);
}

/* A file or directory of our own: not changed, and its sockets not spoken to. */
static void add_own(struct aw_loader *l, const char *path, bool sockets)
{
	char *plain, *pattern;

	if (!path || path[0] != '/' || !(plain = aw_path_quoted(l, path)))
		return;
	add_entry(l, OWN, AW_LIST_DENY_WRITE, plain, plain, ROWS + 1);
	if (sockets && asprintf(&pattern, "unix:%s", plain) >= 0) {
		add_entry(l, OWN, AW_LIST_NET_DENY, pattern, pattern, ROWS + 1);
		free(pattern);
	}
	free(plain);
}

static void add_files(
	struct aw_loader *l, const struct aw_policy_source *sources, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		/* not a descriptor or pipe: a shell's <(...) has no name to protect */
		char *real = strncmp(sources[i].file, "/proc/", 6) == 0 ||
					     strncmp(sources[i].file, "/dev/", 5) == 0
				     ? NULL
				     : realpath(sources[i].file, NULL);

		add_own(l, real, false);
		free(real);
	}
}

/* A directory of ours as it is called without the variables of this session. */
static void add_usual(
	struct aw_loader *l, const char *base, const char *below, const char *now)
{
	char *folder = NULL;

	if (asprintf(&folder, "%s%s", base, below) < 0)
		l->failed = true;
	else if (!now || strcmp(folder, now) != 0)
		add_own(l, folder, false);
	free(folder);
}

/* Where policies and records of trust would be looked for by others. */
static void add_usual_folders(struct aw_loader *l, const struct protector *p)
{
	size_t i;

	for (i = 0; i < p->configs.count; i++)
		add_usual(l, p->configs.paths[i], "/agentwatch",
			l->variables->agentwatch_dir);
	for (i = 0; i < p->homes.count; i++)
		add_usual(l, p->homes.paths[i], "/.local/state/agentwatch",
			l->variables->state_dir);
}

void aw_protections_add(
	struct aw_loader *l, const struct aw_policy_source *sources, size_t count)
{
	const struct aw_policy_variables *v = l->variables;
	struct protector p = {.l = l};
	char user[32];
	size_t i;

	snprintf(user, sizeof(user), "/run/user/%u", (unsigned)geteuid());
	add_base(l, &p.homes, v->home, "");
	add_base(l, &p.homes, v->account_home, "");
	for (i = 0; i < p.homes.count; i++)
		add_base(l, &p.configs, p.homes.paths[i], "/.config");
	add_base(l, &p.configs, aw_environment("XDG_CONFIG_HOME", 15), "");
	add_base(l, &p.runtimes, aw_environment("XDG_RUNTIME_DIR", 15), "");
	add_base(l, &p.runtimes, user, "");
	for (i = 0; i < ROWS; i++)
		add_row(&p, i);
	add_git_configs(l, &p);
	add_usual_folders(l, &p);
	add_own(l, v->agentwatch_dir, false);
	add_own(l, v->state_dir, false);
	add_own(l, v->runtime_dir, true);
	add_own(l, v->log, false);
	add_own(l, l->policy.log, false);
	add_own(l, v->presets, false);
	for (i = 0; i < ARRAY_SIZE(v->programs); i++)
		add_own(l, v->programs[i], false);
	add_files(l, sources, count);
	free_bases(&p.homes);
	free_bases(&p.configs);
	free_bases(&p.runtimes);
	/* git init and clone copy sample hooks, and give up when they may not */
	if (l->policy.mode == AW_ENFORCE && !(l->unprotected & (1u << HOOKS)))
		aw_setting_add(l, "GIT_TEMPLATE_DIR", "");
	l->policy.unprotected = l->unprotected;
}
