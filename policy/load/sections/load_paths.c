/* SPDX-License-Identifier: Apache-2.0 */
/* load_paths.c - path patterns: absolute, clean, well-formed; and their lists. */
#include <stdlib.h>
#include <string.h>

#include "policy/glob.h"
#include "policy/load/load_internal.h"

#define PATTERN_MAX 4096

bool aw_glob_check(
	struct aw_loader *l, const struct aw_node *at, const char *text, size_t len)
{
	size_t slashes = 0;

	while (slashes < len && text[len - 1 - slashes] == '\\')
		slashes++;
	if (slashes % 2) {
		aw_report(l, at, "a backslash with nothing behind it in '%.100s'",
			at->text);
		return false;
	}
	if (!aw_glob_closed(text, len)) {
		aw_report(l, at,
			"a '[' that is never closed in '%.100s'; write '\\[' for the sign itself",
			at->text);
		return false;
	}
	if (!aw_glob_ordered(text, len)) {
		aw_report(l, at,
			"a range that ends before it begins in '%.100s'; put its "
			"smaller end first",
			at->text);
		return false;
	}
	return true;
}

static void not_absolute(
	struct aw_loader *l, const struct aw_node *at, const char *text)
{
	while (strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0)
		text = strchr(text, '/') + 1;
	if (text[0] == '!') {
		aw_report(l, at, "more than one '!' in front of '%.100s'", text + 1);
		return;
	}
	if (strncmp(text, "**", 2) == 0) {
		aw_report(l, at, "'%.100s' is not absolute; did you mean '**/*%.100s'?",
			text, text + 2);
		return;
	}
	aw_report(l, at,
		"'%.100s' is not absolute; did you mean '**/%.100s' or '$WORKSPACE/%.100s'?",
		at->text, text, text);
}

static void drop_component(struct aw_bytes *out)
{
	while (out->len > 0 && out->data[--out->len] != '/')
		;
}

static bool ends_with(const struct aw_bytes *out, const char *component)
{
	size_t len = strlen(component);

	return out->len >= len &&
	       memcmp(out->data + out->len - len, component, len) == 0;
}

static bool add_component(struct aw_loader *l, const struct aw_node *at,
	struct aw_bytes *out, const char *text, size_t len)
{
	if (len == 0 || (len == 1 && text[0] == '.'))
		return true;
	if (len == 2 && memcmp(text, "..", 2) == 0) {
		if (ends_with(out, "/**")) {
			aw_report(l, at, "'..' behind '**' in '%.100s'", at->text);
			return false;
		}
		drop_component(out);
		return true;
	}
	if (len == 2 && memcmp(text, "**", 2) == 0 && ends_with(out, "/**"))
		return true;
	if (!aw_glob_check(l, at, text, len))
		return false;
	aw_bytes_add(out, "/", 1);
	aw_bytes_add(out, text, len);
	return true;
}

/* A trailing "**" is all below a directory without the directory: the same as "*". */
static void finish(struct aw_bytes *out)
{
	if (ends_with(out, "/**"))
		out->len--;
	if (out->len == 0)
		aw_bytes_add(out, "/", 1);
	aw_bytes_add(out, "", 1);
}

static char *normalise(struct aw_loader *l, const struct aw_node *at, const char *text)
{
	struct aw_bytes out = {0};
	size_t len;
	bool good = true;

	if (text[0] != '/' && strcmp(text, "**") != 0 && strncmp(text, "**/", 3) != 0) {
		not_absolute(l, at, text);
		return NULL;
	}
	if (strlen(text) > PATTERN_MAX) {
		aw_report(l, at, "a path of more than %d bytes", PATTERN_MAX);
		return NULL;
	}
	for (; *text && good; text += len + (text[len] == '/')) {
		len = strcspn(text, "/");
		good = add_component(l, at, &out, text, len);
	}
	finish(&out);
	l->failed |= out.failed;
	if (!good || out.failed) {
		aw_bytes_free(&out);
		return NULL;
	}
	return out.data;
}

char *aw_pattern_read(struct aw_loader *l, const struct aw_node *at, const char *text)
{
	char *expanded = aw_expand(l, at, text, AW_EXPAND_PATTERN), *pattern;

	if (!expanded)
		return NULL;
	if (strchr(text, '{') && strchr(text, ',') && strchr(text, '}'))
		aw_warn(l, at,
			"'{', ',' and '}' stand for themselves; write one entry for "
			"each alternative");
	pattern = normalise(l, at, expanded);
	free(expanded);
	return pattern;
}

struct aw_draft_entry *aw_entry_add(struct aw_loader *l, const struct aw_node *at,
	enum aw_list list, const char **ret_rest)
{
	struct aw_draft_entry *entry;
	const char *text;

	if (at->kind != AW_NODE_TEXT) {
		aw_report(l, at, "expected a text, not a list or map");
		return NULL;
	}
	if (aw_preset_skips(l, at->text))
		return NULL;
	text = at->text + (at->text[0] == '!');
	if (text[strspn(text, " \t\r\n")] == '\0') {
		aw_report(l, at, "an empty entry");
		return NULL;
	}
	entry = aw_draft_add(&l->draft);
	if (!entry)
		return NULL;
	entry->text = aw_copy(l, at->text);
	if (!entry->text) {
		l->draft.count--;
		return NULL;
	}
	entry->stratum = l->stratum;
	entry->rank = aw_is_preset(l->source) ? AW_RANK_PRESET : AW_RANK_FILE;
	entry->list = list;
	entry->negated = at->text[0] == '!';
	entry->file = l->source->file;
	entry->layer = l->source->layer;
	entry->line = at->line;
	entry->column = at->column;
	*ret_rest = text;
	return entry;
}

void aw_entry_drop(struct aw_loader *l)
{
	aw_draft_entry_free(&l->draft.entries[--l->draft.count]);
}

char *aw_path_quoted(struct aw_loader *l, const char *path)
{
	char *to = malloc(2 * strlen(path) + 1), *at = to;

	if (!to) {
		l->failed = true;
		return NULL;
	}
	for (; *path; path++) {
		if (strchr("*?[]\\ \t$~!", *path))
			*at++ = '\\';
		*at++ = *path;
	}
	*at = '\0';
	return to;
}

void aw_path_list_read(struct aw_loader *l, const struct aw_node *value, int list)
{
	struct aw_draft_entry *entry;
	const char *text;
	size_t i;

	if (!aw_list_check(l, value))
		return;
	for (i = 0; i < value->count; i++) {
		entry = aw_entry_add(l, value->items[i], (enum aw_list)list, &text);
		if (!entry)
			continue;
		l->lenient = aw_preset_borrows(l, text);
		entry->pattern = aw_pattern_read(l, value->items[i], text);
		if (l->lenient && !entry->pattern)
			aw_entry_drop(l);
		l->lenient = false;
	}
}
