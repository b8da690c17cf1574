/* SPDX-License-Identifier: Apache-2.0 */
/* redundant_rules.c - rules of a policy that make no difference. */
#include "supervisor/lint/redundant_rules.h"

#include <stdlib.h>
#include <string.h>

#include "policy/image/mask.h"
#include "policy/image/pattern_probe.h"
#include "supervisor/util/cleanup.h"

/* Longer lists are not looked at: each entry is compared with the others. */
#define ENTRIES_MAX 3000
#define MEETINGS_MAX 40

/* One list by itself, and the entry that is looked at. */
struct look {
	const struct aw_image *image;
	struct aw_image *copy;	  /* this list alone speaks */
	struct aw_image *without; /* all but the entry that is looked at */
	struct aw_findings *findings;
	const struct aw_entry_place *place;
	uint32_t rule;
	struct aw_rule text;
	struct aw_rule_about about;
	struct aw_probe sample;
};

static void found(const struct look *l, const char *check, const char *what,
	const struct aw_rule *other, const char *does)
{
	aw_findings_add(l->findings, AW_FOUND_WARNING, check, l->text.file,
		l->place->line, l->place->column, "\"%s\" %s: \"%s\" in line %u %s",
		l->text.text, what, other->text, other->line, does);
}

/* --- one list --- */

/* Is what is asked in the list?  In *ret_rule, when it is, the entry that says so. */
static bool is_in(struct look *l, uint32_t *ret_rule)
{
	struct aw_rule_about about;
	struct aw_decision decision;

	aw_probe_decide(l->copy, &l->sample, &decision);
	if (!aw_image_rule_about(l->image, decision.rule, &about) || about.negated ||
		about.list_number != l->about.list_number || about.of != l->about.of)
		return false;
	*ret_rule = decision.rule;
	return true;
}

static bool makes_difference(struct look *l)
{
	uint32_t ignored;
	bool with = is_in(l, &ignored), without;

	aw_mask_rule(l->copy, l->rule);
	without = is_in(l, &ignored);
	aw_mask_restore(l->copy, l->image, l->rule);
	return with != without;
}

/* Other entries of this list: the next one from *at on. */
static bool next_other(const struct look *l, uint32_t *at, struct aw_rule *ret,
	struct aw_rule_about *ret_about)
{
	for (; aw_image_rule(l->image, *at, ret); ++*at)
		if (*at != l->rule && aw_image_rule_about(l->image, *at, ret_about) &&
			ret_about->list_number == l->about.list_number &&
			ret_about->of == l->about.of)
			return true;
	return false;
}

/* The few questions that tell most entries apart, or all. */
static bool differs(struct look *l, unsigned ways, bool (*check)(struct look *l))
{
	for (unsigned i = 0; i < ways; i++) {
		if (!aw_probe_make(l->image, l->rule, i, &l->sample))
			return false;
		if (check(l))
			return true;
	}
	return false;
}

/* What it has in common with another rule, the files below that, too. */
static bool differs_from(struct look *l, uint32_t other, bool (*check)(struct look *l))
{
	for (unsigned i = 0; i < MEETINGS_MAX; i++) {
		size_t len;

		if (!aw_probe_meet(l->image, l->rule, other, i, &l->sample))
			return false;
		if (check(l))
			return true;
		len = strlen(l->sample.path);
		if (l->sample.action >= AW_EXEC || len + 6 > sizeof(l->sample.path))
			continue;
		memcpy(l->sample.path + len, len > 1 ? "/zq7w" : "zq7w", 6);
		if (check(l))
			return true;
	}
	return false;
}

/* Asked about what it matches, and about what it has in common with each other one. */
static bool is_idle(struct look *l)
{
	struct aw_rule_about about;
	struct aw_rule other;

	if (differs(l, AW_PROBE_FEW, makes_difference))
		return false;
	for (uint32_t at = 0; next_other(l, &at, &other, &about); at++)
		if (differs_from(l, at, makes_difference))
			return false;
	return !differs(l, AW_PROBE_WAYS, makes_difference);
}

/* The "!" of this file behind the entry that takes it out. */
static bool find_taker(struct look *l, struct aw_rule *ret)
{
	struct aw_rule_about about;
	uint32_t ignored;
	bool back;

	for (uint32_t at = l->rule; next_other(l, &at, ret, &about); at++) {
		if (!about.negated || at < l->rule ||
			strcmp(ret->file, l->text.file) != 0)
			continue;
		aw_mask_rule(l->copy, at);
		back = is_in(l, &ignored);
		aw_mask_restore(l->copy, l->image, at);
		if (back)
			return true;
	}
	return false;
}

/* Is there something of this file that the "!" could have been meant for? */
static bool has_object(const struct look *l)
{
	struct aw_rule_about about;
	struct aw_rule other;

	for (uint32_t at = 0; next_other(l, &at, &other, &about) && at < l->rule; at++)
		if (!about.negated && strcmp(other.file, l->text.file) == 0)
			return true;
	return false;
}

/*
 * In the engine preload a name with a wildcard admits no address, so a name that it
 * covers is needed.
 */
static bool is_needed(const struct look *l, uint32_t other)
{
	return l->about.strictest <= AW_ASK && aw_image_rule_below(l->image, other) &&
	       !aw_image_rule_below(l->image, l->rule);
}

/* Why an idle entry is idle; nothing when it is for another file's sake. */
static void explain_idle(struct look *l)
{
	struct aw_rule other;
	uint32_t rule;
	bool in;

	if (!aw_probe_make(l->image, l->rule, 0, &l->sample))
		return;
	aw_mask_rule(l->copy, l->rule);
	in = is_in(l, &rule);
	aw_mask_restore(l->copy, l->image, l->rule);
	if (in && aw_image_rule(l->image, rule, &other) &&
		strcmp(other.file, l->text.file) == 0) {
		if (!l->about.negated && !is_needed(l, rule))
			found(l, "redundant", "adds nothing", &other, "covers it");
		else if (l->about.negated && rule > l->rule)
			found(l, "overruled", "never counts", &other,
				"puts all of it in again, and the last entry that matches decides");
	} else if (!in && !l->about.negated) {
		if (find_taker(l, &other))
			found(l, "overruled", "never counts", &other,
				"takes all of it out again");
	} else if (!in && has_object(l)) {
		aw_findings_add(l->findings, AW_FOUND_WARNING, "nothing-taken-out",
			l->text.file, l->place->line, l->place->column,
			"\"%s\" takes nothing out: no entry in front of it in "
			"this list matches any of it",
			l->text.text);
	}
}

/* --- the whole policy --- */

/* "NAME: RULE" of a protection. */
static void hint_protection(const struct aw_rule *rule, char *to, size_t size)
{
	snprintf(to, size, "; protections: {%.*s: off} would switch it off",
		(int)strcspn(rule->text, ":"), rule->text);
}

static bool answers_differ(const struct look *l)
{
	struct aw_decision with, without;

	aw_probe_decide(l->image, &l->sample, &with);
	aw_probe_decide(l->without, &l->sample, &without);
	return with.verdict != without.verdict;
}

/* Is it answered otherwise without the entry?  One to read also forbids changes. */
static bool changes_answer(struct look *l)
{
	enum aw_action action = l->sample.action;
	bool differ = answers_differ(l);

	if (!differ && action == AW_READ) {
		l->sample.action = AW_WRITE;
		differ = answers_differ(l);
		l->sample.action = action;
	}
	return differ;
}

/* The denial that refuses all that an entry is there to admit. */
static bool find_denial(
	struct look *l, struct aw_rule *ret, struct aw_rule_about *ret_about)
{
	struct aw_decision decision;
	unsigned i;

	for (i = 0; i < AW_PROBE_FEW; i++) {
		if (!aw_probe_make(l->image, l->rule, i, &l->sample))
			break;
		aw_probe_decide(l->image, &l->sample, &decision);
		if (decision.verdict < AW_DENY || changes_answer(l) ||
			!aw_image_rule_about(l->image, decision.rule, ret_about) ||
			ret_about->negated || ret_about->strictest < AW_DENY)
			return false;
		/* an entry to write still lets be read what only changes are denied of */
		if (ret_about->changes_only && strcmp(l->about.list, "write") == 0)
			return false;
		aw_image_rule(l->image, decision.rule, ret);
	}
	return i > 0;
}

/* Not where some exception of the denial, or another rule, lets it have an effect. */
static bool is_refused(struct look *l)
{
	struct aw_rule ignored;

	for (uint32_t at = 0; aw_image_rule(l->image, at, &ignored); at++)
		if (at != l->rule && differs_from(l, at, changes_answer))
			return false;
	return !differs(l, AW_PROBE_WAYS, changes_answer);
}

static void look_for_denial(struct look *l)
{
	struct aw_rule_about about;
	struct aw_rule denial;
	char hint[128] = "; an exception is written as a \"!\" entry there";
	bool denied;

	if (l->about.negated || l->about.strictest > AW_ASK)
		return;
	aw_mask_rule(l->without, l->rule);
	denied = find_denial(l, &denial, &about) && is_refused(l);
	aw_mask_restore(l->without, l->image, l->rule);
	if (!denied)
		return;
	if (about.of == AW_RULES_PROTECTIONS)
		hint_protection(&denial, hint, sizeof(hint));
	else if (about.of != l->about.of)
		hint[0] = '\0';
	aw_findings_add(l->findings, AW_FOUND_WARNING, "denied", l->text.file,
		l->place->line, l->place->column,
		"\"%s\" has no effect: \"%s\" (%s, %s:%u) refuses all of it, and %s beats %s%s",
		l->text.text, denial.text, about.list, denial.file, denial.line,
		about.list, l->about.list, hint);
}

static void report_double(const struct aw_policy *policy,
	const struct aw_entry_place *place, struct aw_findings *findings)
{
	struct aw_rule counting;

	if (!aw_image_rule(policy->image, place->rule, &counting) ||
		strcmp(counting.file, place->file) != 0)
		return;
	aw_findings_add(findings, AW_FOUND_WARNING, "double", place->file, place->line,
		place->column,
		"\"%s\" stands in this list again in line %u, where it counts; take "
		"one of both out",
		place->doubled, counting.line);
}

/* A copy in which the list of this rule speaks alone. */
static bool single_out(struct look *l)
{
	struct aw_rule_about about;
	size_t count = 0;

	free(l->copy);
	l->copy = aw_mask_create(l->image);
	if (!l->copy)
		return false;
	for (int of = 0; of < AW_RULES_OF; of++)
		aw_mask_defaults(l->copy, (enum aw_rules_of)of);
	for (uint32_t i = 0; aw_image_rule_about(l->image, i, &about); i++)
		if (about.list_number != l->about.list_number ||
			about.of != l->about.of)
			aw_mask_rule(l->copy, i);
		else
			count++;
	return count <= ENTRIES_MAX;
}

/* All own entries of one list of one kind of file. */
static void look_at_list(struct look *l, const struct aw_policy *policy,
	bool (*is_own)(const void *ctx, const char *file), const void *ctx,
	enum aw_rules_of of, unsigned list)
{
	bool ready = false, good = false;

	for (size_t i = 0; i < policy->place_count; i++) {
		l->place = &policy->places[i];
		l->rule = l->place->rule;
		if (l->place->doubled ||
			!aw_image_rule_about(l->image, l->rule, &l->about) ||
			l->about.of != of || l->about.list_number != list ||
			!aw_image_rule(l->image, l->rule, &l->text) ||
			!is_own(ctx, l->text.file))
			continue;
		if (!ready)
			good = single_out(l);
		ready = true;
		if (good && is_idle(l))
			explain_idle(l);
	}
}

void aw_redundant_find(const struct aw_policy *policy,
	bool (*is_own)(const void *ctx, const char *file), const void *ctx,
	struct aw_findings *findings)
{
	AW_FREE struct look *l = calloc(1, sizeof(*l));
	AW_FREE struct aw_image *without = aw_mask_create(policy->image);

	if (!l || !without) {
		findings->failed = true;
		return;
	}
	l->image = policy->image;
	l->without = without;
	l->findings = findings;
	for (size_t i = 0; i < policy->place_count; i++) {
		l->place = &policy->places[i];
		l->rule = l->place->rule;
		if (l->place->doubled) {
			if (is_own(ctx, l->place->file))
				report_double(policy, l->place, findings);
		} else if (aw_image_rule(l->image, l->rule, &l->text) &&
			   aw_image_rule_about(l->image, l->rule, &l->about) &&
			   is_own(ctx, l->text.file)) {
			look_for_denial(l);
		}
	}
	for (unsigned of = 0; of < AW_RULES_OF; of++)
		for (unsigned list = 0; list < AW_RULE_LISTS; list++)
			look_at_list(
				l, policy, is_own, ctx, (enum aw_rules_of)of, list);
	free(l->copy);
}
