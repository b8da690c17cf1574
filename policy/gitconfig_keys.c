/* SPDX-License-Identifier: Apache-2.0 */
/* gitconfig_keys.c - which keys run programs, and what is new in a configuration. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policy/gitconfig.h"
#include "policy/path.h"

/* More of them than anybody sets by hand; each is looked for in the text before. */
enum { RUNNING_MAX = 200 };

enum sub { NONE, SOME, ANY };
enum when {
	ALWAYS,
	PROGRAM,
	FILLED,
	ALIAS,
	BANG,
	SLASH,
	INSIDE,
	EXT,
	EXT_BASE,
	PROTOCOL
};

static const struct {
	const char *section, *key;
	enum sub sub;
	enum when when;
} rows[] = {
#define AW_GIT_KEY(section, sub, key, when) {section, key, sub, when},
#include "policy/gitconfig.def"
};

/* Keys that run nothing: all of a section, or those in a list, or only below `sub`. */
static const struct {
	const char *section, *sub, *keys;
} harmless[] = {
#define AW_GIT_OPEN(section, keys) {section, NULL, keys},
#define AW_GIT_OPEN_IN(section, sub, keys) {section, sub, keys},
#include "policy/gitconfig.def"
};

static const char *const free_sections[] = {
#define AW_GIT_FREE(sections) sections,
#include "policy/gitconfig.def"
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
	size_t len = strlen(pattern);

	if (pattern[0] != '*')
		return is_text(p->key, p->key_len, pattern);
	return p->key_len >= len - 1 &&
	       memcmp(p->key + p->key_len - (len - 1), pattern + 1, len - 1) == 0;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* No value, an empty one, a word or a plain number: git reads these as yes or no. */
static bool is_boolean(const char *value)
{
	static const char *const words[] = {
		"", "true", "yes", "on", "false", "no", "off"};

	if (!value)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return !value[strspn(value, "0123456789")];
}

/* git-config(1), protocol.allow: ext is never let by itself, unknown ones not always.
 */
static bool loosens(const struct parts *p, const char *value)
{
	static const char *const open[] = {"http", "https", "git", "ssh"};

	if (strcmp(value, "never") == 0)
		return false;
	for (size_t i = 0; p->has_sub && i < sizeof(open) / sizeof(open[0]); i++)
		if (is_text(p->sub, p->sub_len, open[i]))
			return false;
	return !p->has_sub || is_text(p->sub, p->sub_len, "ext") ||
	       strcmp(value, "user") != 0;
}

static bool value_counts(enum when when, const struct parts *p, const char *value)
{
	static const char ext[] = "ext::";

	if (when == PROGRAM)
		return !is_boolean(value);
	if (when == EXT_BASE)
		return p->sub_len >= 5 && memcmp(p->sub, ext, 5) == 0;
	if (when == ALWAYS || !value)
		return when == ALWAYS;
	switch (when) {
	case FILLED:
		return *value;
	case ALIAS:
		return aw_gitconfig_alias_runs(value);
	case BANG:
		return *value == '!';
	case SLASH:
		return *value == '/' || *value == '~';
	case INSIDE:
		return strchr(value, '/') != NULL;
	case EXT:
		return begins(value, ext);
	default:
		return loosens(p, value);
	}
}

/* A key that no row is about may be another tool's, and its value a program. */
static bool is_harmless(const struct parts *p)
{
	for (size_t i = 0; i < sizeof(free_sections) / sizeof(free_sections[0]); i++)
		if (aw_gitconfig_lists(free_sections[i], p->section, p->section_len))
			return true;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
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

bool aw_gitconfig_runs(const char *name, size_t len, const char *value)
{
	struct parts p;
	bool known = false;

	if (!take_apart(name, len, &p))
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!is_text(p.section, p.section_len, rows[i].section) ||
			(rows[i].sub == NONE && p.has_sub) ||
			(rows[i].sub == SOME && !p.has_sub) ||
			!key_matches(&p, rows[i].key))
			continue;
		if (value_counts(rows[i].when, &p, value))
			return true;
		known = true;
	}
	return !known && !is_harmless(&p);
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

static bool find(struct aw_gitconfig_finding *ret, unsigned line, const char *what)
{
	ret->line = line;
	snprintf(ret->what, sizeof(ret->what), "%s", what);
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

/* Does the entry run a program, or lead git's writing elsewhere? */
static bool counts(
	const struct aw_gitconfig *entry, const struct aw_gitconfig_place *place)
{
	const char *value = entry->has_value ? entry->value : NULL;

	return aw_gitconfig_runs(entry->name, entry->name_len, value) ||
	       (place && value &&
		       is_text(entry->name, entry->name_len, "core.worktree") &&
		       aw_gitconfig_strays(place, value));
}

bool aw_gitconfig_may_replace(const char *text, size_t len, const char *before,
	size_t before_len, const struct aw_gitconfig_place *place, char *scratch,
	struct aw_gitconfig_finding *ret)
{
	char *more = scratch + AW_GITCONFIG_SCRATCH(len);
	struct aw_gitconfig now, then = {.text = NULL};
	unsigned running = 0;
	int more_to_come;

	if (len > AW_GITCONFIG_MAX)
		return find(ret, 1, "larger than 1 MiB");
	aw_gitconfig_open(&now, text, len, scratch);
	if (before)
		aw_gitconfig_open(&then, before, before_len, more);
	while ((more_to_come = aw_gitconfig_next(&now)) == 1) {
		if (!counts(&now, place))
			continue;
		if (++running > RUNNING_MAX)
			return find(ret, now.line, "too many keys that run programs");
		if (!was_there(&now, &then, before, before_len, more))
			return find(ret, now.line, now.name);
	}
	return more_to_come == 0 || find(ret, now.line, "not a configuration");
}
