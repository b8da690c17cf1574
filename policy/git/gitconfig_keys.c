/* SPDX-License-Identifier: Apache-2.0 */
/* gitconfig_keys.c - which keys are harmless, and what is new in a configuration. */
#include <stdio.h>
#include <string.h>

#include "policy/array.h"
#include "policy/git/gitconfig.h"
#include "policy/path.h"

/* More of them than anybody sets by hand; each is looked for in the text before. */
enum { RUNNING_MAX = 200 };

enum sub { NONE, SOME, ANY };
static const struct {
	const char *section, *key;
	enum sub sub;
	enum aw_gitconfig_when when;
	enum aw_gitconfig_effect effect;
} rows[] = {
#define AW_GIT_KEY(section, sub, key, when, effect)                                    \
	{section, key, sub, AW_GITCONFIG_##when, AW_GITCONFIG_##effect},
#include "policy/git/gitconfig.def"
};

/* Harmless keys: all of a section, or those in a list, or only below `sub`. */
static const struct {
	const char *section, *sub, *keys;
} harmless[] = {
#define AW_GIT_OPEN(section, keys) {section, NULL, keys},
#define AW_GIT_OPEN_IN(section, sub, keys) {section, sub, keys},
#include "policy/git/gitconfig.def"
};

static const char *const free_sections[] = {
#define AW_GIT_FREE(sections) sections,
#include "policy/git/gitconfig.def"
};

/* A name taken apart: section up to the first dot, key behind the last. */
struct parts {
	const char *section, *sub, *key; /* sub is NULL without one */
	size_t section_len, sub_len, key_len;
	bool has_sub;
};

static bool take_apart(const char *name, size_t len, struct parts *ret)
{
	const char *first = memchr(name, '.', len), *last = name + len;

	if (!first)
		return false;
	while (*--last != '.')
		;
	*ret = (struct parts){.section = name,
		.section_len = (size_t)(first - name),
		.key = last + 1,
		.key_len = (size_t)(name + len - last - 1),
		.has_sub = last != first};
	if (ret->has_sub) {
		ret->sub = first + 1;
		ret->sub_len = (size_t)(last - first - 1);
	}
	return true;
}

static bool is_text(const char *bytes, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(bytes, text, len) == 0;
}

bool aw_gitconfig_lists(const char *list, const char *word, size_t len)
{
	for (size_t n; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n == len && memcmp(list, word, n) == 0)
			return true;
	}
	return false;
}

static bool key_matches(const struct parts *p, const char *pattern)
{
	size_t len = strlen(pattern), fixed = len - 1;

	if (pattern[0] == '*')
		return p->key_len >= fixed &&
		       memcmp(p->key + p->key_len - fixed, pattern + 1, fixed) == 0;
	if (pattern[fixed] == '*')
		return p->key_len >= fixed && memcmp(p->key, pattern, fixed) == 0;
	return is_text(p->key, p->key_len, pattern);
}

/* A key that no row is about may be another tool's, and its value a program. */
static bool is_harmless(const struct parts *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(free_sections); i++)
		if (aw_gitconfig_lists(free_sections[i], p->section, p->section_len))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (is_text(p->section, p->section_len, harmless[i].section) &&
			(!harmless[i].sub ||
				(p->has_sub && is_text(p->sub, p->sub_len,
						       harmless[i].sub))) &&
			(strcmp(harmless[i].keys, "*") == 0 ||
				aw_gitconfig_lists(
					harmless[i].keys, p->key, p->key_len)))
			return true;
	return false;
}

enum aw_gitconfig_effect aw_gitconfig_effect(
	const char *name, size_t len, const char *value)
{
	struct parts p;
	bool known = false;

	if (!take_apart(name, len, &p))
		return AW_GITCONFIG_NOTHING;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!is_text(p.section, p.section_len, rows[i].section) ||
			(rows[i].sub == NONE && p.has_sub) ||
			(rows[i].sub == SOME && !p.has_sub) ||
			!key_matches(&p, rows[i].key))
			continue;
		if (aw_gitconfig_counts(rows[i].when, p.sub, p.sub_len, value))
			return rows[i].effect;
		known = true;
	}
	return known || is_harmless(&p) ? AW_GITCONFIG_NOTHING : AW_GITCONFIG_UNKNOWN;
}

bool aw_gitconfig_includes(const char *name, size_t len)
{
	struct parts p;

	return take_apart(name, len, &p) && is_text(p.key, p.key_len, "path") &&
	       is_text(p.section, p.section_len, p.has_sub ? "includeif" : "include");
}

static bool same_entry(const struct aw_gitconfig *a, const struct aw_gitconfig *b)
{
	return a->name_len == b->name_len &&
	       memcmp(a->name, b->name, a->name_len) == 0 &&
	       a->has_value == b->has_value &&
	       (!a->has_value ||
		       (a->value_len == b->value_len &&
			       memcmp(a->value, b->value, a->value_len) == 0));
}

/*
 * Was the entry in the text before?  That is read on from where the last one was found,
 * since most stand in the same order, and else once more from its start.
 */
static bool was_there(const struct aw_gitconfig *entry, struct aw_gitconfig *before,
	const char *text, size_t len, char *scratch)
{
	if (!text)
		return false;
	for (int again = 0; again < 2; again++) {
		while (aw_gitconfig_next(before) == 1)
			if (same_entry(entry, before))
				return true;
		aw_gitconfig_open(before, text, len, scratch);
	}
	return false;
}

void aw_gitconfig_say(const struct aw_gitconfig_finding *finding, char *to, size_t size)
{
	static const char *const said[] = {[AW_GITCONFIG_NOTHING] = "",
		[AW_GITCONFIG_RUNS] = " would run a program",
		[AW_GITCONFIG_SENDS] = " would send data or credentials elsewhere",
		[AW_GITCONFIG_WEAKENS] = " would weaken a check",
		[AW_GITCONFIG_REACHES] = " would reach files elsewhere",
		[AW_GITCONFIG_UNKNOWN] = " is not known to be harmless"};

	snprintf(to, size, "%s%s", finding->what, said[finding->effect]);
}

static bool find(struct aw_gitconfig_finding *ret, unsigned line, const char *what)
{
	*ret = (struct aw_gitconfig_finding){.line = line};
	snprintf(ret->what, sizeof(ret->what), "%s", what);
	return false;
}

/* The key with the capital letters that it has in the text. */
static bool find_key(struct aw_gitconfig_finding *ret, const struct aw_gitconfig *entry,
	enum aw_gitconfig_effect effect)
{
	*ret = (struct aw_gitconfig_finding){.line = entry->line, .effect = effect};
	snprintf(ret->what, sizeof(ret->what), "%.*s%.*s", (int)entry->stem,
		entry->name, (int)(entry->name_len - entry->stem),
		entry->text + entry->key);
	return false;
}

/* The length of the directory that a file is in, without a slash at the end. */
static size_t folder_of(const char *path, size_t len)
{
	while (len && path[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

bool aw_gitconfig_strays(const struct aw_gitconfig_place *place, const char *worktree)
{
	const char *file = place->file;
	const char *git = strstr(file, "/.git/");
	size_t folder = folder_of(file, strlen(file)), top, len;
	char to[4096];

	top = git ? (size_t)(git - file) : folder_of(file, folder);
	len = aw_path_join(file, folder, worktree, strlen(worktree), to, sizeof(to));
	if (len >= top && memcmp(to, file, top) == 0 && (!to[top] || to[top] == '/'))
		return false;
	return !len || !place->may_write(place->ctx, to, len);
}

static enum aw_gitconfig_effect effect_of(
	const struct aw_gitconfig *entry, const struct aw_gitconfig_place *place)
{
	const char *value = entry->has_value ? entry->value : NULL;

	if (place && value && is_text(entry->name, entry->name_len, "core.worktree") &&
		aw_gitconfig_strays(place, value))
		return AW_GITCONFIG_REACHES;
	return aw_gitconfig_effect(entry->name, entry->name_len, value);
}

bool aw_gitconfig_may_replace(const char *text, size_t len, const char *before,
	size_t before_len, const struct aw_gitconfig_place *place, char *scratch,
	struct aw_gitconfig_finding *ret)
{
	char *more = scratch + AW_GITCONFIG_SCRATCH(len);
	struct aw_gitconfig now, then = {.text = NULL};
	enum aw_gitconfig_effect effect;
	unsigned running = 0;
	int more_to_come;

	if (len > AW_GITCONFIG_MAX)
		return find(ret, 1, "larger than 1 MiB");
	aw_gitconfig_open(&now, text, len, scratch);
	if (before)
		aw_gitconfig_open(&then, before, before_len, more);
	while ((more_to_come = aw_gitconfig_next(&now)) == 1) {
		effect = effect_of(&now, place);
		if (!effect)
			continue;
		if (++running > RUNNING_MAX)
			return find(
				ret, now.line, "too many keys that are not harmless");
		if (!was_there(&now, &then, before, before_len, more))
			return find_key(ret, &now, effect);
	}
	return more_to_come == 0 || find(ret, now.line, "not a configuration");
}
