/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock_reads.c - reading granted only where no rule can refuse it.
 *
 * A grant is about a directory and all that ever comes below it, a rule about names. So
 * a directory is granted for reading only when every name below it may be read, those
 * that nobody has made yet included ("clean").  Of a directory that is not clean the
 * children are looked at in the same way; of the files right in it only programs are
 * granted, since execve(2) needs that and the supervisor cannot do it instead.  All
 * other reading is done on behalf.  What may be changed stays as it was granted.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/array.h"
#include "policy/image/region.h"
#include "supervisor/linux/landlock_rights.h"
#include "supervisor/sandbox/landlock_internal.h"
#include "supervisor/util/cleanup.h"

/* More would cost every start more than it saves. */
enum { LOOKED_AT_MAX = 4000 };

struct narrowing {
	const struct aw_landlock_params *params;
	const struct aw_landlock *from;
	struct aw_landlock *to;
	size_t looked_at;
	bool failed; /* out of memory */
};

__attribute__((format(printf, 2, 3))) static void refuse(
	struct narrowing *n, const char *fmt, ...)
{
	va_list args;

	if (n->to->why_not[0])
		return;
	va_start(args, fmt);
	vsnprintf(n->to->why_not, sizeof(n->to->why_not), fmt, args);
	va_end(args);
}

static bool is_over(const struct narrowing *n)
{
	return n->failed || n->to->why_not[0];
}

static void grant(struct narrowing *n, const char *path, uint64_t access)
{
	if (!aw_landlock_grant(n->to, path, access))
		n->failed = true;
}

/*
 * What the kernel shows of itself and of other processes there, the supervisor judges
 * by more than names.
 */
static bool is_kernels(const char *path)
{
	static const char *const names[] = {"/proc", "/sys", "/dev"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(path, names[i], len) == 0 &&
			(!path[len] || path[len] == '/'))
			return true;
	}
	return false;
}

static bool is_clean(const struct narrowing *n, const char *path)
{
	return path[1] && aw_image_reads_all(n->params->image, path, strlen(path));
}

static bool is_program(const struct narrowing *n, const char *path, mode_t mode)
{
	struct aw_decision read;

	if (!S_ISREG(mode) || !(mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
		return false;
	aw_image_decide_path(n->params->image, AW_READ, path, strlen(path), &read);
	return read.verdict == AW_ALLOW;
}

static void visit(struct narrowing *n, const char *path);

static void visit_children(struct narrowing *n, const char *path)
{
	AW_CLOSEDIR DIR *folder = opendir(path);
	const struct dirent *child;

	while (folder && !is_over(n) && (child = readdir(folder))) {
		AW_FREE char *name = NULL;

		if (!strcmp(child->d_name, ".") || !strcmp(child->d_name, "..") ||
			child->d_type == DT_LNK)
			continue;
		if (++n->looked_at > LOOKED_AT_MAX)
			refuse(n,
				"more than %d files would have to be looked at, the "
				"last of them in %s",
				LOOKED_AT_MAX, path);
		else if (asprintf(&name, "%s/%s", path[1] ? path : "", child->d_name) <
			 0)
			n->failed = true;
		else
			visit(n, name);
	}
}

static void visit(struct narrowing *n, const char *path)
{
	struct stat st;

	if (is_over(n) || is_kernels(path) || lstat(path, &st) < 0)
		return;
	if (is_program(n, path, st.st_mode))
		grant(n, path, AW_LL_EXECUTE | AW_LL_READ_FILE);
	else if (S_ISDIR(st.st_mode) && is_clean(n, path))
		grant(n, path, AW_LL_READS);
	else if (S_ISDIR(st.st_mode))
		visit_children(n, path);
}

static bool is_granted_above(const struct aw_landlock *landlock, const char *path)
{
	AW_FREE char *above = strdup(path);
	char *slash;

	if (above && path[1] && (slash = strrchr(above, '/'))) {
		slash[slash == above] = '\0';
		return aw_landlock_granted(landlock, above) & AW_LL_READ_FILE;
	}
	return false;
}

/* Its own children in it could be run as soon as they are made, but not be granted. */
static void refuse_writable(struct narrowing *n, const struct aw_landlock_rule *rule)
{
	struct stat st;

	if ((rule->access & AW_LL_MAKE_REG) && (rule->access & AW_LL_READ_FILE) &&
		!is_kernels(rule->path) && lstat(rule->path, &st) == 0 &&
		S_ISDIR(st.st_mode) && !is_clean(n, rule->path))
		refuse(n,
			"new files may be made in %s, and something in it may not be read",
			rule->path);
}

/* What is shown under another name: it cannot be listed by the name it has inside. */
static void visit_shown(struct narrowing *n)
{
	const struct aw_plan *plan = n->params->plan;

	for (size_t i = 0; i < plan->count && !is_over(n); i++) {
		const struct aw_plan_entry *entry = &plan->entries[i];
		struct stat st;

		if (strcmp(entry->path, entry->source) == 0 ||
			entry->access == AW_PLAN_NOTHING ||
			lstat(entry->source, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && !is_clean(n, entry->path))
			refuse(n, "something in %s, which shows %s, may not be read",
				entry->path, entry->source);
		else if (S_ISDIR(st.st_mode))
			grant(n, entry->path, AW_LL_READS);
		else if (is_program(n, entry->path, st.st_mode))
			grant(n, entry->path, AW_LL_EXECUTE | AW_LL_READ_FILE);
	}
}

/* Devices of no content of their own; all others are opened on behalf. */
static void visit_devices(struct narrowing *n)
{
	static const char *const names[] = {"/dev/null", "/dev/zero", "/dev/full",
		"/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/mqueue"};
	static const char shared[] = "/dev/shm";
	bool used = aw_landlock_granted(n->from, shared) & AW_LL_READ_FILE;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (aw_landlock_granted(n->from, names[i]) & AW_LL_READ_FILE &&
			is_clean(n, names[i]))
			grant(n, names[i], AW_LL_READS & ~AW_LL_EXECUTE);
	if (used && is_clean(n, shared))
		grant(n, shared, AW_LL_READS);
	else if (used)
		refuse(n,
			"new files may be made in %s, and something in it may not be read",
			shared);
}

static void narrow(struct narrowing *n)
{
	for (size_t i = 0; i < n->from->count && !is_over(n); i++) {
		const struct aw_landlock_rule *rule = &n->from->rules[i];

		grant(n, rule->path, rule->access & ~AW_LL_READS);
		refuse_writable(n, rule);
	}
	visit_shown(n);
	for (size_t i = 0; i < n->from->count && !is_over(n); i++) {
		const struct aw_landlock_rule *rule = &n->from->rules[i];

		if (rule->access & AW_LL_READ_FILE &&
			!is_granted_above(n->from, rule->path))
			visit(n, rule->path);
	}
	visit_devices(n);
}

int aw_landlock_narrow(
	const struct aw_landlock_params *params, struct aw_landlock *made)
{
	struct aw_landlock to = {.files = made->files};
	struct narrowing n = {.params = params, .from = made, .to = &to};

	narrow(&n);
	if (n.failed) {
		aw_landlock_release(&to);
		return -1;
	}
	memcpy(made->why_not, to.why_not, sizeof(made->why_not));
	made->reads_held = !to.why_not[0];
	if (made->reads_held) {
		struct aw_landlock_rule *rules = made->rules;
		size_t count = made->count;

		aw_landlock_tidy(&to);
		made->rules = to.rules;
		made->count = to.count;
		to.rules = rules;
		to.count = count;
	}
	aw_landlock_release(&to);
	return 0;
}

bool aw_landlock_still(const struct aw_landlock *landlock, const struct aw_image *image,
	const char **ret_path)
{
	for (size_t i = 0; i < landlock->count; i++) {
		const struct aw_landlock_rule *rule = &landlock->rules[i];

		if (!(rule->access & AW_LL_READ_FILE))
			continue;
		*ret_path = rule->path;
		if (!aw_image_reads_all(image, rule->path, strlen(rule->path)))
			return false;
	}
	return true;
}
