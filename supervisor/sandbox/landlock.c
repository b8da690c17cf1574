/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.c - what a Landlock ruleset grants, holds and looks like. */
#include "supervisor/sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/linux/landlock_apply.h"
#include "supervisor/linux/landlock_rights.h"
#include "supervisor/util/cleanup.h"

int aw_landlock_probe(struct aw_error *err)
{
	if (aw_landlock_version() > 0)
		return 0;
	if (errno == ENOSYS)
		return aw_fail(err, ENOSYS,
			"this kernel has no Landlock (Linux 5.13 or later, built with "
			"CONFIG_SECURITY_LANDLOCK)");
	if (errno == EOPNOTSUPP)
		return aw_fail(err, EOPNOTSUPP,
			"Landlock is in this kernel but not switched on; add landlock "
			"to the boot parameter lsm=");
	return aw_fail(err, errno ? errno : EINVAL, "asking for Landlock: %s",
		strerror(errno ? errno : EINVAL));
}

/* "unix:@name", or a variable of the environment, which may hold one. */
static bool may_be_abstract(const char *text)
{
	text += *text == '!';
	if (strncmp(text, "unix:", 5) != 0)
		return false;
	text += 5;
	return *text != '/' && *text != '~' &&
	       (*text != '$' || strncmp(text, "$env:", 5) == 0 ||
		       strncmp(text, "${env:", 6) == 0);
}

bool aw_landlock_abstract(const struct aw_image *image)
{
	static const char name[] = "@agentwatch:nobody has a rule for this";
	const struct aw_address address = {
		.family = AF_UNIX, .path = name, .path_len = sizeof(name) - 1};
	struct aw_decision decision;
	struct aw_rule rule;

	aw_image_decide_address(image, AW_CONNECT, &address, &decision);
	if (decision.verdict == AW_ALLOW)
		return true;
	for (uint32_t i = 0; aw_image_rule(image, i, &rule); i++)
		if (may_be_abstract(rule.text))
			return true;
	return false;
}

int aw_landlock_enter(const struct aw_landlock *landlock, struct aw_error *err)
{
	AW_CLOSE int fd =
		aw_landlock_begin(landlock->files, landlock->network, landlock->scopes);

	if (fd < 0)
		return aw_fail(
			err, errno, "making a Landlock ruleset: %s", strerror(errno));
	for (size_t i = 0; i < landlock->count; i++) {
		const struct aw_landlock_rule *rule = &landlock->rules[i];

		if (aw_landlock_add_path(fd, rule->path, rule->access) < 0)
			return aw_fail(err, errno, "granting %s to Landlock: %s",
				rule->path, strerror(errno));
	}
	for (size_t i = 0; i < landlock->port_count; i++) {
		const struct aw_landlock_port *port = &landlock->ports[i];

		if (aw_landlock_add_port(fd, port->port, port->access) < 0)
			return aw_fail(err, errno, "granting port %u to Landlock: %s",
				port->port, strerror(errno));
	}
	if (aw_landlock_restrict(fd) < 0)
		return aw_fail(
			err, errno, "going behind Landlock: %s", strerror(errno));
	return 0;
}

/* The rule for exactly the first len bytes of path. */
static const struct aw_landlock_rule *rule_at(
	const struct aw_landlock *landlock, const char *path, size_t len)
{
	size_t low = 0, high = landlock->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *other = landlock->rules[middle].path;
		int order = strncmp(other, path, len);

		if (!order && other[len] == '\0')
			return &landlock->rules[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Grants of all directories from the root down to the first len bytes of path. */
static uint64_t granted(
	const struct aw_landlock *landlock, const char *path, size_t len)
{
	const struct aw_landlock_rule *rule = rule_at(landlock, "/", 1);
	uint64_t access = rule ? rule->access : 0;

	for (size_t i = 1; i <= len; i++) {
		if (i < len && path[i] != '/')
			continue;
		rule = i > 1 ? rule_at(landlock, path, i) : NULL;
		access |= rule ? rule->access : 0;
	}
	return access;
}

uint64_t aw_landlock_granted(const struct aw_landlock *landlock, const char *path)
{
	return granted(landlock, path, strlen(path));
}

static uint64_t granted_to_parent(const struct aw_landlock *landlock, const char *path)
{
	const char *slash = strrchr(path, '/');

	return granted(
		landlock, path, slash && slash > path ? (size_t)(slash - path) : 1);
}

/* Something that is no directory now, and so has nothing to list. */
static bool is_file(const char *path)
{
	struct statx st;

	return statx(AT_FDCWD, path,
		       AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		       STATX_TYPE, &st) == 0 &&
	       !S_ISDIR(st.stx_mode);
}

bool aw_landlock_holds(
	const struct aw_landlock *landlock, enum aw_action action, const char *path)
{
	uint64_t here = aw_landlock_granted(landlock, path);

	switch (action) {
	case AW_READ:
		return !(here & AW_LL_READ_FILE) &&
		       (!(here & AW_LL_READ_DIR) || is_file(path));
	case AW_EXEC:
		return !(here & (AW_LL_EXECUTE | AW_LL_READ_FILE));
	case AW_WRITE:
		return (landlock->files & AW_LL_TRUNCATE) &&
		       !(here & (AW_LL_WRITE_FILE | AW_LL_TRUNCATE));
	case AW_CREATE:
		return !(granted_to_parent(landlock, path) & AW_LL_MAKES);
	case AW_DELETE:
		return !(granted_to_parent(landlock, path) & AW_LL_REMOVES);
	case AW_RENAME:
		return !(granted_to_parent(landlock, path) &
			 (AW_LL_MAKES | AW_LL_REMOVES));
	case AW_BIND:
		return !(granted_to_parent(landlock, path) & AW_LL_MAKE_SOCK);
	default:
		return false;
	}
}

/* The rights of which each lets some of an action be done. */
static uint64_t rights_of(enum aw_action action)
{
	switch (action) {
	case AW_READ:
		return AW_LL_READ_FILE | AW_LL_READ_DIR;
	case AW_EXEC:
		return AW_LL_EXECUTE | AW_LL_READ_FILE;
	case AW_WRITE:
		return AW_LL_WRITE_FILE | AW_LL_TRUNCATE;
	case AW_CREATE:
	case AW_BIND:
		return AW_LL_MAKES;
	case AW_DELETE:
	case AW_RENAME:
		return AW_LL_REMOVES | AW_LL_MAKES;
	default:
		return 0;
	}
}

/* The topmost rule at or above path with one of these rights. */
static const struct aw_landlock_rule *granting(
	const struct aw_landlock *landlock, const char *path, uint64_t rights)
{
	const struct aw_landlock_rule *rule = rule_at(landlock, "/", 1);

	for (size_t i = 1; path[i - 1] && !(rule && (rule->access & rights)); i++)
		if (!path[i] || path[i] == '/')
			rule = rule_at(landlock, path, i);
	return rule && (rule->access & rights) ? rule : NULL;
}

const char *aw_landlock_lets(
	const struct aw_landlock *landlock, enum aw_action action, const char *path)
{
	uint64_t rights = rights_of(action);
	const struct aw_landlock_rule *rule;

	if (aw_landlock_holds(landlock, action, path))
		return NULL;
	rule = granting(landlock, path, rights & ~AW_LL_READ_DIR);
	if (!rule)
		rule = granting(landlock, path, rights);
	return rule ? rule->path : NULL;
}

static const char *access_name(uint64_t access)
{
	if (access & (AW_LL_WRITE_FILE | AW_LL_MAKES))
		return access & AW_LL_READ_FILE ? "read and write" : "write";
	return access & AW_LL_READ_FILE ? "read" : "list";
}

static void print_not_held(
	const struct aw_landlock *landlock, const struct aw_plan *plan, FILE *out)
{
	for (size_t i = 0; plan && i < plan->count; i++) {
		const struct aw_plan_entry *entry = &plan->entries[i];
		bool nothing = entry->access == AW_PLAN_NOTHING;
		const char *lets =
			entry->access == AW_PLAN_WRITE || !entry->exists
				? NULL
				: aw_landlock_lets(landlock,
					  nothing ? AW_READ : AW_WRITE, entry->path);

		if (lets)
			fprintf(out,
				"landlock does not hold: %s of %s, since %s may be %s "
				"as a whole\n",
				nothing ? "reading" : "changes", entry->path, lets,
				aw_landlock_granted(landlock, lets) & AW_LL_READ_FILE
					? "used"
					: "listed");
	}
}

bool aw_landlock_has_no_ports(const struct aw_landlock *landlock)
{
	return landlock && !landlock->port_count &&
	       landlock->network == (AW_LL_CONNECT_TCP | AW_LL_BIND_TCP);
}

void aw_landlock_print(
	const struct aw_landlock *landlock, const struct aw_plan *plan, FILE *out)
{
	fprintf(out, "landlock interface %d\n", landlock->version);
	for (size_t i = 0; i < landlock->count; i++)
		fprintf(out, "landlock %s: %s\n",
			access_name(landlock->rules[i].access),
			landlock->rules[i].path);
	for (size_t i = 0; i < landlock->port_count; i++)
		fprintf(out, "landlock %s: TCP port %u\n",
			landlock->ports[i].access & AW_LL_BIND_TCP ? "listen"
								   : "connect",
			landlock->ports[i].port);
	if (aw_landlock_has_no_ports(landlock))
		fprintf(out, "landlock refuses every TCP port; the supervisor connects "
			     "and listens\n");
	else if (landlock->network)
		fprintf(out, "landlock refuses other TCP ports for%s%s\n",
			landlock->network & AW_LL_CONNECT_TCP ? " connecting" : "",
			landlock->network & AW_LL_BIND_TCP ? " listening" : "");
	if (landlock->scopes)
		fprintf(out, "landlock refuses%s%s outside\n",
			landlock->scopes & AW_LL_SCOPE_SIGNAL ? " signals to processes"
							      : "",
			landlock->scopes & AW_LL_SCOPE_ABSTRACT
				? ", abstract Unix sockets of processes"
				: "");
	print_not_held(landlock, plan, out);
}

void aw_landlock_release(struct aw_landlock *landlock)
{
	for (size_t i = 0; i < landlock->count; i++)
		free(landlock->rules[i].path);
	free(landlock->rules);
	free(landlock->ports);
	memset(landlock, 0, sizeof(*landlock));
}
