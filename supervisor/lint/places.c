/* SPDX-License-Identifier: Apache-2.0 */
/* places.c - what the file system of this machine says about the entries of a policy. */
#include "supervisor/lint/places.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "policy/glob.h"
#include "policy/image/rules.h"
#include "supervisor/util/cleanup.h"

/* A walk along the components that a pattern begins with, as far as they are literal. */
struct look {
	const struct aw_policy *policy;
	struct aw_findings *findings;
	const struct aw_entry_place *place;
	struct aw_rule rule;
	struct aw_rule_about about;
	char path[PATH_MAX]; /* so far */
	const char *rest;    /* of the pattern, terminated nowhere */
	size_t rest_len;
};

static void found(struct look *l, enum aw_severity severity, const char *check,
	const char *text, const char *more)
{
	aw_findings_add(l->findings, severity, check, l->rule.file, l->place->line,
		l->place->column, "\"%s\" %s%s", l->rule.text, text, more);
}

/* The next component, unescaped, at the end of path; false at a wildcard or the end. */
static bool step(struct look *l)
{
	size_t skip = 0, len = 0, used = strlen(l->path);

	while (skip < l->rest_len && l->rest[skip] == '/')
		skip++;
	while (skip + len < l->rest_len && l->rest[skip + len] != '/')
		len++;
	if (!len || !aw_glob_literal(l->rest + skip, len) ||
		used + len + 2 > sizeof(l->path))
		return false;
	l->path[used++] = '/';
	for (size_t i = 0; i < len; i++) {
		if (l->rest[skip + i] == '\\' && i + 1 < len)
			i++;
		l->path[used++] = l->rest[skip + i];
	}
	l->path[used] = '\0';
	l->rest += skip + len;
	l->rest_len -= skip + len;
	return true;
}

static bool at_end(const struct look *l)
{
	for (size_t i = 0; i < l->rest_len; i++)
		if (l->rest[i] != '/')
			return false;
	return true;
}

/* /proc and /sys: what is there is made by the kernel, and processes are numbers. */
static bool cannot_come(const struct look *l)
{
	const char *name = strrchr(l->path, '/') + 1;
	char above[PATH_MAX];
	struct statfs fs;

	snprintf(above, sizeof(above), "%.*s", (int)(name - l->path), l->path);
	if (statfs(above, &fs) < 0)
		return false;
	return fs.f_type == SYSFS_MAGIC ||
	       (fs.f_type == PROC_SUPER_MAGIC &&
		       name[strspn(name, "0123456789")] != '\0');
}

static enum aw_action action_of(const struct aw_rule_about *about)
{
	if (about->section == AW_RULE_EXEC)
		return AW_EXEC;
	if (about->section == AW_RULE_NETWORK)
		return strcmp(about->list, "listen") == 0 ? AW_BIND : AW_CONNECT;
	return about->changes_only || strcmp(about->list, "write") == 0 ? AW_WRITE
									: AW_READ;
}

/* Is the file that is reached in the same list, by some other entry? */
static bool is_named_too(const struct look *l, const char *real)
{
	const struct aw_address address = {
		.family = AF_UNIX, .path = real, .path_len = strlen(real)};
	enum aw_action action = action_of(&l->about);
	struct aw_rule_about about;
	struct aw_decision decision;

	if (l->about.section == AW_RULE_NETWORK)
		aw_image_decide_address(l->policy->image, action, &address, &decision);
	else
		aw_image_decide_path(
			l->policy->image, action, real, strlen(real), &decision);
	return aw_image_rule_about(l->policy->image, decision.rule, &about) &&
	       about.list_number == l->about.list_number && !about.negated;
}

/* What is in a directory of the user's is another thing tomorrow. */
static enum aw_severity severity_of(const struct look *l)
{
	return strstr(l->rule.text, "WORKSPACE") || strstr(l->rule.text, "TMPDIR")
		       ? AW_FOUND_NOTE
		       : AW_FOUND_WARNING;
}

static void found_link(struct look *l)
{
	char text[3 * PATH_MAX], real[2 * PATH_MAX];
	bool last = at_end(l);
	struct stat st;
	size_t used;

	/* a link of the kernel's is another one for each who asks */
	if (strncmp(l->path, "/proc/", 6) == 0 || strncmp(l->path, "/dev/", 5) == 0 ||
		!realpath(l->path, real) || (!last && stat(real, &st) < 0) ||
		(!last && !S_ISDIR(st.st_mode)))
		return;
	used = strlen(real);
	snprintf(real + used, sizeof(real) - used, "%.*s", (int)l->rest_len, l->rest);
	if (is_named_too(l, real))
		return;
	snprintf(text, sizeof(text),
		last ? "is about the symbolic link %s alone; what is judged is the "
		       "file that is reached: name %s, too"
		     : "never matches: %s is a symbolic link, and the file that is "
		       "reached is judged: name %s",
		l->path, real);
	found(l, severity_of(l), "link", text, "");
}

/* Go along the literal part; false when it cannot be gone to its end. */
static bool look_at(struct look *l)
{
	struct stat st;

	while (step(l)) {
		if (lstat(l->path, &st) < 0) {
			if (errno != ENOENT)
				return false;
			if (cannot_come(l))
				found(l, AW_FOUND_WARNING, "impossible",
					"never matches: the kernel has no ", l->path);
			else
				found(l, AW_FOUND_NOTE, "nothing-there",
					"matches nothing today: there is no ", l->path);
			return false;
		}
		if (S_ISLNK(st.st_mode)) {
			found_link(l);
			return false;
		}
		if (!S_ISDIR(st.st_mode) && !at_end(l)) {
			found(l, severity_of(l), "below-file",
				"never matches: this is no directory: ", l->path);
			return false;
		}
	}
	return true;
}

/* What follows is a wildcard in a directory that is there. */
static void look_for_any(struct look *l)
{
	AW_FREE char *pattern = strndup(l->about.path, l->about.path_len);
	glob_t any = {.gl_pathc = 0};

	if (!pattern || at_end(l) || strstr(pattern, "**"))
		return;
	if (glob(pattern, GLOB_NOSORT | GLOB_PERIOD, NULL, &any) == GLOB_NOMATCH)
		found(l, AW_FOUND_NOTE, "nothing-there", "matches nothing today in ",
			l->path[0] ? l->path : "/");
	globfree(&any);
}

void aw_places_find(const struct aw_policy *policy,
	bool (*is_own)(const void *ctx, const char *file), const void *ctx,
	struct aw_findings *findings)
{
	struct look l = {.policy = policy, .findings = findings};

	for (size_t i = 0; i < policy->place_count; i++) {
		l.place = &policy->places[i];
		if (l.place->doubled ||
			!aw_image_rule(policy->image, l.place->rule, &l.rule) ||
			!aw_image_rule_about(policy->image, l.place->rule, &l.about) ||
			l.about.negated || !l.about.path_len ||
			!is_own(ctx, l.rule.file))
			continue;
		l.path[0] = '\0';
		l.rest = l.about.path;
		l.rest_len = l.about.path_len;
		if (look_at(&l))
			look_for_any(&l);
	}
}
