/* SPDX-License-Identifier: Apache-2.0 */
/* source_verdicts.c - what each source of a policy says by itself. */
#include "supervisor/commands/policy/source_verdicts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/array.h"
#include "policy/image/mask.h"
#include "policy/image/profile.h"
#include "policy/image/region.h"
#include "policy/private.h"
#include "supervisor/linux/emulate/machine.h"
#include "supervisor/util/cleanup.h"

static const char *const default_keys[] = {
	[AW_RULE_FILES] = "filesystem.default",
	[AW_RULE_EXEC] = "exec.default",
	[AW_RULE_NETWORK] = "network.default",
};

enum { SECTIONS = ARRAY_SIZE(default_keys) };

static enum aw_rules_of of_trust(enum aw_trust trust)
{
	return trust == AW_SYSTEM      ? AW_RULES_SYSTEM
	       : trust == AW_UNTRUSTED ? AW_RULES_UNTRUSTED
				       : AW_RULES_TRUSTED;
}

static enum aw_rule_section section_of(const struct aw_asked_subject *subject)
{
	return subject->address.family	    ? AW_RULE_NETWORK
	       : subject->action == AW_EXEC ? AW_RULE_EXEC
					    : AW_RULE_FILES;
}

/* The section whose default refuses: programs and sockets are files, too. */
static enum aw_rule_section refusing_section(const struct aw_image *image,
	enum aw_rules_of of, uint32_t profiles, const struct aw_asked_subject *subject,
	const struct aw_decision *decision)
{
	enum aw_rule_section section = section_of(subject);
	struct aw_decision files;

	if (section == AW_RULE_FILES || decision->verdict == AW_ALLOW ||
		subject->path[0] != '/' ||
		strcmp(aw_image_default(image, of, section), "allow") != 0)
		return section;
	aw_image_decide_path_in(image, profiles,
		section == AW_RULE_EXEC ? AW_READ : subject->action, subject->path,
		strlen(subject->path), &files);
	return files.verdict != AW_ALLOW && files.rule == AW_NO_RULE ? AW_RULE_FILES
								     : section;
}

/* --- taking apart --- */

/* Silence all rules but those for which keep() is true. */
static void keep_rules(struct aw_image *copy, const struct aw_image *image,
	bool (*keep)(const void *ctx, const struct aw_rule_about *about,
		const struct aw_rule *rule),
	const void *ctx)
{
	struct aw_rule_about about;
	struct aw_rule rule;

	for (uint32_t i = 0; aw_image_rule(image, i, &rule); i++)
		if (aw_image_rule_about(image, i, &about) && !keep(ctx, &about, &rule))
			aw_mask_rule(copy, i);
}

static void drop_defaults(struct aw_image *copy, int except)
{
	for (int of = 0; of < AW_RULES_OF; of++)
		if (of != except)
			aw_mask_defaults(copy, (enum aw_rules_of)of);
}

struct alone {
	enum aw_rules_of of;
	bool given[SECTIONS]; /* the file has this section's default */
};

/* A file's own rules; the built-in ones that a default of its brings along. */
static bool is_own(
	const void *ctx, const struct aw_rule_about *about, const struct aw_rule *rule)
{
	const struct alone *alone = ctx;

	if (about->of >= AW_RULES_OF) /* its profiles: no other file's are there */
		return true;
	if (about->of != alone->of || strcmp(rule->layer, "preset") == 0)
		return false;
	return strcmp(rule->layer, "built-in") != 0 || alone->given[about->section];
}

static bool is_of_preset(
	const void *ctx, const struct aw_rule_about *about, const struct aw_rule *rule)
{
	(void)about;
	return strcmp(rule->layer, "preset") == 0 && strcmp(rule->file, ctx) == 0;
}

static bool is_protection(
	const void *ctx, const struct aw_rule_about *about, const struct aw_rule *rule)
{
	(void)ctx;
	(void)rule;
	return about->of == AW_RULES_PROTECTIONS;
}

/* --- the sources --- */

static struct aw_source_verdict *add(struct aw_source_verdicts *words)
{
	struct aw_source_verdict *grown =
		realloc(words->items, (words->count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	words->items = grown;
	grown += words->count++;
	memset(grown, 0, sizeof(*grown));
	return grown;
}

/* The profiles of this file that are called as those that were asked about. */
static uint32_t profiles_of(
	const struct aw_effective *standing, const struct aw_image *image)
{
	const struct aw_image *all = standing->policy.image;
	uint32_t asked = standing->holding.facts.profiles, set = 0;

	for (unsigned i = 0; i < aw_image_profiles(all); i++)
		if (asked >> i & 1)
			set |= aw_image_profile_set(
				image, aw_image_profile_name(all, i));
	return set;
}

static bool add_file(struct aw_source_verdicts *words,
	const struct aw_effective *standing, const struct aw_policy_source *source)
{
	struct aw_source_verdict *to = add(words);
	struct alone alone = {.of = of_trust(source->trust)};
	struct aw_diagnostics found = {0};
	struct aw_given given;

	if (!to)
		return false;
	to->layer = source->layer;
	to->file = source->file;
	to->trusted = source->trust != AW_UNTRUSTED;
	to->of = alone.of;
	to->unreadable = aw_policy_load(source, 1, &standing->layers.variables,
				 standing->policy.mode, true, &to->policy, &found) < 0;
	aw_diagnostics_free(&found);
	if (to->unreadable)
		return true;
	to->image = aw_mask_create(to->policy.image);
	if (!to->image)
		return false;
	drop_defaults(to->image, (int)alone.of);
	for (int s = 0; s < SECTIONS; s++) {
		alone.given[s] =
			aw_policy_given(&to->policy, default_keys[s], 0, &given);
		if (!alone.given[s])
			aw_mask_default(to->image, alone.of, (enum aw_rule_section)s);
	}
	keep_rules(to->image, to->policy.image, is_own, &alone);
	to->profiles = profiles_of(standing, to->image);
	return true;
}

static bool add_part(struct aw_source_verdicts *words,
	const struct aw_effective *standing, const char *layer, const char *file,
	bool (*keep)(const void *ctx, const struct aw_rule_about *about,
		const struct aw_rule *rule))
{
	struct aw_source_verdict *to = add(words);

	if (!to)
		return false;
	to->layer = layer;
	to->file = file;
	to->trusted = true;
	to->image = aw_mask_create(standing->policy.image);
	if (!to->image)
		return false;
	drop_defaults(to->image, -1);
	keep_rules(to->image, standing->policy.image, keep, file);
	return true;
}

static bool is_known(const struct aw_source_verdicts *words, const char *file)
{
	for (size_t i = 0; i < words->count; i++)
		if (words->items[i].file && strcmp(words->items[i].file, file) == 0)
			return true;
	return false;
}

static bool add_presets(
	struct aw_source_verdicts *words, const struct aw_effective *standing)
{
	struct aw_rule rule;

	for (uint32_t i = 0; aw_image_rule(standing->policy.image, i, &rule); i++)
		if (strcmp(rule.layer, "preset") == 0 && !is_known(words, rule.file) &&
			!add_part(words, standing, "preset", rule.file, is_of_preset))
			return false;
	return true;
}

int aw_source_verdicts_load(const struct aw_effective *standing,
	struct aw_source_verdicts *ret, struct aw_error *err)
{
	bool good = add_presets(ret, standing);

	for (size_t i = 0; good && i < standing->source_count; i++)
		good = add_file(ret, standing, &standing->sources[i]);
	if (!good || !add_part(ret, standing, "protections", NULL, is_protection))
		return aw_fail(err, ENOMEM, "asking each policy file: out of memory");
	return 0;
}

void aw_source_verdicts_release(struct aw_source_verdicts *words)
{
	for (size_t i = 0; i < words->count; i++) {
		free(words->items[i].image);
		aw_policy_release(&words->items[i].policy);
	}
	free(words->items);
	memset(words, 0, sizeof(*words));
}

/* --- asking --- */

static bool take_rule(const struct aw_image *image, struct aw_source_line *word)
{
	word->by_rule = aw_image_rule(image, word->decision.rule, &word->rule);
	word->says = word->by_rule;
	return word->by_rule;
}

/* Is it the default of a profile that decided?  Then say which. */
static bool by_profile(const struct aw_image *image, const struct aw_policy *policy,
	uint32_t profiles, const struct aw_asked_subject *subject,
	struct aw_source_line *word)
{
	struct aw_decision decision;

	aw_subject_decide(subject, image, 0, &decision);
	if (decision.verdict >= word->decision.verdict)
		return false;
	for (unsigned i = 0; i < aw_image_profiles(image); i++) {
		uint32_t alone = AW_PROFILES_ALONE | 1u << i;
		enum aw_rules_of of = (enum aw_rules_of)(AW_RULES_OF + i);
		enum aw_rule_section section;

		if (!(profiles >> i & 1))
			continue;
		aw_subject_decide(subject, image, alone, &decision);
		if (decision.verdict != word->decision.verdict)
			continue;
		section = refusing_section(image, of, alone, subject, &decision);
		word->value = aw_image_default(image, of, section);
		snprintf(word->key_text, sizeof(word->key_text), "profiles.%s.%s",
			aw_image_profile_name(image, i), default_keys[section]);
		if (subject->action == AW_BIND && strcmp(word->value, "allow") == 0) {
			snprintf(word->key_text, sizeof(word->key_text),
				"profiles.%s.network.listen",
				aw_image_profile_name(image, i));
			word->value = "has no such entry";
		}
		word->key = word->key_text;
		word->says = true;
		aw_policy_given(policy, word->key, 0, &word->given);
		return true;
	}
	return false;
}

void aw_source_verdicts_ask(const struct aw_source_verdict *source,
	const struct aw_asked_subject *subject, struct aw_source_line *ret)
{
	*ret = (struct aw_source_line){.decision = {AW_ALLOW, AW_NO_RULE}};
	if (source->unreadable)
		return;
	aw_subject_decide(subject, source->image, source->profiles, &ret->decision);
	if (take_rule(source->image, ret) || !source->policy.image ||
		by_profile(
			source->image, &source->policy, source->profiles, subject, ret))
		return;
	ret->key = default_keys[refusing_section(
		source->image, source->of, 0, subject, &ret->decision)];
	ret->says = aw_policy_given(&source->policy, ret->key, 0, &ret->given);
	ret->value = ret->given.value;
	/* a listen list admits what it has, and no more */
	if (!ret->says && subject->action == AW_BIND &&
		ret->decision.verdict != AW_ALLOW) {
		ret->says = true;
		ret->key = "network.listen";
		ret->value = "has no such entry";
	}
}

static bool is_of(
	const void *ctx, const struct aw_rule_about *about, const struct aw_rule *rule)
{
	(void)rule;
	return about->of == *(const enum aw_rules_of *)ctx;
}

/* Who among system, trusted and untrusted files gives this verdict by a default? */
static bool find_of(const struct aw_effective *standing,
	const struct aw_asked_subject *subject, const struct aw_source_line *word,
	enum aw_rules_of *ret)
{
	static const enum aw_rules_of order[] = {
		AW_RULES_TRUSTED, AW_RULES_SYSTEM, AW_RULES_UNTRUSTED};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		AW_FREE struct aw_image *copy = aw_mask_create(standing->policy.image);
		struct aw_decision decision;

		if (!copy)
			return false;
		drop_defaults(copy, (int)order[i]);
		keep_rules(copy, standing->policy.image, is_of, &order[i]);
		aw_subject_decide(subject, copy, 0, &decision);
		if (decision.verdict != word->decision.verdict ||
			decision.rule != AW_NO_RULE)
			continue;
		*ret = order[i];
		return true;
	}
	return false;
}

/* The last file of these that gave a default, where one did. */
static bool find_given(const struct aw_effective *standing, enum aw_rules_of of,
	const char *key, struct aw_given *ret)
{
	for (size_t nth = 0; aw_policy_given(&standing->policy, key, nth, ret); nth++)
		for (size_t i = 0; i < standing->source_count; i++)
			if (of_trust(standing->sources[i].trust) == of &&
				strcmp(standing->sources[i].file, ret->file) == 0)
				return true;
	ret->line = 0;
	return false;
}

/* machine.h: that a rule admits it is not enough. */
static void look_at_machine(const struct aw_effective *standing,
	const struct aw_asked_subject *subject, struct aw_source_line *ret)
{
	const struct aw_text path = {subject->path, strlen(subject->path)};
	const char *engine =
		standing->engine ? standing->engine : standing->policy.engine;

	if (ret->decision.verdict > AW_ASK || subject->path[0] != '/' ||
		subject->address.family || subject->action == AW_EXEC ||
		(engine && strcmp(engine, "preload") == 0))
		return;
	ret->kept = aw_machine_would_keep(standing->policy.image, subject->action, -1,
		&path, getpid(), ret->decision.rule);
	if (ret->kept)
		ret->decision = (struct aw_decision){AW_DENY, AW_NO_RULE};
}

/*
 * Behind a sandbox with a network of its own, what no rule speaks of may be listened
 * at, and a loopback is the session's: the host's is still out of reach.
 */
static void look_inside(const struct aw_effective *standing,
	const struct aw_asked_subject *subject, struct aw_source_line *ret)
{
	const struct aw_address *to = &subject->address;
	struct aw_decision inside = ret->decision;

	if (!standing->apart || ret->decision.verdict != AW_DENY ||
		ret->decision.rule != AW_NO_RULE || to->family == AF_UNIX ||
		!to->family ||
		(subject->action != AW_BIND && !aw_address_is_loopback(to)))
		return;
	aw_image_decide_inside(standing->policy.image, standing->holding.facts.profiles,
		subject->action, to, &inside);
	ret->inside = inside.verdict == AW_ALLOW;
	if (ret->inside && subject->action == AW_BIND)
		ret->decision = inside;
}

void aw_source_verdicts_decide(const struct aw_effective *standing,
	const struct aw_asked_subject *subject, struct aw_source_line *ret)
{
	const struct aw_image *image = standing->policy.image;
	uint32_t profiles = standing->holding.facts.profiles;
	enum aw_rules_of of = AW_RULES_TRUSTED;
	enum aw_rule_section section;

	*ret = (struct aw_source_line){.decision = {AW_ALLOW, AW_NO_RULE}};
	aw_subject_decide(subject, image, profiles, &ret->decision);
	look_at_machine(standing, subject, ret);
	if (ret->kept)
		return;
	look_inside(standing, subject, ret);
	ret->unknown =
		aw_subject_is_unknown(subject, standing->policy.image, &ret->wildcard);
	if (take_rule(image, ret) ||
		by_profile(image, &standing->policy, profiles, subject, ret))
		return;
	ret->says = true;
	find_of(standing, subject, ret, &of);
	section = refusing_section(image, of, 0, subject, &ret->decision);
	ret->key = default_keys[section];
	ret->value = aw_image_default(standing->policy.image, of, section);
	ret->built_in = !find_given(standing, of, ret->key, &ret->given);
	if (section == AW_RULE_NETWORK && subject->action == AW_BIND &&
		ret->decision.verdict != AW_ALLOW && strcmp(ret->value, "allow") == 0) {
		ret->key = "network.listen";
		ret->value = "has no such entry";
	}
}
