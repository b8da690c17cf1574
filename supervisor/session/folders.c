/* SPDX-License-Identifier: Apache-2.0 */
/* directories.c - state, configuration and runtime directories of the user. */
#include "supervisor/session/folders.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

const char *aw_home(void)
{
	const char *home = getenv("HOME");
	const struct passwd *account;

	if (home && home[0] == '/')
		return home;
	account = getpwuid(geteuid());
	return account && account->pw_dir[0] == '/' ? account->pw_dir : NULL;
}

/* $variable/rest, or ~/fallback/rest; a relative value does not count (XDG says so). */
static int xdg_path(const char *variable, const char *fallback, const char *rest,
	char **ret, struct aw_error *err)
{
	const char *base = getenv(variable), *home;
	int n;

	if (base && base[0] == '/') {
		n = asprintf(ret, "%s/%s", base, rest);
	} else {
		home = aw_home();
		if (!home)
			return aw_fail(err, ENOENT,
				"no home directory: set HOME or %s to an absolute path",
				variable);
		n = asprintf(ret, "%s/%s/%s", home, fallback, rest);
	}
	return n < 0 ? aw_fail(err, ENOMEM, "out of memory") : 0;
}

/* Like mkdir -p; everything that is made is for the user alone. */
static int make_all(char *path, struct aw_error *err)
{
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		int r, code;

		if (slash)
			*slash = 0;
		r = mkdir(path, 0700);
		code = errno;
		if (r < 0 && (code == EROFS || code == EACCES) && !access(path, F_OK))
			code = EEXIST;
		if (r < 0 && code != EEXIST)
			return aw_fail(err, code, "making the directory %s: %s", path,
				strerror(code));
		if (!slash)
			return 0;
		*slash = '/';
	}
}

int aw_sessions_directory(bool make, char **ret, struct aw_error *err)
{
	AW_FREE char *path = NULL;

	if (xdg_path("XDG_STATE_HOME", ".local/state", "agentwatch/sessions", &path,
		    err) < 0)
		return -1;
	if (make && make_all(path, err) < 0)
		return -1;
	*ret = aw_take_ptr(&path);
	return 0;
}

int aw_config_directory(char **ret, struct aw_error *err)
{
	AW_FREE char *path = NULL;

	if (xdg_path("XDG_CONFIG_HOME", ".config", "agentwatch", &path, err) < 0)
		return -1;
	*ret = aw_take_ptr(&path);
	return 0;
}

static int check_private(const char *path, struct aw_error *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return aw_fail(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return aw_fail(err, ENOTDIR, "%s is not a directory (%s): remove it",
			path,
			S_ISLNK(st.st_mode) ? "a symbolic link" : "something else");
	if (st.st_uid != geteuid())
		return aw_fail(err, EPERM, "%s belongs to another user", path);
	if (st.st_mode & 077)
		return aw_fail(
			err, EPERM, "%s is open to other users: chmod 700 it", path);
	return 0;
}

/* $XDG_RUNTIME_DIR when it is ours: after su it may still be the other user's. */
static const char *own_runtime_dir(void)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (!base || base[0] != '/' || stat(base, &st) < 0)
		return NULL;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() ? base : NULL;
}

int aw_runtime_directory(char **ret, struct aw_error *err)
{
	const char *base = own_runtime_dir(), *tmp = getenv("TMPDIR");
	AW_FREE char *path = NULL;
	int n;

	if (base)
		n = asprintf(&path, "%s/agentwatch", base);
	else
		n = asprintf(&path, "%s/agentwatch-%u",
			tmp && tmp[0] == '/' ? tmp : "/tmp", (unsigned)geteuid());
	if (n < 0)
		return aw_fail(err, ENOMEM, "out of memory");
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return aw_fail(err, errno, "making the directory %s: %s", path,
			strerror(errno));
	if (check_private(path, err) < 0)
		return aw_while(err, "the directory for sockets");
	*ret = aw_take_ptr(&path);
	return 0;
}
