/* SPDX-License-Identifier: Apache-2.0 */
/* find.c - our own parts, and programs in PATH. */
#include "supervisor/session/find.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/util/cleanup.h"

char *aw_find_part(const char *name)
{
	static const char *const places[] = {"", "../lib/agentwatch/",
		"../libexec/agentwatch/", "../share/agentwatch/"};
	char self[4096], *path = NULL, *real;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	*(strrchr(self, '/') + 1) = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (asprintf(&path, "%s%s%s", self, places[i], name) < 0)
			return NULL;
		real = realpath(path, NULL);
		free(path);
		if (real)
			return real;
	}
	return NULL;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int aw_find_program(const char *name, char **ret, struct aw_error *err)
{
	const char *path = getenv("PATH");
	bool seen = false;

	if (strchr(name, '/')) {
		*ret = strdup(name);
		if (access(name, F_OK) == 0)
			return is_program(name) ? 0
						: (aw_fail(err, EACCES,
							   "cannot execute '%s': %s",
							   name, strerror(EACCES)),
							  AW_RUN_NOT_EXECUTABLE);
		aw_fail(err, errno, "command '%s' was not found: %s", name,
			strerror(errno));
		return AW_RUN_NOT_FOUND;
	}
	for (const char *at = path ? path : "/bin:/usr/bin"; name[0] && at;) {
		size_t len = strcspn(at, ":");
		char *candidate = NULL;

		if (asprintf(&candidate, "%.*s/%s", len ? (int)len : 1, len ? at : ".",
			    name) < 0)
			break;
		if (is_program(candidate)) {
			*ret = candidate;
			return 0;
		}
		seen |= access(candidate, F_OK) == 0;
		free(candidate);
		at = at[len] ? at + len + 1 : NULL;
	}
	if (seen)
		return aw_fail(err, EACCES, "cannot execute '%s': %s", name,
			       strerror(EACCES)),
		       AW_RUN_NOT_EXECUTABLE;
	aw_fail(err, ENOENT, "command '%s' was not found in PATH", name);
	return AW_RUN_NOT_FOUND;
}

/* May nobody but root, and nobody whose rights we have, change what is at path? */
static bool is_out_of_reach(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return false;
	return st.st_uid == 0 || st.st_uid != geteuid();
}

/* The same of the file at path, without links, and of every directory above it. */
static bool is_held(const char *path)
{
	char at[PATH_MAX], *slash;

	if (!realpath(path, at))
		return false;
	while (is_out_of_reach(at)) {
		slash = strrchr(at, '/');
		if (slash == at)
			return is_out_of_reach("/");
		*slash = '\0';
	}
	return false;
}

char *aw_find_helper(const char *name, char **passed_over)
{
	const char *lists[] = {"/usr/bin:/bin:/usr/local/bin", getenv("PATH")};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		for (const char *at = lists[i]; at && *at;) {
			size_t len = strcspn(at, ":");
			AW_FREE char *folder = strndup(at, len), *path = NULL;

			at += at[len] ? len + 1 : len;
			if (!folder || folder[0] != '/' ||
				asprintf(&path, "%s/%s", folder, name) < 0 ||
				!is_program(path))
				continue;
			if (is_held(folder) && is_held(path))
				return aw_take_ptr(&path);
			if (passed_over && !*passed_over)
				*passed_over = aw_take_ptr(&path);
		}
	}
	return NULL;
}
