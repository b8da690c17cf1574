/* SPDX-License-Identifier: Apache-2.0 */
/* held.c - what holds the rules of one session. */
#include "supervisor/held.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "policy/profile.h"
#include "policy/region.h"
#include "policy/rules.h"
#include "supervisor/kernel/landlock_apply.h"

static int hold_with_landlock(const struct aw_policy *policy,
	const struct aw_plan *plan, const struct aw_wall *wall, bool notified,
	struct aw_landlock *ret, struct aw_error *err)
{
	struct aw_landlock_wish wish = {.plan = plan,
		.own_mounts = wall->own_mounts,
		.no_ports = notified,
		.abstract_sockets = aw_landlock_abstract(policy->image)};

	if (aw_landlock_probe(err) < 0) /* a second layer may be missing */
		return wall->own_mounts ? 0 : -1;
	wish.version = aw_landlock_version();
	return aw_landlock_make(&wish, ret, err);
}

int aw_hold(const struct aw_policy *policy, const struct aw_plan *plan,
	const struct aw_wall *wall, bool notified, struct aw_holding *ret,
	struct aw_error *err)
{
	bool walled = plan && wall && (wall->landlock || wall->own_mounts);

	memset(ret, 0, sizeof(*ret));
	ret->facts = (struct aw_strength_facts){.notified = notified,
		.enforce = policy->mode == AW_ENFORCE,
		.image = policy->image};
	if (policy->mode != AW_ENFORCE)
		return 0;
	if (!walled) { /* root could set up the network so that addresses lead elsewhere
			*/
		ret->drop_network_admin = notified && geteuid() == 0 &&
					  aw_image_network_closed(policy->image);
		return 0;
	}
	/* a second layer inside mounts, the only one without */
	if (hold_with_landlock(policy, plan, wall, notified, &ret->landlock, err) < 0)
		return -1;
	ret->drop_capabilities = true;
	ret->facts.landlock = ret->landlock.version ? &ret->landlock : NULL;
	ret->facts.mounts = wall->own_mounts ? plan : NULL;
	ret->facts.no_network = wall->own_network && plan->network == AW_PLAN_NET_NONE;
	ret->facts.apart = wall->own_network;
	return 0;
}

void aw_holding_release(struct aw_holding *holding)
{
	aw_landlock_release(&holding->landlock);
	memset(holding, 0, sizeof(*holding));
}

static size_t require_rules(const struct aw_strength_facts *facts,
	enum aw_strength least, void (*say)(const char *fmt, ...))
{
	struct aw_rule_about about;
	struct aw_rule rule;
	struct aw_held held;
	size_t weaker = 0;

	for (uint32_t i = 0; aw_image_rule(facts->image, i, &rule); i++) {
		if (!aw_strength_of_rule(facts, i, &held) || held.strength >= least)
			continue;
		aw_image_rule_about(facts->image, i, &about);
		say("%s:%u: %s \"%s\" is held by %s at best (%s)", rule.file, rule.line,
			about.list, rule.text, aw_strength_name(held.strength),
			held.by);
		weaker++;
	}
	return weaker;
}

static size_t require_profiles(const struct aw_strength_facts *facts,
	enum aw_strength least, void (*say)(const char *fmt, ...))
{
	const char *profile, *name;
	struct aw_held held;
	size_t weaker = 0;

	for (unsigned p = 0; p < aw_image_profiles(facts->image); p++)
		for (unsigned i = 0; aw_strength_of_profile_default(
			     facts, p, i, &profile, &name, &held);
			i++) {
			if (!name || held.strength >= least)
				continue;
			say("%s of profile %s is held by %s at best (%s)", name,
				profile, aw_strength_name(held.strength), held.by);
			weaker++;
		}
	return weaker;
}

int aw_require(const struct aw_strength_facts *facts, const char *wanted,
	void (*say)(const char *fmt, ...), struct aw_error *err)
{
	enum aw_strength least = wanted && strcmp(wanted, "kernel") == 0
					 ? AW_BY_KERNEL
					 : AW_BY_SUPERVISOR;
	struct aw_held held;
	const char *name;
	size_t weaker;

	if (!wanted)
		return 0;
	if (!facts->enforce)
		return aw_fail(err, ENOTSUP,
			"--require %s: mode audit refuses nothing, so nothing is held; "
			"say --mode enforce",
			wanted);
	weaker = require_rules(facts, least, say);
	for (unsigned i = 0; aw_strength_of_default(facts, i, &name, &held); i++) {
		if (!name || held.strength >= least)
			continue;
		say("%s is held by %s at best (%s)", name,
			aw_strength_name(held.strength), held.by);
		weaker++;
	}
	weaker += require_profiles(facts, least, say);
	if (!weaker)
		return 0;
	return aw_fail(err, ENOTSUP,
		"--require %s: %zu %s held by less; nothing was started", wanted,
		weaker, weaker == 1 ? "rule is" : "rules are");
}
