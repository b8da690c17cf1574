/* SPDX-License-Identifier: Apache-2.0 */
/* load_expose.c - filesystem.expose: what of the host a sandbox shows, and where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"
#include "policy/port_file.h"

#define EXPOSED_MAX 1000

/* One entry while it is read. */
struct aw_exposing {
	char *source, *target;		 /* owned */
	char *source_text, *target_text; /* owned; as written */
	bool write, target_seen;
};

/* An absolute path without "." and "..": no pattern, since it is mounted as it is. */
static char *read_path(struct aw_loader *l, const struct aw_node *value)
{
	char *text, *from, *to, *end;

	if (value->kind != AW_NODE_TEXT || !value->text[0]) {
		aw_report(l, value, "expected a path");
		return NULL;
	}
	text = aw_expand(l, value, value->text, AW_EXPAND_PLAIN);
	if (!text)
		return NULL;
	if (text[0] != '/') {
		aw_report(l, value,
			"'%.100s' is not absolute; did you mean '$WORKSPACE/%.100s'?",
			value->text, text);
		free(text);
		return NULL;
	}
	for (from = to = text; *from; from = end) {
		from += strspn(from, "/");
		end = from + strcspn(from, "/");
		if (end == from || (end == from + 1 && from[0] == '.'))
			continue;
		if (end == from + 2 && from[0] == '.' && from[1] == '.') {
			while (to > text && *--to != '/')
				;
			continue;
		}
		*to++ = '/';
		memmove(to, from, (size_t)(end - from));
		to += end - from;
	}
	if (to == text)
		*to++ = '/';
	*to = '\0';
	return text;
}

/*
 * Rules are about real names, and so is what is shown: with the symbolic links on the
 * way followed as far as the path is there.  Takes path.
 */
static char *resolve(struct aw_loader *l, char *path)
{
	size_t len = strlen(path);
	char *real = NULL, *whole = NULL, *at = aw_copy(l, path);

	while (at && !(real = realpath(len ? at : "/", NULL)) && len) {
		while (at[--len] != '/')
			;
		at[len] = '\0';
	}
	free(at);
	if (real && asprintf(&whole, "%s%s", real[1] ? real : "", path + len) < 0)
		whole = NULL;
	free(real);
	if (!whole)
		return path;
	free(path);
	if (whole[0])
		return whole;
	free(whole);
	return aw_copy(l, "/");
}

static void read_side(struct aw_loader *l, const struct aw_node *value, int target)
{
	struct aw_exposing *draft = l->exposing;
	char **to = target ? &draft->target : &draft->source;
	char **text = target ? &draft->target_text : &draft->source_text;

	draft->target_seen |= target;
	free(*to);
	free(*text);
	*to = read_path(l, value);
	*text = *to ? aw_copy(l, value->text) : NULL;
	if (*to)
		*to = resolve(l, *to);
}

static const char *const modes[] = {"ro", "rw", NULL};

static void read_mode(struct aw_loader *l, const struct aw_node *value, int argument)
{
	struct aw_exposing *draft = l->exposing;

	(void)argument;
	draft->write = aw_word_read(l, value, modes) == 1;
}

static const struct aw_shape path_shape = {
	.kind = AW_SHAPE_TEXT, .entry = "an absolute path"};
static const struct aw_shape mode_shape = {.kind = AW_SHAPE_WORD, .words = modes};

static const struct aw_key keys[] = {
	{"source", read_side, 0, AW_KEY_REQUIRED, &path_shape, "path on the host"},
	{"target", read_side, 1, 0, &path_shape,
		"where a sandbox shows it; the source when not given"},
	{"mode", read_mode, 0, 0, &mode_shape,
		"ro: to read, when not given; rw: to change, too"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

static const struct aw_shape entry_shape = {.kind = AW_SHAPE_MAP, .keys = keys};
const struct aw_shape aw_exposed_shape = {.kind = AW_SHAPE_LIST, .first = &entry_shape};

/* A later entry for the same target takes the place of the earlier one. */
static void keep(
	struct aw_loader *l, const struct aw_node *at, struct aw_exposing *draft)
{
	struct aw_exposed *to = l->policy.exposed, *grown;
	size_t i, count = l->policy.exposed_count;

	for (i = 0; i < count && strcmp(to[i].target, draft->target) != 0; i++)
		;
	if (i == count) {
		if (count == EXPOSED_MAX) {
			aw_report(l, at, "more than %d exposed paths", EXPOSED_MAX);
			return;
		}
		grown = realloc(to, (count + 1) * sizeof(*to));
		if (!grown) {
			l->failed = true;
			return;
		}
		memset(&grown[count], 0, sizeof(*to));
		l->policy.exposed = to = grown;
		l->policy.exposed_count++;
	}
	aw_exposed_free(&to[i]);
	to[i] = (struct aw_exposed){draft->source, draft->target, draft->write,
		at->line, draft->source_text, draft->target_text,
		l->stratum == AW_STRATUM_SYSTEM};
	aw_origin_add(l, at, "expose", draft->target);
	draft->source = draft->target = NULL;
	draft->source_text = draft->target_text = NULL;
}

void aw_exposed_free(struct aw_exposed *exposed)
{
	free(exposed->source);
	free(exposed->target);
	free(exposed->source_text);
	free(exposed->target_text);
}

static bool is_at(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (!path[len] || path[len] == '/');
}

/* Rules about the kernel's files know them by their name alone. */
static bool can_show(
	struct aw_loader *l, const struct aw_node *at, const struct aw_exposing *draft)
{
	const char *source = draft->source, *target = draft->target;

	if (strcmp(source, target) == 0)
		return true;
	if (strcmp(target, "/") == 0) {
		aw_report(l, at,
			"'%.100s' cannot be shown at '/'; name a directory below it",
			draft->source_text);
		return false;
	}
	if (strcmp(source, "/") != 0 && !is_at(source, "/proc") &&
		!is_at(source, "/sys"))
		return true;
	aw_report(l, at,
		"'%.100s' cannot be shown at '%.100s', since /proc and /sys are "
		"guarded by their own names; expose the directories that are needed",
		draft->source_text, draft->target_text);
	return false;
}

static void read_entry(struct aw_loader *l, const struct aw_node *at)
{
	struct aw_exposing draft = {.source = NULL};
	size_t errors = l->diagnostics->errors;

	if (at->kind != AW_NODE_MAP) {
		aw_report(l, at,
			"expected a map with source, target and mode; did you mean "
			"{source: \"%.200s\"}?",
			at->kind == AW_NODE_TEXT ? at->text : "/path");
		return;
	}
	l->exposing = &draft;
	aw_keys_read(l, at, "filesystem.expose", keys);
	l->exposing = NULL;
	if (!draft.source && l->diagnostics->errors == errors)
		aw_report(l, at, "'source' is missing");
	if (draft.source && draft.source_text && !draft.target_seen) {
		draft.target = aw_copy(l, draft.source);
		draft.target_text = aw_copy(l, draft.source_text);
	}
	if (draft.source && draft.target && draft.source_text && draft.target_text &&
		can_show(l, at, &draft))
		keep(l, at, &draft);
	free(draft.source);
	free(draft.target);
	free(draft.source_text);
	free(draft.target_text);
}

void aw_expose_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	size_t i;

	(void)argument;
	if (l->profile) {
		aw_report(l, value,
			"'expose' has no place in a profile: a sandbox shows the same "
			"to all of a session");
		return;
	}
	if (!aw_list_check(l, value))
		return;
	for (i = 0; i < value->count; i++)
		read_entry(l, value->items[i]);
}
