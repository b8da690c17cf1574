/* SPDX-License-Identifier: Apache-2.0 */
/* strength.c - by whom a refusal is held in this session. */
#include "supervisor/decide/strength.h"

#include <limits.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/array.h"
#include "policy/image/rules.h"

static const struct aw_enforced on_behalf = {
	AW_BY_SUPERVISOR, "the supervisor, which makes the call itself"};
static const struct aw_enforced raced = {AW_BY_SUPERVISOR_RACED,
	"the supervisor, which judges the call before it goes on"};
static const struct aw_enforced by_shim = {
	AW_BY_SHIM, "the library in the process alone"};
static const struct aw_enforced by_mounts = {AW_BY_KERNEL, "the mounts of the sandbox"};
static const struct aw_enforced by_landlock = {AW_BY_KERNEL, "Landlock"};
static const struct aw_enforced by_landlock_contents = {AW_BY_KERNEL,
	"Landlock, but for mode, owner, times and attributes: the supervisor"};
static const struct aw_enforced no_ports = {AW_BY_SUPERVISOR,
	"the supervisor, which makes the call itself; TCP by Landlock, too"};
static const struct aw_enforced no_network = {
	AW_BY_KERNEL, "the sandbox, which has no network"};
static const struct aw_enforced apart = {AW_BY_KERNEL,
	"the sandbox, whose network leads nowhere: the supervisor makes what goes out"};
static const struct aw_enforced unread = {
	AW_BY_SUPERVISOR, "the supervisor, which does not let the file be read either"};
static const struct aw_enforced by_arguments = {
	AW_BY_SHIM, "advice: the same can be said with other arguments"};

const char *aw_strength_name(enum aw_strength strength)
{
	static const char *const names[] = {
		"shim", "supervisor-raced", "supervisor", "kernel"};

	return names[strength];
}

/* A path of the call, terminated; "" when there is none or it is too long. */
static const char *text_of(const char *path, size_t len, char out[PATH_MAX])
{
	if (len >= PATH_MAX)
		len = 0;
	memcpy(out, path ? path : "", path ? len : 0);
	out[path ? len : 0] = '\0';
	return out;
}

static enum aw_plan_access reach_of_parent(const struct aw_plan *plan, char *path)
{
	char *slash = strrchr(path, '/');
	enum aw_plan_access reach;
	char saved;

	if (!slash)
		return AW_PLAN_WRITE;
	slash += slash == path;
	saved = *slash;
	*slash = '\0';
	reach = aw_plan_reach(plan, path);
	*slash = saved;
	return reach;
}

/* What a sandbox's mounts refuse: what is not there, and every change of what is. */
static bool mounts_hold(
	const struct aw_plan *plan, enum aw_action action, const char *path)
{
	char copy[PATH_MAX];

	switch (action) {
	case AW_READ:
	case AW_EXEC:
	case AW_CONNECT:
	case AW_SEND:
		return aw_plan_lacks(plan, path);
	case AW_METADATA:
		return aw_plan_reach(plan, path) == AW_PLAN_NOTHING;
	case AW_WRITE:
		return aw_plan_reach(plan, path) != AW_PLAN_WRITE;
	case AW_CREATE:
	case AW_DELETE:
	case AW_RENAME:
	case AW_BIND:
		return reach_of_parent(plan, (char *)text_of(path, strlen(path),
						     copy)) != AW_PLAN_WRITE;
	default:
		return false;
	}
}

/* Landlock does not know what a file says about itself, so it lets that be changed. */
static bool changes_attributes(const char *call)
{
	static const char *const words[] = {"chmod", "chown", "utime", "xattr", "attr"};

	for (size_t i = 0; call && i < ARRAY_SIZE(words); i++)
		if (strstr(call, words[i]))
			return true;
	return false;
}

static bool landlock_holds(const struct aw_landlock *landlock,
	const struct aw_refused *refused, const char *path)
{
	if (changes_attributes(refused->call) ||
		(refused->call && strstr(refused->call, "chdir")))
		return false;
	/* the file that gets a second name stays as it is */
	if (refused->call && strstr(refused->call, "link") &&
		!strstr(refused->call, "unlink") && refused->action == AW_WRITE)
		return false;
	return aw_landlock_holds(landlock, refused->action, path);
}

static bool one_path(const struct aw_strength_facts *facts,
	const struct aw_refused *refused, const char *bytes, size_t len,
	struct aw_enforced *ret)
{
	char path[PATH_MAX];

	if (text_of(bytes, len, path)[0] != '/')
		return false;
	if (facts->mounts && mounts_hold(facts->mounts, refused->action, path))
		*ret = by_mounts;
	else if (facts->landlock && landlock_holds(facts->landlock, refused, path))
		*ret = refused->action == AW_WRITE && !refused->call
			       ? by_landlock_contents
			       : by_landlock;
	else
		return false;
	return true;
}

/* A call on two files fails when one of its ends does. */
static bool kernel_holds(const struct aw_strength_facts *facts,
	const struct aw_refused *refused, struct aw_enforced *ret)
{
	if (refused->family && refused->family != AF_UNIX) {
		*ret = facts->no_network ? no_network : apart;
		return facts->apart && refused->action != AW_BIND;
	}
	return one_path(facts, refused, refused->path, refused->path_len, ret) ||
	       one_path(facts, refused, refused->path2, refused->path2_len, ret);
}

static bool may_be_read(
	const struct aw_strength_facts *facts, const char *path, size_t len)
{
	struct aw_decision decision = {AW_ALLOW, AW_NO_RULE};

	if (len)
		aw_image_decide_path_in(
			facts->image, facts->profiles, AW_READ, path, len, &decision);
	return decision.verdict == AW_ALLOW;
}

/* Calls that cannot be made by another process. */
static bool goes_on(enum aw_action action, const char *call)
{
	return action == AW_EXEC || action == AW_METADATA ||
	       (call && strstr(call, "chdir"));
}

/* What the supervisor can do about a call that it is notified of. */
static void supervisor_holds(const struct aw_strength_facts *facts,
	const struct aw_refused *refused, struct aw_enforced *ret)
{
	struct aw_rule_about about;

	*ret = goes_on(refused->action, refused->call) ? raced : on_behalf;
	if ((refused->family == AF_INET || refused->family == AF_INET6) &&
		aw_landlock_has_no_ports(facts->landlock))
		*ret = no_ports;
	if (refused->action != AW_EXEC)
		return;
	if (!may_be_read(facts, refused->path, refused->path_len))
		*ret = unread;
	else if (aw_image_rule_about(facts->image, refused->rule, &about) &&
		 about.arguments)
		*ret = by_arguments;
}

void aw_strength_of_allowed(const struct aw_strength_facts *facts,
	enum aw_action action, const char *call, struct aw_enforced *ret)
{
	if (!facts->notified)
		*ret = by_shim;
	else
		*ret = !facts->enforce || goes_on(action, call) ? raced : on_behalf;
}

void aw_strength_of(const struct aw_strength_facts *facts,
	const struct aw_refused *refused, struct aw_enforced *ret)
{
	if (facts->enforce && kernel_holds(facts, refused, ret))
		return;
	if (!facts->notified)
		*ret = by_shim;
	else if (!facts->enforce)
		*ret = raced;
	else
		supervisor_holds(facts, refused, ret);
}
