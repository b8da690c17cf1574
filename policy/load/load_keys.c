/* SPDX-License-Identifier: Apache-2.0 */
/* load_keys.c - maps with known keys, words from a list, lists of texts. */
#include <stdio.h>
#include <string.h>

#include "policy/array.h"
#include "policy/load/load_internal.h"

#define KEYS_MAX 40

static const char *kind_name(const struct aw_node *node)
{
	switch (node->kind) {
	case AW_NODE_LIST:
		return "a list";
	case AW_NODE_MAP:
		return "a map";
	default:
		return node->text[0] ? "a text" : "nothing";
	}
}

static bool has_key(const struct aw_key *keys, const char *name)
{
	for (; keys->name; keys++)
		if (strcmp(keys->name, name) == 0)
			return true;
	return false;
}

/* The one section that has this key, where only one has; NULL otherwise. */
static const char *home_of(const struct aw_key *sections, const char *name)
{
	const char *home = NULL;

	for (; sections->name; sections++) {
		const struct aw_shape *shape = sections->shape;

		if (shape && shape->kind == AW_SHAPE_EITHER)
			shape = shape->second;
		if (!shape || shape->kind != AW_SHAPE_MAP ||
			!has_key(shape->keys, name))
			continue;
		if (home)
			return NULL;
		home = sections->name;
	}
	return home;
}

/* Keys of earlier versions and what they are called now; docs/CHANGES.md has them. */
static const struct {
	const char *before, *now;
} renamed[] = {
	{"verify_tls", "match_sni"},
};

static const char *new_name_of(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		if (strcmp(renamed[i].before, key) == 0)
			return renamed[i].now;
	return NULL;
}

/* Where an unknown key would be one, or which key it was meant to be. */
static void hint_at(char *text, size_t size, const char *name,
	const struct aw_key *keys, const struct aw_key *document)
{
	const char *names[KEYS_MAX + 1], *nearest, *home = home_of(document, name);
	const char *now = new_name_of(name);
	size_t i;

	for (i = 0; i < KEYS_MAX && keys[i].name; i++)
		names[i] = keys[i].name;
	names[i] = NULL;
	nearest = aw_nearest(name, names);
	text[0] = '\0';
	if (now)
		snprintf(text, size, "; it is called '%s' now", now);
	else if (strcmp(name, "<<") == 0)
		snprintf(text, size,
			": maps are not merged here; an alias stands for a whole value");
	else if (has_key(document, name))
		snprintf(text, size, "; it belongs at the outermost level");
	else if (home)
		snprintf(text, size, "; it belongs in '%s'", home);
	else if (nearest)
		snprintf(text, size, "; did you mean '%s'?", nearest);
}

static void unknown_key(struct aw_loader *l, const struct aw_node *key,
	const char *section, const struct aw_key *keys)
{
	char hint[128];

	hint_at(hint, sizeof(hint), key->text, keys, l->keys);
	aw_report(l, key, "unknown key '%.60s'%s%s%s%s", key->text,
		section ? " in '" : "", section ? section : "", section ? "'" : "",
		hint);
}

static void read_key(struct aw_loader *l, const struct aw_key *key,
	const struct aw_node *name, const struct aw_node *value, const char *section)
{
	if (l->source->trust == AW_UNTRUSTED && !(key->flags & AW_KEY_UNTRUSTED)) {
		aw_warn(l, name, "'%s%s%s' is ignored: this file is not trusted",
			section ? section : "", section ? "." : "", key->name);
		return;
	}
	if (aw_is_preset(l->source) && !(key->flags & AW_KEY_PRESET)) {
		aw_report(l, name, "'%s%s%s' has no place in a preset",
			section ? section : "", section ? "." : "", key->name);
		return;
	}
	if (l->pending.entry && !section && (key->flags & AW_KEY_TOP)) {
		aw_report(l, name, "'%s' has no place in an entry of 'agents'",
			key->name);
		return;
	}
	if ((key->flags & AW_KEY_LATER) && l->idle)
		return;
	if (key->flags & AW_KEY_LATER) {
		aw_report(l, name, "'%s%s%s' is not available in this version yet",
			section ? section : "", section ? "." : "", key->name);
		return;
	}
	key->read(l, value, key->argument);
}

void aw_keys_read(struct aw_loader *l, const struct aw_node *map, const char *section,
	const struct aw_key *keys)
{
	const struct aw_node *seen[KEYS_MAX] = {NULL};
	size_t i, k;

	if (map->kind != AW_NODE_MAP) {
		aw_report(l, map, "expected a map of keys and values%s%s, not %s",
			section ? " for " : "", section ? section : "", kind_name(map));
		return;
	}
	for (i = 0; i < map->count; i += 2) {
		const struct aw_node *name = map->items[i];

		if (name->kind != AW_NODE_TEXT) {
			aw_report(l, name, "expected a key, not %s", kind_name(name));
			continue;
		}
		for (k = 0; keys[k].name && strcmp(keys[k].name, name->text) != 0; k++)
			;
		if (!keys[k].name) {
			unknown_key(l, name, section, keys);
		} else if (seen[k]) {
			aw_report(l, name,
				"'%s' stands here a second time, after line %u",
				name->text, seen[k]->line);
		} else {
			seen[k] = name;
			read_key(l, &keys[k], name, map->items[i + 1], section);
		}
	}
}

int aw_word_read(
	struct aw_loader *l, const struct aw_node *value, const char *const *words)
{
	char all[256] = "";
	const char *nearest;
	size_t used = 0;
	int i;

	if (value->kind != AW_NODE_TEXT) {
		aw_report(l, value, "expected one word, not %s", kind_name(value));
		return -1;
	}
	for (i = 0; words[i]; i++) {
		if (strcmp(words[i], value->text) == 0)
			return i;
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
			i == 0	       ? ""
			: words[i + 1] ? ", "
				       : " or ",
			words[i]);
	}
	nearest = aw_nearest(value->text, words);
	if (!value->text[0])
		aw_report(l, value, "expected one of %s, not nothing", all);
	else if (nearest)
		aw_report(l, value, "'%.60s' is not one of %s; did you mean '%s'?",
			value->text, all, nearest);
	else
		aw_report(l, value, "'%.60s' is not one of %s", value->text, all);
	return -1;
}

bool aw_list_check(struct aw_loader *l, const struct aw_node *value)
{
	if (value->kind == AW_NODE_LIST)
		return true;
	if (value->kind == AW_NODE_TEXT && value->text[0])
		aw_report(l, value, "expected a list; did you mean [\"%.200s\"]?",
			value->text);
	else
		aw_report(l, value, "expected a list, not %s", kind_name(value));
	return false;
}

const struct aw_node *aw_map_get(const struct aw_node *map, const char *key)
{
	size_t i;

	for (i = 0; map->kind == AW_NODE_MAP && i + 1 < map->count; i += 2)
		if (map->items[i]->kind == AW_NODE_TEXT &&
			strcmp(map->items[i]->text, key) == 0)
			return map->items[i + 1];
	return NULL;
}
