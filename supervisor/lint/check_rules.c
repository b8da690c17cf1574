/* SPDX-License-Identifier: Apache-2.0 */
/* check_rules.c - what policy check finds out about the rules of a policy. */
#include <string.h>

#include "policy/image/mask.h"
#include "supervisor/lint/base.h"
#include "supervisor/lint/check_rules.h"
#include "supervisor/lint/redundant_rules.h"
#include "supervisor/lint/places.h"

/* Files that were named or count here, not presets and what is built in. */
static bool is_own(const void *ctx, const char *file)
{
	const struct aw_effective *standing = ctx;

	for (size_t i = 0; i < standing->source_count; i++)
		if (strcmp(standing->sources[i].file, file) == 0)
			return true;
	return false;
}

/*
 * Two entries may be the same here ($TMPDIR and /tmp) and not elsewhere, so what is
 * found must hold for directories, too, that have nothing to do with each other.
 */
void aw_check_redundant(
	const struct aw_effective *standing, struct aw_findings *findings)
{
	struct aw_policy_variables elsewhere = standing->layers.variables;
	struct aw_findings here = {0}, there = {0};
	struct aw_diagnostics ignored = {0};
	struct aw_policy policy;

	aw_redundant_find(&standing->policy, is_own, standing, &here);
	elsewhere.workspace = "/.aw-workspace";
	elsewhere.home = "/.aw-home";
	elsewhere.tmpdir = "/.aw-tmpdir";
	elsewhere.agentwatch_dir = "/.aw-config";
	if (aw_policy_load(standing->sources, standing->source_count, &elsewhere,
		    standing->policy.mode, true, &policy, &ignored) == 0) {
		aw_redundant_find(&policy, is_own, standing, &there);
		aw_findings_intersect(&here, &there);
		aw_policy_release(&policy);
	}
	for (size_t i = 0; i < here.count; i++)
		aw_findings_add(findings, here.items[i].severity, here.items[i].check,
			here.items[i].file, here.items[i].line, here.items[i].column,
			"%s", here.items[i].text);
	findings->failed |= here.failed || there.failed;
	aw_diagnostics_free(&ignored);
	aw_findings_free(&here);
	aw_findings_free(&there);
}

/* An entry of a file of ours; false for others. */
static bool own_rule(const struct aw_effective *standing,
	const struct aw_entry_place *place, struct aw_rule *ret,
	struct aw_rule_about *ret_about)
{
	const struct aw_image *image = standing->policy.image;

	return !place->doubled && aw_image_rule(image, place->rule, ret) &&
	       aw_image_rule_about(image, place->rule, ret_about) &&
	       is_own(standing, ret->file);
}

/* Does nobody answer for names?  Engine preload, as the policy or a flag names it. */
static bool knows_literal_names(const struct aw_effective *standing)
{
	const char *engine =
		standing->engine ? standing->engine : standing->policy.engine;

	return engine && strcmp(engine, "preload") == 0;
}

static void check_rule(const struct aw_effective *standing,
	const struct aw_entry_place *place, struct aw_findings *findings)
{
	const struct aw_image *image = standing->policy.image;
	struct aw_rule_about about;
	struct aw_rule rule;

	if (!own_rule(standing, place, &rule, &about) || about.negated)
		return;
	if (about.arguments && about.strictest >= AW_ASK)
		aw_findings_add(findings, AW_FOUND_NOTE, "arguments", rule.file,
			place->line, place->column,
			"\"%s\" is advice: a copy of the program, or the same said "
			"with other arguments, gets past it",
			rule.text);
	if (knows_literal_names(standing) && about.section == AW_RULE_NETWORK &&
		about.strictest <= AW_ASK && strcmp(about.list, "listen") != 0 &&
		strcmp(aw_image_default(image, about.of, AW_RULE_NETWORK), "deny") ==
			0 &&
		aw_image_rule_below(image, place->rule))
		aw_findings_add(findings, AW_FOUND_WARNING, "wildcard-host", rule.file,
			place->line, place->column,
			"\"%s\" admits no address: names with a wildcard cannot be "
			"looked up by the engine preload; name each host",
			rule.text);
}

void aw_check_rules(const struct aw_effective *standing, struct aw_findings *findings)
{
	for (size_t i = 0; i < standing->policy.place_count; i++)
		check_rule(standing, &standing->policy.places[i], findings);
	aw_places_find(&standing->policy, is_own, standing, findings);
}

/* --- what is looser than the default --- */

void aw_check_base(const struct aw_effective *standing, struct aw_findings *findings)
{
	struct aw_permission_diff loose;

	for (size_t i = 0; aw_permission_diff(&standing->policy, i, &loose); i++)
		if (loose.given.line)
			aw_findings_add(findings, AW_FOUND_WARNING, "base",
				loose.given.file, loose.given.line, 1, "%s",
				loose.text);
}

/* --- by whom rules are held --- */

static const char *first_file(const struct aw_effective *standing)
{
	return standing->source_count
		       ? standing->sources[standing->source_count - 1].file
		       : "policy";
}

/* Rules that run --require would name, wherever they stand. */
static void check_required(const struct aw_effective *standing, const char *require,
	struct aw_findings *findings)
{
	const struct aw_strength_facts *facts = &standing->holding.facts;
	enum aw_strength least =
		strcmp(require, "kernel") == 0 ? AW_BY_KERNEL : AW_BY_SUPERVISOR;
	struct aw_rule_about about;
	struct aw_enforced held;
	struct aw_rule rule;
	const char *name;

	for (size_t i = 0; i < standing->policy.place_count; i++) {
		const struct aw_entry_place *place = &standing->policy.places[i];

		if (place->doubled ||
			!aw_image_rule(facts->image, place->rule, &rule) ||
			!aw_strength_of_rule(facts, place->rule, &held) ||
			held.strength >= least)
			continue;
		aw_image_rule_about(facts->image, place->rule, &about);
		aw_findings_add(findings, AW_FOUND_ERROR, "held", rule.file, rule.line,
			place->column,
			"%s \"%s\" is held by %s at best with runner %s, engine %s "
			"(%s); run --require %s would not start",
			about.list, rule.text, aw_strength_name(held.strength),
			standing->runner, standing->engine, held.by, require);
	}
	for (unsigned i = 0; aw_strength_of_default(facts, i, &name, &held); i++)
		if (name && held.strength < least)
			aw_findings_add(findings, AW_FOUND_ERROR, "held",
				first_file(standing), 1, 1,
				"%s is held by %s at best with runner %s, engine %s "
				"(%s); run --require %s would not start",
				name, aw_strength_name(held.strength), standing->runner,
				standing->engine, held.by, require);
}

/* Denials of ours that less than the supervisor holds for certain. */
static void note_soft(const struct aw_effective *standing, struct aw_findings *findings)
{
	const struct aw_strength_facts *facts = &standing->holding.facts;
	struct aw_rule_about about;
	struct aw_enforced held;
	struct aw_rule rule;

	for (size_t i = 0; i < standing->policy.place_count; i++) {
		const struct aw_entry_place *place = &standing->policy.places[i];

		if (!own_rule(standing, place, &rule, &about) || about.arguments ||
			!aw_strength_of_rule(facts, place->rule, &held) ||
			held.strength >= AW_BY_SUPERVISOR)
			continue;
		aw_findings_add(findings, AW_FOUND_NOTE, "soft", rule.file, place->line,
			place->column,
			"\"%s\" is held by %s with runner %s, engine %s: %s", rule.text,
			aw_strength_name(held.strength), standing->runner,
			standing->engine, held.by);
	}
}

void aw_check_enforced(const struct aw_effective_params *params,
	struct aw_effective *standing, const char *require,
	struct aw_findings *findings)
{
	enum aw_severity severity = require ? AW_FOUND_ERROR : AW_FOUND_NOTE;
	struct aw_error err;

	if (aw_effective_hold(params, standing, &err) < 0)
		aw_findings_add(findings, severity, "runner", first_file(standing), 1,
			1, "%s", err.text);
	else if (require && !standing->holding.facts.enforce)
		aw_findings_add(findings, severity, "held", first_file(standing), 1, 1,
			"mode audit refuses nothing, so nothing is held; say --mode enforce");
	else if (require)
		check_required(standing, require, findings);
	else if (standing->holding.facts.enforce)
		note_soft(standing, findings);
}
