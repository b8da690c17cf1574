/* SPDX-License-Identifier: Apache-2.0 */
/* absent.c - is what a target asks for missing, or only out of its sight? */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

/* Cut path back to the deepest directory above it that the host has. */
static bool cut_to_existing(char *path, struct stat *ret)
{
	char *slash;

	while ((slash = strrchr(path, '/'))) {
		slash[slash == path ? 1 : 0] = '\0';
		if (lstat(path, ret) == 0)
			return true;
		if ((errno != ENOENT && errno != ENOTDIR) || slash == path)
			return false;
	}
	return false;
}

/* Does the target see this directory, and not something that a sandbox put over it? */
static bool is_seen(
	const struct aw_target *target, const char *path, const struct stat *on_host)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW, .resolve = RESOLVE_IN_ROOT};
	AW_CLOSE int root = -1, fd = -1;
	struct stat st;
	char link[64];

	if (target->who.plain_root)
		return true;
	snprintf(link, sizeof(link), "/proc/%d/root", target->tid);
	root = open(link, O_PATH | O_CLOEXEC);
	fd = root < 0 ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (st.st_dev == on_host->st_dev && st.st_ino == on_host->st_ino)
		return true;
	/* a directory of which only parts are there can be listed; a cover cannot */
	return (st.st_mode & (S_IRUSR | S_IRGRP | S_IROTH)) != 0;
}

bool aw_call_is_absent(const struct aw_notified *call, const char *path)
{
	char folder[AW_CALL_PATH];
	struct stat st;

	if (path[0] != '/' || strlen(path) >= sizeof(folder))
		return false;
	if (strncmp(path, "/proc/", 6) ==
		0) /* its own: no sandbox covers parts of it */
		return true;
	aw_creds_restore();
	if (lstat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
		return false;
	strcpy(folder, path);
	return cut_to_existing(folder, &st) && is_seen(&call->target, folder, &st);
}
