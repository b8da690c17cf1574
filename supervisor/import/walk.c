/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - foreign maps and lists. */
#include <string.h>

#include "supervisor/import/import.h"

static const struct aw_foreign *look_up(const struct aw_foreign *keys, const char *name)
{
	for (; keys->name; keys++)
		if (strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

void aw_foreign_read(struct aw_import *import, const struct aw_node *map,
	const char *section, bool strict, const struct aw_foreign *keys)
{
	const char *dot = *section ? "." : "";

	if (map->kind != AW_NODE_MAP) {
		aw_import_note(import, map,
			"'%s' is no map of keys and values; left out", section);
		return;
	}
	for (size_t i = 0; i + 1 < map->count; i += 2) {
		const struct aw_node *name = map->items[i];
		const struct aw_foreign *key =
			name->kind == AW_NODE_TEXT ? look_up(keys, name->text) : NULL;

		if (key && key->read)
			key->read(import, map->items[i + 1], key->argument);
		else if (key && key->lacks[0])
			aw_import_note(import, name, "'%s%s%s': %s", section, dot,
				name->text, key->lacks);
		else if (key || !strict)
			import->others++;
		else
			aw_import_note(import, name, "'%s%s%.80s' is not known here",
				section, dot,
				name->kind == AW_NODE_TEXT ? name->text : "");
	}
}

const struct aw_node *aw_foreign_get(const struct aw_node *map, const char *key)
{
	if (!map || map->kind != AW_NODE_MAP)
		return NULL;
	for (size_t i = 0; i + 1 < map->count; i += 2)
		if (map->items[i]->kind == AW_NODE_TEXT &&
			strcmp(map->items[i]->text, key) == 0)
			return map->items[i + 1];
	return NULL;
}

const char *aw_foreign_text(const struct aw_node *map, const char *key)
{
	const struct aw_node *value = aw_foreign_get(map, key);

	return value && value->kind == AW_NODE_TEXT ? value->text : NULL;
}

bool aw_foreign_true(struct aw_import *import, const struct aw_node *value)
{
	const char *text = value->kind == AW_NODE_TEXT ? value->text : "";

	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		aw_import_note(
			import, value, "'%.60s' is neither true nor false", text);
	return strcmp(text, "true") == 0;
}

/* The i-th text of a list (a lone text counts as one); NULL, after a note, for others. */
static const struct aw_node *text_at(
	struct aw_import *import, const struct aw_node *list, size_t i)
{
	const struct aw_node *item = list->kind == AW_NODE_LIST ? list->items[i] : list;

	if (item->kind == AW_NODE_TEXT && item->text[0])
		return item;
	aw_import_note(import, item, "a text was expected here; left out");
	return NULL;
}

static size_t length(const struct aw_node *value)
{
	return value->kind == AW_NODE_LIST ? value->count : 1;
}

void aw_foreign_texts(struct aw_import *import, const struct aw_node *value, int key)
{
	for (size_t i = 0; i < length(value); i++) {
		const struct aw_node *item = text_at(import, value, i);

		if (item)
			aw_import_put(
				import, (enum aw_import_key)key, item, item->text);
	}
}

void aw_foreign_paths(struct aw_import *import, const struct aw_node *value, int key)
{
	for (size_t i = 0; i < length(value); i++) {
		const struct aw_node *item = text_at(import, value, i);

		if (item)
			aw_import_path(
				import, (enum aw_import_key)key, item, item->text);
	}
}

static bool is_name(const char *text)
{
	static const char first[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	return *text && strchr(first, *text) &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "_0123456789")];
}

/* A dollar sign of theirs is a dollar sign. */
static void put_setting(struct aw_import *import, const struct aw_node *name,
	const struct aw_node *value)
{
	char text[4096], *to = text;
	const char *from = value->text;

	for (; *from && to < text + sizeof(text) - 2; from++) {
		if (*from == '$' || *from == '\\')
			*to++ = '\\';
		*to++ = *from;
	}
	*to = '\0';
	if (*from)
		aw_import_note(
			import, value, "the value of %s is too long", name->text);
	else
		aw_import_putf(import, AW_IMPORT_SET, name, "%s=%s", name->text, text);
}

void aw_foreign_settings(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	for (size_t i = 0; value->kind == AW_NODE_MAP && i + 1 < value->count; i += 2) {
		const struct aw_node *name = value->items[i];

		if (name->kind != AW_NODE_TEXT || !is_name(name->text) ||
			value->items[i + 1]->kind != AW_NODE_TEXT)
			aw_import_note(import, name,
				"a name and a text were expected here; left out");
		else
			put_setting(import, name, value->items[i + 1]);
	}
}
