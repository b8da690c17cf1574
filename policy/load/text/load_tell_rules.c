/* SPDX-License-Identifier: Apache-2.0 */
/* load_tell_rules.c - lists, their sections, and profiles, which are made of them. */
#include <stdio.h>
#include <string.h>

#include "policy/load/text/load_tell_internal.h"

static const char *const list_keys[AW_LISTS] = {
	[AW_LIST_HIDE] = "hide",
	[AW_LIST_DENY] = "deny",
	[AW_LIST_DENY_WRITE] = "deny_write",
	[AW_LIST_ASK] = "ask",
	[AW_LIST_WRITE] = "write",
	[AW_LIST_READ] = "read",
	[AW_LIST_KEYED] = "keyed",
	[AW_LIST_EXEC_DENY] = "deny",
	[AW_LIST_EXEC_ASK] = "ask",
	[AW_LIST_EXEC_ALLOW] = "allow",
	[AW_LIST_NET_DENY] = "deny",
	[AW_LIST_NET_ASK] = "ask",
	[AW_LIST_NET_ALLOW] = "allow",
	[AW_LIST_NET_LISTEN] = "listen",
	[AW_LIST_ENTER] = "exec",
	[AW_LIST_ENTER_MCP] = "mcp",
};

static const char *const default_words[] = {"allow", "read-only", "deny"};

bool aw_tell_has_list(const struct aw_telling *t, unsigned stratum, unsigned list)
{
	const struct aw_image_entry *e = aw_part_at(t->image, AW_PART_ENTRIES);
	uint32_t i;

	for (i = 0; i < t->image->parts[AW_PART_ENTRIES].count; i++)
		if (e[i].stratum == stratum && e[i].list == list && !e[i].shown)
			return true;
	return list == AW_LIST_NET_LISTEN && t->image->strata[stratum].listen;
}

static void tell_list(const struct aw_telling *t, unsigned stratum, unsigned list)
{
	const struct aw_image_entry *e = aw_part_at(t->image, AW_PART_ENTRIES);
	struct aw_rule rule;
	uint32_t i;

	if (!aw_tell_has_list(t, stratum, list))
		return;
	aw_tell_open_list(t, list_keys[list]);
	for (i = 0; i < t->image->parts[AW_PART_ENTRIES].count; i++)
		if (e[i].stratum == stratum && e[i].list == list && !e[i].shown &&
			aw_image_rule(t->image, i, &rule)) {
			struct aw_where where = {rule.layer, rule.file, rule.line};

			t->teller->value(t->to, NULL, rule.text, false, &where);
		}
	aw_tell_close(t);
}

static void tell_exposed(const struct aw_telling *t)
{
	size_t i;

	if (t->policy->exposed_count)
		aw_tell_open_list(t, "expose");
	for (i = 0; i < t->policy->exposed_count; i++) {
		const struct aw_exposed *e = &t->policy->exposed[i];

		aw_tell_map(t, NULL);
		aw_tell_value(t, AW_ANY_STRATUM, "source", e->source_text, false,
			"expose", e->target);
		aw_tell_value(t, AW_ANY_STRATUM, "target", e->target_text, false,
			"expose", e->target);
		aw_tell_value(t, AW_ANY_STRATUM, "mode", e->write ? "rw" : "ro", true,
			"expose", e->target);
		aw_tell_close(t);
	}
	if (t->policy->exposed_count)
		aw_tell_close(t);
}

static void tell_session_network(const struct aw_telling *t)
{
	const struct aw_network *n = &t->policy->network;
	char key[64];

	for (int k = 0; k < AW_NETWORK_KEYS; k++) {
		const char *word = aw_network_word(t->policy, k);

		snprintf(key, sizeof(key), "network.%s", aw_network_key_name(k));
		if (word)
			aw_tell_value(t, AW_ANY_STRATUM, aw_network_key_name(k), word,
				true, key, word);
	}
	if (n->forward_count)
		aw_tell_open_list(t, "forward");
	for (size_t i = 0; i < n->forward_count; i++)
		aw_tell_value(t, AW_ANY_STRATUM, NULL, n->forwards[i].text, false,
			"network.forward", n->forwards[i].text);
	if (n->forward_count)
		aw_tell_close(t);
	if (n->private_names.count)
		aw_tell_open_list(t, "private_names");
	for (size_t i = 0; i < n->private_names.count; i++)
		aw_tell_value(t, AW_ANY_STRATUM, NULL, n->private_names.items[i], false,
			"network.private_names", n->private_names.items[i]);
	if (n->private_names.count)
		aw_tell_close(t);
}

/* prefix: of the keys' origins. */
static void tell_section(const struct aw_telling *t, unsigned stratum,
	const char *prefix, const char *name, unsigned how)
{
	static const struct {
		const char *name;
		enum aw_list first, last;
	} sections[] = {
		{"filesystem", AW_LIST_HIDE, AW_LIST_READ},
		{"exec", AW_LIST_EXEC_DENY, AW_LIST_EXEC_ALLOW},
		{"network", AW_LIST_NET_DENY, AW_LIST_NET_LISTEN},
	};
	char key[256];
	unsigned i = 0, list;

	while (strcmp(sections[i].name, name) != 0)
		i++;
	snprintf(key, sizeof(key), "%s%s.default", prefix, name);
	aw_tell_map(t, name);
	aw_tell_value(t, stratum, "default", default_words[how], true, key,
		default_words[how]);
	for (list = sections[i].first; list <= sections[i].last; list++)
		tell_list(t, stratum, list);
	if (i == 0 && stratum == AW_STRATUM_TRUSTED)
		tell_exposed(t);
	if (i == 2 && stratum == AW_STRATUM_TRUSTED)
		tell_session_network(t);
	aw_tell_close(t);
}

void aw_tell_rules(const struct aw_telling *t, unsigned stratum, const char *prefix)
{
	const struct aw_image_stratum *s = &t->image->strata[stratum];

	tell_section(t, stratum, prefix, "filesystem", s->files);
	tell_section(t, stratum, prefix, "exec", s->exec);
	tell_section(t, stratum, prefix, "network", s->network);
}

/* --- profiles --- */

static bool is_profile_of(const struct aw_telling *t, unsigned i, enum aw_trust trust)
{
	return t->policy->profiles[i].trust == trust &&
	       aw_profile_is_there(t->image, i);
}

bool aw_tell_has_profiles(const struct aw_telling *t, enum aw_trust trust)
{
	unsigned i;

	for (i = 0; i < t->policy->profile_count; i++)
		if (is_profile_of(t, i, trust))
			return true;
	return false;
}

static void tell_profile(const struct aw_telling *t, unsigned i)
{
	const char *name = t->policy->profiles[i].name;
	char prefix[128];

	snprintf(prefix, sizeof(prefix), "profiles.%s.", name);
	aw_tell_map(t, name);
	aw_tell_map(t, "when");
	tell_list(t, AW_STRATA + i, AW_LIST_ENTER);
	tell_list(t, AW_STRATA + i, AW_LIST_ENTER_MCP);
	aw_tell_close(t);
	aw_tell_rules(t, AW_STRATA + i, prefix);
	aw_tell_close(t);
}

void aw_tell_profiles(const struct aw_telling *t, enum aw_trust trust)
{
	unsigned i;

	if (!aw_tell_has_profiles(t, trust))
		return;
	aw_tell_map(t, "profiles");
	for (i = 0; i < t->policy->profile_count; i++)
		if (is_profile_of(t, i, trust))
			tell_profile(t, i);
	aw_tell_close(t);
}
