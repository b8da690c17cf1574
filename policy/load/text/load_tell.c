/* SPDX-License-Identifier: Apache-2.0 */
/* load_tell.c - the effective policy as one document, entry by entry. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/text/load_tell_internal.h"

void aw_tell_map(const struct aw_telling *t, const char *key)
{
	t->teller->open(t->to, key, false);
}

void aw_tell_open_list(const struct aw_telling *t, const char *key)
{
	t->teller->open(t->to, key, true);
}

void aw_tell_close(const struct aw_telling *t)
{
	t->teller->close(t->to);
}

static struct aw_where where_of(const struct aw_origin *o)
{
	return o ? (struct aw_where){o->layer, o->file, o->line}
		 : (struct aw_where){NULL, NULL, 0};
}

void aw_tell_value(const struct aw_telling *t, unsigned stratum, const char *key,
	const char *text, bool plain, const char *origin_key, const char *origin)
{
	struct aw_where where =
		where_of(aw_origin_find(t->policy, stratum, origin_key, origin));

	t->teller->value(t->to, key, text, plain, &where);
}

static void tell_word(const struct aw_telling *t, const char *key, const char *word)
{
	if (word)
		aw_tell_value(t, AW_ANY_STRATUM, key, word, strcmp(key, "log") != 0,
			key, word);
}

static void tell_plain(const struct aw_telling *t, const char *key, const char *word)
{
	static const struct aw_where nowhere = {NULL, NULL, 0};

	t->teller->value(t->to, key, word, true, &nowhere);
}

/* --- environment --- */

static void tell_names(const struct aw_telling *t, unsigned stratum, const char *key,
	const struct aw_variable_names *names)
{
	size_t i;

	aw_tell_open_list(t, key);
	for (i = 0; i < names->count; i++)
		aw_tell_value(
			t, stratum, NULL, names->items[i], false, key, names->items[i]);
	aw_tell_close(t);
}

static void tell_settings(const struct aw_telling *t)
{
	const struct aw_policy *p = t->policy;
	size_t i;

	if (p->redirect_home)
		tell_word(t, "redirect_home", "true");
	if (!p->environment.set_count)
		return;
	aw_tell_map(t, "set");
	for (i = 0; i < p->environment.set_count; i++) {
		const struct aw_setting *s = &p->environment.set[i];

		aw_tell_value(
			t, AW_ANY_STRATUM, s->name, s->text, false, "set", s->name);
	}
	aw_tell_close(t);
}

static void tell_environment(const struct aw_telling *t, unsigned stratum)
{
	const struct aw_variable_rules *rules = &t->policy->environment.rules[stratum];
	bool trusted = stratum == AW_STRATUM_TRUSTED;

	if (!trusted && !rules->some && !rules->unset.count)
		return;
	aw_tell_map(t, "environment");
	if (rules->some && rules->inherit.count)
		tell_names(t, stratum, "inherit", &rules->inherit);
	else if (trusted || rules->some)
		aw_tell_value(t, stratum, "inherit", rules->some ? "none" : "all", true,
			"inherit", rules->some ? "none" : "all");
	if (trusted || rules->unset.count)
		tell_names(t, stratum, "unset", &rules->unset);
	if (trusted)
		tell_settings(t);
	aw_tell_close(t);
}

/* --- limits, protections, presets --- */

static void tell_limit(const struct aw_telling *t, const char *key, double value)
{
	char what[48];

	if (value <= 0)
		return;
	aw_amount_text(value, what, sizeof(what));
	aw_tell_value(t, AW_ANY_STRATUM, key, what, true, key, what);
}

static void tell_limits(const struct aw_telling *t)
{
	const struct aw_limits *l = &t->policy->limits;

	if (!l->memory && l->cpus <= 0 && !l->processes && !l->time && !l->open_files &&
		!l->file_size && !l->connections_per_minute && !l->bytes_out &&
		!l->log_size)
		return;
	aw_tell_map(t, "limits");
	tell_limit(t, "memory", (double)l->memory);
	tell_limit(t, "cpus", l->cpus);
	tell_limit(t, "processes", (double)l->processes);
	tell_limit(t, "time", (double)l->time);
	tell_limit(t, "open_files", (double)l->open_files);
	tell_limit(t, "file_size", (double)l->file_size);
	tell_limit(t, "connections_per_minute", (double)l->connections_per_minute);
	tell_limit(t, "bytes_out", (double)l->bytes_out);
	tell_limit(t, "log_size", (double)l->log_size);
	aw_tell_close(t);
}

static void tell_ask(const struct aw_telling *t)
{
	char seconds[48];

	if (!t->policy->ask_deadline)
		return;
	aw_amount_text((double)t->policy->ask_deadline, seconds, sizeof(seconds));
	aw_tell_map(t, "ask");
	aw_tell_value(
		t, AW_ANY_STRATUM, "deadline", seconds, true, "ask.deadline", seconds);
	aw_tell_close(t);
}

/* All rules of protections, for those who read; nobody gives them back. */
static void tell_protected(const struct aw_telling *t)
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

static void tell_protections(const struct aw_telling *t)
{
	char key[64];
	uint32_t i;

	if (!t->policy->unprotected) {
		tell_plain(t, "protections", "on");
	} else {
		aw_tell_map(t, "protections");
		for (i = 0; aw_protection_name(i); i++) {
			if (!(t->policy->unprotected & (1u << i)))
				continue;
			snprintf(key, sizeof(key), "protections.%s",
				aw_protection_name(i));
			aw_tell_value(t, AW_ANY_STRATUM, aw_protection_name(i), "off",
				true, key, "off");
		}
		aw_tell_close(t);
	}
	tell_protected(t);
}

static void remark_preset(const struct aw_telling *t, const struct aw_origin *o)
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
static void remark_presets(const struct aw_telling *t)
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

static void tell_fields(const struct aw_telling *t)
{
	const struct aw_policy *p = t->policy;
	int i;

	tell_word(t, "mode", p->mode == AW_ENFORCE ? "enforce" : "audit");
	if (!p->base_replaced)
		tell_word(t, "base", aw_base_name(p->base_kind));
	tell_word(t, "runner", p->runner_shown);
	for (i = 0; i < AW_FIELDS; i++)
		if (i != AW_FIELD_RUNNER && i != AW_FIELD_BASE)
			tell_word(t, aw_field_key(i),
				*aw_field_of((struct aw_policy *)p, i));
}

/* --- what is intersected --- */

static bool says_anything(const struct aw_telling *t, unsigned stratum)
{
	const struct aw_image_stratum *s = &t->image->strata[stratum];
	const struct aw_variable_rules *rules = &t->policy->environment.rules[stratum];
	unsigned list;

	if (s->files || s->exec || s->network || s->listen || rules->some ||
		rules->unset.count)
		return true;
	for (list = 0; list < AW_LISTS; list++)
		if (aw_tell_has_list(t, stratum, list))
			return true;
	return false;
}

static void tell_apart(const struct aw_telling *t)
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
			!aw_tell_has_profiles(t, parts[i].trust))
			continue;
		if (!any) {
			t->teller->remark(
				t->to, "judged apart: the stricter verdict holds");
			aw_tell_map(t, "intersect");
		}
		any = true;
		t->teller->remark(t->to, parts[i].remark);
		aw_tell_map(t, parts[i].key);
		aw_tell_rules(t, parts[i].stratum, "");
		tell_environment(t, parts[i].stratum);
		aw_tell_profiles(t, parts[i].trust);
		aw_tell_close(t);
	}
	if (any)
		aw_tell_close(t);
}

void aw_policy_tell(
	const struct aw_policy *policy, const struct aw_policy_teller *teller, void *to)
{
	struct aw_telling t = {policy, policy->image, teller, to};

	aw_tell_map(&t, NULL);
	tell_plain(&t, "version", "1");
	tell_plain(&t, "merge", "replace");
	tell_fields(&t);
	remark_presets(&t);
	aw_tell_open_list(&t, "preset");
	aw_tell_close(&t);
	tell_protections(&t);
	tell_limits(&t);
	tell_ask(&t);
	aw_tell_rules(&t, AW_STRATUM_TRUSTED, "");
	tell_environment(&t, AW_STRATUM_TRUSTED);
	aw_tell_profiles(&t, AW_TRUSTED);
	tell_apart(&t);
	aw_tell_close(&t);
}
