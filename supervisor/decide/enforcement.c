/* SPDX-License-Identifier: Apache-2.0 */
/* enforcement.c - what holds the rules of one session. */
#include "supervisor/decide/enforcement.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/image/profile.h"
#include "policy/image/region.h"
#include "policy/image/rules.h"
#include "supervisor/linux/landlock_apply.h"
#include "supervisor/util/cleanup.h"

static int hold_with_landlock(const struct aw_policy *policy,
	const struct aw_plan *plan, const struct aw_sandbox *sandbox, bool notified,
	struct aw_landlock *ret, struct aw_error *err)
{
	struct aw_landlock_params params = {.plan = plan,
		.own_mounts = sandbox->own_mounts,
		.no_ports = notified,
		/* without notifications nobody opens what is not granted */
		.image = notified ? policy->image : NULL,
		.abstract_sockets = aw_landlock_abstract(policy->image)};

	if (aw_landlock_probe(err) < 0) /* a second layer may be missing */
		return sandbox->own_mounts ? 0 : -1;
	params.version = aw_landlock_version();
	return aw_landlock_make(&params, ret, err);
}

/* Where the kernel does not refuse every read that a rule refuses, and why. */
static const char *why_reads_are_not_held(
	const struct aw_landlock *landlock, bool walled, bool notified)
{
	if (!walled)
		return "no sandbox holds them";
	if (!notified)
		return "the engine preload has nobody who opens what Landlock does not grant";
	if (!landlock->version)
		return "this kernel has no Landlock";
	return landlock->reads_held ? NULL : landlock->why_not;
}

/* The command gets a directory that it reaches by no mount of the sandbox's. */
static bool inherits_folder(void)
{
	AW_CLOSEDIR DIR *open_ones = opendir("/proc/self/fd");
	const struct dirent *entry;
	struct stat st;

	while (open_ones && (entry = readdir(open_ones))) {
		int fd = atoi(entry->d_name), flags = fcntl(fd, F_GETFD);

		if (entry->d_name[0] != '.' && flags >= 0 && !(flags & FD_CLOEXEC) &&
			fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
			return true;
	}
	return !open_ones;
}

/* What a filter cannot know, or Landlock does not. */
static void settle_gate(const struct aw_policy *policy,
	const struct aw_sandbox *sandbox, bool notified, struct aw_enforcement *ret)
{
	const char *why = why_reads_are_not_held(&ret->landlock, true, notified);

	if (why)
		why = "not all refusals of reads are held by Landlock";
	else if (aw_image_hides(policy->image))
		why = "it would tell whether a hidden file exists";
	else if (geteuid() == 0 && (!sandbox->no_devices || inherits_folder()))
		why = "root could read a disk by a device file in a directory";
	else if (aw_image_profiles_refuse_reads(policy->image))
		why = "a profile refuses reads that others may make";
	ret->gate_refused = why;
}

void aw_enforcement_print(const struct aw_enforcement *holding, FILE *out)
{
	bool walled = holding->drop_capabilities;
	const char *why = why_reads_are_not_held(
		&holding->landlock, walled, holding->facts.notified);

	if (!holding->facts.enforce)
		return;
	if (why)
		fprintf(out, "reads   refused by the supervisor: %s\n", why);
	else
		fputs("reads   refused by Landlock, which grants the others\n", out);
	if (holding->gate_refused)
		fprintf(out, "gate    no open passes: %s\n", holding->gate_refused);
	else
		fputs("gate    opens for reading pass\n", out);
}

int aw_enforcement_init(const struct aw_policy *policy, const struct aw_plan *plan,
	const struct aw_sandbox *sandbox, bool notified, struct aw_enforcement *ret,
	struct aw_error *err)
{
	bool walled = plan && sandbox && (sandbox->landlock || sandbox->own_mounts);

	memset(ret, 0, sizeof(*ret));
	ret->facts = (struct aw_strength_facts){.notified = notified,
		.enforce = policy->mode == AW_ENFORCE,
		.image = policy->image};
	ret->gate_refused = "no sandbox holds what may not be read";
	if (policy->mode != AW_ENFORCE)
		return 0;
	/* with some of them the kernel does what nobody here is asked about */
	ret->drop_capabilities = walled || geteuid() == 0;
	if (!walled)
		return 0;
	/* a second layer inside mounts, the only one without */
	if (hold_with_landlock(policy, plan, sandbox, notified, &ret->landlock, err) <
		0)
		return -1;
	ret->facts.landlock = ret->landlock.version ? &ret->landlock : NULL;
	ret->facts.mounts = sandbox->own_mounts ? plan : NULL;
	ret->facts.no_network =
		sandbox->own_network && plan->network == AW_PLAN_NET_NONE;
	ret->facts.apart = sandbox->own_network;
	settle_gate(policy, sandbox, notified, ret);
	return 0;
}

void aw_enforcement_release(struct aw_enforcement *holding)
{
	aw_landlock_release(&holding->landlock);
	memset(holding, 0, sizeof(*holding));
}

static size_t require_rules(const struct aw_strength_facts *facts,
	enum aw_strength least, void (*say)(const char *fmt, ...))
{
	struct aw_rule_about about;
	struct aw_rule rule;
	struct aw_enforced held;
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
	struct aw_enforced held;
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
	struct aw_enforced held;
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
