/* SPDX-License-Identifier: Apache-2.0 */
/* strength_rule.c - how surely a rule is held as a whole. */
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/array.h"
#include "policy/image/profile.h"
#include "policy/image/rules.h"
#include "supervisor/decide/strength.h"

/* Keep the weaker of both. */
static void weaken(struct aw_enforced *held, const struct aw_enforced *other)
{
	if (!held->by || other->strength < held->strength)
		*held = *other;
}

/* All that a rule about files refuses, by way of one path it is about. */
static void files_held(const struct aw_strength_facts *facts,
	const struct aw_rule_about *about, uint32_t rule, struct aw_enforced *ret)
{
	static const struct {
		enum aw_action action;
		const char *call;
	} changes[] = {{AW_WRITE, "openat"}, {AW_WRITE, "fchmodat"},
		{AW_CREATE, "mkdirat"}, {AW_DELETE, "unlinkat"},
		{AW_RENAME, "renameat"}};
	struct aw_refused refused = {
		.path = about->literal ? about->path : NULL,
		.path_len = about->literal ? about->path_len : 0,
		.rule = rule,
	};
	struct aw_enforced one;

	ret->by = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		refused.action = changes[i].action;
		refused.call = changes[i].call;
		aw_strength_of(facts, &refused, &one);
		weaken(ret, &one);
	}
	refused.call = NULL;
	refused.action = AW_READ;
	if (!about->changes_only) {
		aw_strength_of(facts, &refused, &one);
		weaken(ret, &one);
	}
	refused.action = AW_METADATA;
	if (about->strictest == AW_HIDE) {
		aw_strength_of(facts, &refused, &one);
		weaken(ret, &one);
	}
}

static void network_held(const struct aw_strength_facts *facts,
	const struct aw_rule_about *about, uint32_t rule, struct aw_enforced *ret)
{
	struct aw_refused refused = {.action = AW_CONNECT,
		.family = about->path_len ? AF_UNIX : AF_INET,
		.path = about->literal ? about->path : NULL,
		.path_len = about->literal ? about->path_len : 0,
		.rule = rule};

	aw_strength_of(facts, &refused, ret);
}

static void exec_held(const struct aw_strength_facts *facts,
	const struct aw_rule_about *about, uint32_t rule, struct aw_enforced *ret)
{
	static const struct aw_enforced unread = {AW_BY_SUPERVISOR,
		"the supervisor, which does not let the file be read either"};
	struct aw_refused refused = {.action = AW_EXEC,
		.path = about->literal ? about->path : NULL,
		.path_len = about->literal ? about->path_len : 0,
		.rule = rule};

	aw_strength_of(facts, &refused, ret);
	/* a pattern without arguments refuses the reading of what it covers too */
	if (ret->strength == AW_BY_SUPERVISOR_RACED && facts->enforce &&
		about->path_len && !about->arguments)
		*ret = unread;
}

bool aw_strength_of_rule(
	const struct aw_strength_facts *facts, uint32_t rule, struct aw_enforced *ret)
{
	struct aw_rule_about about;

	if (!aw_image_rule_about(facts->image, rule, &about) || about.negated ||
		about.strictest == AW_ALLOW)
		return false;
	if (about.section == AW_RULE_FILES)
		files_held(facts, &about, rule, ret);
	else if (about.section == AW_RULE_EXEC)
		exec_held(facts, &about, rule, ret);
	else
		network_held(facts, &about, rule, ret);
	return true;
}

/*
 * Mounts hold a default when they let nothing be written that the policy does not.  The
 * sandbox's /proc is its own: what can be written there is about its processes.
 */
static bool mounts_hold_default(const struct aw_strength_facts *facts)
{
	const struct aw_plan *plan = facts->mounts;

	for (size_t i = 0; plan && i < plan->count; i++) {
		const struct aw_plan_entry *entry = &plan->entries[i];
		struct aw_decision decision;

		if (strcmp(entry->path, "/proc") == 0)
			continue;
		aw_image_decide_path(facts->image,
			entry->access == AW_PLAN_WRITE ? AW_WRITE : AW_READ,
			entry->path, strlen(entry->path), &decision);
		if (entry->access != AW_PLAN_NOTHING && decision.verdict != AW_ALLOW)
			return false;
	}
	return plan != NULL;
}

/* What a default refuses, by nothing that a rule would say. */
static bool default_held(const struct aw_strength_facts *facts,
	const struct aw_rule_defaults *defaults, unsigned index, const char **ret_name,
	struct aw_enforced *ret)
{
	static const struct {
		const char *name;
		size_t refuses;
		enum aw_action action;
		int family;
	} all[] = {
		{"filesystem.default", offsetof(struct aw_rule_defaults, files_change),
			AW_WRITE, 0},
		{"exec.default", offsetof(struct aw_rule_defaults, exec), AW_EXEC, 0},
		{"network.default", offsetof(struct aw_rule_defaults, connect),
			AW_CONNECT, AF_INET},
		{"network.listen", offsetof(struct aw_rule_defaults, listen), AW_BIND,
			AF_INET},
	};
	struct aw_refused refused;

	if (index >= ARRAY_SIZE(all))
		return false;
	*ret_name = *(const bool *)((const char *)defaults + all[index].refuses)
			    ? all[index].name
			    : NULL;
	refused = (struct aw_refused){.action = all[index].action,
		.family = all[index].family,
		.rule = AW_NO_RULE};
	aw_strength_of(facts, &refused, ret);
	return true;
}

bool aw_strength_of_profile_default(const struct aw_strength_facts *facts,
	unsigned profile, unsigned index, const char **ret_profile,
	const char **ret_name, struct aw_enforced *ret)
{
	struct aw_rule_defaults defaults;

	*ret_profile = aw_image_profile_name(facts->image, profile);
	return aw_image_profile_defaults(facts->image, profile, &defaults) &&
	       default_held(facts, &defaults, index, ret_name, ret);
}

bool aw_strength_of_default(const struct aw_strength_facts *facts, unsigned index,
	const char **ret_name, struct aw_enforced *ret)
{
	static const struct aw_enforced by_mounts = {
		AW_BY_KERNEL, "the mounts of the sandbox"};
	struct aw_rule_defaults defaults;

	aw_image_defaults(facts->image, &defaults);
	if (!default_held(facts, &defaults, index, ret_name, ret))
		return false;
	if (index == 0 && facts->enforce && mounts_hold_default(facts))
		*ret = by_mounts;
	return true;
}
