/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.c - whether the files behind a sandbox are those that were judged.
 *
 * A sandbox's program is given names, and takes a while to mount them all.  Who may
 * change a directory above, such as another session, could put a symbolic link there
 * meanwhile. So the plan notes which file each name is, and before the command runs it
 * is looked at what stands behind the sandbox.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/sandbox/plan_internal.h"
#include "supervisor/util/cleanup.h"

/* By a name without any link, below root (or AT_FDCWD); false with errno. */
static bool look(int root, const char *path, struct stat *ret)
{
	const struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   (root == AT_FDCWD ? 0 : RESOLVE_IN_ROOT)};
	AW_CLOSE int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd >= 0 && fstat(fd, ret) == 0;
}

/* Nobody but root can change what is in this directory. */
static bool is_of_root(const char *folder)
{
	struct stat st;

	return lstat(folder, &st) == 0 && st.st_uid == 0 &&
	       (S_ISLNK(st.st_mode) || !(st.st_mode & (S_IWGRP | S_IWOTH)));
}

/* The same of every directory above a path: a link on the way stays what it is. */
static bool is_way_of_root(const char *path)
{
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash; (slash = strrchr(folder, '/'));) {
		*slash = '\0';
		if (!is_of_root(folder[0] ? folder : "/"))
			return false;
	}
	return true;
}

void aw_plan_identify(struct aw_plan_entry *entry)
{
	struct stat st;

	entry->identity = AW_PLAN_UNKNOWN;
	if (look(AT_FDCWD, entry->source, &st)) {
		entry->identity =
			S_ISLNK(st.st_mode) ? AW_PLAN_EXCHANGED : AW_PLAN_KNOWN;
		entry->device = st.st_dev;
		entry->inode = st.st_ino;
	} else if (errno == ELOOP && !is_way_of_root(entry->source)) {
		entry->identity = AW_PLAN_EXCHANGED;
	}
}

/* Mounted as it is: the sandbox has a /dev and a /proc of its own. */
static bool is_shown(const struct aw_plan_entry *entry)
{
	return entry->access != AW_PLAN_NOTHING && entry->exists &&
	       (!entry->partial || entry->whole) &&
	       strncmp(entry->path, "/dev", 4) != 0 &&
	       strncmp(entry->path, "/proc", 5) != 0;
}

static bool is_same(const struct aw_plan_entry *entry, const struct stat *st)
{
	return entry->device == st->st_dev && entry->inode == st->st_ino;
}

int aw_plan_check(const struct aw_plan *plan, pid_t inside, struct aw_error *err)
{
	AW_CLOSE int root = -1;
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)inside);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return aw_fail(err, errno, "looking behind the sandbox: %s: %s", path,
			strerror(errno));
	for (size_t i = 1; i < plan->count; i++) {
		const struct aw_plan_entry *entry = &plan->entries[i];

		if (!is_shown(entry))
			continue;
		if (entry->identity == AW_PLAN_EXCHANGED ||
			(entry->identity == AW_PLAN_KNOWN &&
				look(root, entry->path, &st) && !is_same(entry, &st)))
			return aw_fail(err, ESTALE,
				"%s was exchanged while the sandbox was made; nothing was "
				"started, so start it again when no other program changes it",
				entry->source);
	}
	return 0;
}
