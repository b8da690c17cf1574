/* SPDX-License-Identifier: Apache-2.0 */
/* load_tell.c - the effective policy as one document, entry by entry. */
#include <stdlib.h>
#include <string.h>

#include "policy/load_internal.h"

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

/* Who tells what to whom. */
struct telling {
	const struct aw_policy *policy;
	const struct aw_image *image;
	const struct aw_policy_teller *teller;
	void *to;
};

static void open_map(const struct telling *t, const char *key)
{
	t->teller->open(t->to, key, false);
}

static void open_list(const struct telling *t, const char *key)
{
	t->teller->open(t->to, key, true);
}

static void close_one(const struct telling *t)
{
	t->teller->close(t->to);
}

static struct aw_where where_of(const struct aw_origin *o)
{
	return o ? (struct aw_where){o->layer, o->file, o->line}
		 : (struct aw_where){NULL, NULL, 0};
}

/* A value with the last of its origins, which is looked for as origin_key=origin. */
static void tell_value(const struct telling *t, unsigned stratum, const char *key,
	const char *text, bool plain, const char *origin_key, const char *origin)
{
	struct aw_where where =
		where_of(aw_origin_find(t->policy, stratum, origin_key, origin));

	t->teller->value(t->to, key, text, plain, &where);
}

static void tell_word(const struct telling *t, const char *key, const char *word)
{
	if (word)
		tell_value(t, AW_ANY_STRATUM, key, word, strcmp(key, "log") != 0, key,
			word);
}

static void tell_plain(const struct telling *t, const char *key, const char *word)
{
	static const struct aw_where nowhere = {NULL, NULL, 0};

	t->teller->value(t->to, key, word, true, &nowhere);
}

/* --- lists and their sections --- */

static bool has_list(const struct telling *t, unsigned stratum, unsigned list)
{
	const struct aw_image_entry *e = aw_part_at(t->image, AW_PART_ENTRIES);
	uint32_t i;

	for (i = 0; i < t->image->parts[AW_PART_ENTRIES].count; i++)
		if (e[i].stratum == stratum && e[i].list == list)
			return true;
	return list == AW_LIST_NET_LISTEN && t->image->strata[stratum].listen;
}

static void tell_list(const struct telling *t, unsigned stratum, unsigned list)
{
	const struct aw_image_entry *e = aw_part_at(t->image, AW_PART_ENTRIES);
	struct aw_rule rule;
	uint32_t i;

	if (!has_list(t, stratum, list))
		return;
	open_list(t, list_keys[list]);
	for (i = 0; i < t->image->parts[AW_PART_ENTRIES].count; i++)
		if (e[i].stratum == stratum && e[i].list == list &&
			aw_image_rule(t->image, i, &rule)) {
			struct aw_where where = {rule.layer, rule.file, rule.line};

			t->teller->value(t->to, NULL, rule.text, false, &where);
		}
	close_one(t);
}

static void tell_exposed(const struct telling *t)
{
	size_t i;

	if (t->policy->exposed_count)
		open_list(t, "expose");
	for (i = 0; i < t->policy->exposed_count; i++) {
		const struct aw_exposed *e = &t->policy->exposed[i];

		open_map(t, NULL);
		tell_value(t, AW_ANY_STRATUM, "source", e->source_text, false, "expose",
			e->target);
		tell_value(t, AW_ANY_STRATUM, "target", e->target_text, false, "expose",
			e->target);
		tell_value(t, AW_ANY_STRATUM, "mode", e->write ? "rw" : "ro", true,
			"expose", e->target);
		close_one(t);
	}
	if (t->policy->exposed_count)
		close_one(t);
}

static void tell_session_network(const struct telling *t)
{
	const struct aw_network *n = &t->policy->network;
	char key[64];

	for (int k = 0; k < AW_NETWORK_KEYS; k++) {
		const char *word = aw_network_word(t->policy, k);

		snprintf(key, sizeof(key), "network.%s", aw_network_key_name(k));
		if (word)
			tell_value(t, AW_ANY_STRATUM, aw_network_key_name(k), word,
				true, key, word);
	}
	if (n->forward_count)
		open_list(t, "forward");
	for (size_t i = 0; i < n->forward_count; i++)
		tell_value(t, AW_ANY_STRATUM, NULL, n->forwards[i].text, false,
			"network.forward", n->forwards[i].text);
	if (n->forward_count)
		close_one(t);
	if (n->private_names.count)
		open_list(t, "private_names");
	for (size_t i = 0; i < n->private_names.count; i++)
		tell_value(t, AW_ANY_STRATUM, NULL, n->private_names.items[i], false,
			"network.private_names", n->private_names.items[i]);
	if (n->private_names.count)
		close_one(t);
}

/* prefix: of the keys' origins. */
static void tell_section(const struct telling *t, unsigned stratum, const char *prefix,
	const char *name, unsigned how)
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
	open_map(t, name);
	tell_value(t, stratum, "default", default_words[how], true, key,
		default_words[how]);
	for (list = sections[i].first; list <= sections[i].last; list++)
		tell_list(t, stratum, list);
	if (i == 0 && stratum == AW_STRATUM_TRUSTED)
		tell_exposed(t);
	if (i == 2 && stratum == AW_STRATUM_TRUSTED)
		tell_session_network(t);
	close_one(t);
}

static void tell_rules(const struct telling *t, unsigned stratum, const char *prefix)
{
	const struct aw_image_stratum *s = &t->image->strata[stratum];

	tell_section(t, stratum, prefix, "filesystem", s->files);
	tell_section(t, stratum, prefix, "exec", s->exec);
	tell_section(t, stratum, prefix, "network", s->network);
}

/* --- profiles --- */

static bool is_profile_of(const struct telling *t, unsigned i, enum aw_trust trust)
{
	return t->policy->profiles[i].trust == trust &&
	       aw_profile_is_there(t->image, i);
}

static bool has_profiles(const struct telling *t, enum aw_trust trust)
{
	unsigned i;

	for (i = 0; i < t->policy->profile_count; i++)
		if (is_profile_of(t, i, trust))
			return true;
	return false;
}

static void tell_profile(const struct telling *t, unsigned i)
{
	const char *name = t->policy->profiles[i].name;
	char prefix[128];

	snprintf(prefix, sizeof(prefix), "profiles.%s.", name);
	open_map(t, name);
	open_map(t, "when");
	tell_list(t, AW_STRATA + i, AW_LIST_ENTER);
	tell_list(t, AW_STRATA + i, AW_LIST_ENTER_MCP);
	close_one(t);
	tell_rules(t, AW_STRATA + i, prefix);
	close_one(t);
}

static void tell_profiles(const struct telling *t, enum aw_trust trust)
{
	unsigned i;

	if (!has_profiles(t, trust))
		return;
	open_map(t, "profiles");
	for (i = 0; i < t->policy->profile_count; i++)
		if (is_profile_of(t, i, trust))
			tell_profile(t, i);
	close_one(t);
}

/* --- environment --- */

static void tell_names(const struct telling *t, unsigned stratum, const char *key,
	const struct aw_variable_names *names)
{
	size_t i;

	open_list(t, key);
	for (i = 0; i < names->count; i++)
		tell_value(
			t, stratum, NULL, names->items[i], false, key, names->items[i]);
	close_one(t);
}

static void tell_settings(const struct telling *t)
{
	const struct aw_policy *p = t->policy;
	size_t i;

	if (p->redirect_home)
		tell_word(t, "redirect_home", "true");
	if (!p->environment.set_count)
		return;
	open_map(t, "set");
	for (i = 0; i < p->environment.set_count; i++) {
		const struct aw_setting *s = &p->environment.set[i];

		tell_value(t, AW_ANY_STRATUM, s->name, s->text, false, "set", s->name);
	}
	close_one(t);
}

static void tell_environment(const struct telling *t, unsigned stratum)
{
	const struct aw_variable_rules *rules = &t->policy->environment.rules[stratum];
	bool trusted = stratum == AW_STRATUM_TRUSTED;

	if (!trusted && !rules->some && !rules->unset.count)
		return;
	open_map(t, "environment");
	if (rules->some && rules->inherit.count)
		tell_names(t, stratum, "inherit", &rules->inherit);
	else if (trusted || rules->some)
		tell_value(t, stratum, "inherit", rules->some ? "none" : "all", true,
			"inherit", rules->some ? "none" : "all");
	if (trusted || rules->unset.count)
		tell_names(t, stratum, "unset", &rules->unset);
	if (trusted)
		tell_settings(t);
	close_one(t);
}

/* --- limits, protections, presets --- */

void aw_amount_text(double value, char *text, size_t size)
{
	snprintf(text, size,
		value >= 1 && value == (double)(uint64_t)value ? "%.0f" : "%.9f",
		value);
}

static void tell_limit(const struct telling *t, const char *key, double value)
{
	char what[48];

	if (value <= 0)
		return;
	aw_amount_text(value, what, sizeof(what));
	tell_value(t, AW_ANY_STRATUM, key, what, true, key, what);
}

static void tell_limits(const struct telling *t)
{
	const struct aw_limits *l = &t->policy->limits;

	if (!l->memory && l->cpus <= 0 && !l->processes && !l->time && !l->open_files &&
		!l->file_size && !l->connections_per_minute && !l->bytes_out)
		return;
	open_map(t, "limits");
	tell_limit(t, "memory", (double)l->memory);
	tell_limit(t, "cpus", l->cpus);
	tell_limit(t, "processes", (double)l->processes);
	tell_limit(t, "time", (double)l->time);
	tell_limit(t, "open_files", (double)l->open_files);
	tell_limit(t, "file_size", (double)l->file_size);
	tell_limit(t, "connections_per_minute", (double)l->connections_per_minute);
	tell_limit(t, "bytes_out", (double)l->bytes_out);
	close_one(t);
}

static void tell_ask(const struct telling *t)
{
	char seconds[48];

	if (!t->policy->ask_deadline)
		return;
	aw_amount_text((double)t->policy->ask_deadline, seconds, sizeof(seconds));
	open_map(t, "ask");
	tell_value(
		t, AW_ANY_STRATUM, "deadline", seconds, true, "ask.deadline", seconds);
	close_one(t);
}

/* All rules of protections, for those who read; nobody gives them back. */
static void tell_protected(const struct telling *t)
{
	const struct aw_image_entry *e = aw_part_at(t->image, AW_PART_ENTRIES);
	struct aw_rule rule;
	char line[8400];
	uint32_t i;

	for (i = 0; i < t->image->parts[AW_PART_ENTRIES].count; i++) {
		if (e[i].stratum != AW_STRATUM_PROTECTIONS ||
			!aw_image_rule(t->image, i, &rule))
			continue;
		snprintf(line, sizeof(line), "  %s  \"%s\"  # %s:%u",
			e[i].list == AW_LIST_DENY_WRITE ? "deny_write"
			: e[i].list == AW_LIST_DENY	? "deny"
			: e[i].list == AW_LIST_KEYED	? "by key"
							: "connect",
			rule.text, rule.file, (unsigned)rule.line);
		t->teller->remark(t->to, line);
	}
}

static void tell_protections(const struct telling *t)
{
	char key[64];
	uint32_t i;

	if (!t->policy->unprotected) {
		tell_plain(t, "protections", "on");
	} else {
		open_map(t, "protections");
		for (i = 0; aw_protection_name(i); i++) {
			if (!(t->policy->unprotected & (1u << i)))
				continue;
			snprintf(key, sizeof(key), "protections.%s",
				aw_protection_name(i));
			tell_value(t, AW_ANY_STRATUM, aw_protection_name(i), "off",
				true, key, "off");
		}
		close_one(t);
	}
	tell_protected(t);
}

static void remark_preset(const struct telling *t, const struct aw_origin *o)
{
	char line[512];

	if (t->policy->picked && strcmp(o->layer, "built-in") == 0)
		snprintf(line, sizeof(line),
			"preset %s was chosen by the command's name", o->value);
	else
		snprintf(line, sizeof(line), "preset %s  # %s:%u (%s)", o->value,
			o->file, o->line, o->layer);
	t->teller->remark(t->to, line);
}

/* Oldest first, as they were named; their rules are in the lists. */
static void remark_presets(const struct telling *t)
{
	const struct aw_origin *o, *next, *last = NULL;

	for (;;) {
		next = NULL;
		for (o = t->policy->origins; o != last; o = o->next)
			if (strcmp(o->key, "preset") == 0)
				next = o;
		if (!next)
			return;
		remark_preset(t, next);
		last = next;
	}
}

static void tell_fields(const struct telling *t)
{
	const struct aw_policy *p = t->policy;
	int i;

	tell_word(t, "mode", p->mode == AW_ENFORCE ? "enforce" : "audit");
	tell_word(t, "runner", p->runner_shown);
	for (i = 0; i < AW_FIELDS; i++)
		if (i != AW_FIELD_RUNNER)
			tell_word(t, aw_field_key(i),
				*aw_field_of((struct aw_policy *)p, i));
}

/* --- what is intersected --- */

static bool says_anything(const struct telling *t, unsigned stratum)
{
	const struct aw_image_stratum *s = &t->image->strata[stratum];
	const struct aw_variable_rules *rules = &t->policy->environment.rules[stratum];
	unsigned list;

	if (s->files || s->exec || s->network || s->listen || rules->some ||
		rules->unset.count)
		return true;
	for (list = 0; list < AW_LISTS; list++)
		if (has_list(t, stratum, list))
			return true;
	return false;
}

static void tell_apart(const struct telling *t)
{
	static const struct {
		unsigned stratum;
		enum aw_trust trust;
		const char *key, *remark;
	} parts[] = {
		{AW_STRATUM_SYSTEM, AW_SYSTEM, "system",
			"the system policy: nothing else can loosen it"},
		{AW_STRATUM_UNTRUSTED, AW_UNTRUSTED, "untrusted",
			"what files that are not trusted add: they can only tighten"},
	};
	bool any = false;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!says_anything(t, parts[i].stratum) &&
			!has_profiles(t, parts[i].trust))
			continue;
		if (!any) {
			t->teller->remark(
				t->to, "judged apart: the stricter verdict holds");
			open_map(t, "intersect");
		}
		any = true;
		t->teller->remark(t->to, parts[i].remark);
		open_map(t, parts[i].key);
		tell_rules(t, parts[i].stratum, "");
		tell_environment(t, parts[i].stratum);
		tell_profiles(t, parts[i].trust);
		close_one(t);
	}
	if (any)
		close_one(t);
}

void aw_policy_tell(
	const struct aw_policy *policy, const struct aw_policy_teller *teller, void *to)
{
	struct telling t = {policy, policy->image, teller, to};

	open_map(&t, NULL);
	tell_plain(&t, "version", "1");
	tell_plain(&t, "merge", "replace");
	tell_fields(&t);
	remark_presets(&t);
	open_list(&t, "preset");
	close_one(&t);
	tell_protections(&t);
	tell_limits(&t);
	tell_ask(&t);
	tell_rules(&t, AW_STRATUM_TRUSTED, "");
	tell_environment(&t, AW_STRATUM_TRUSTED);
	tell_profiles(&t, AW_TRUSTED);
	tell_apart(&t);
	close_one(&t);
}
