/* SPDX-License-Identifier: Apache-2.0 */
/* path_act.c - calls at a place that was judged. */
#include "supervisor/linux/emulate/path_act.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

/* What openat2 does not refuse; openat ignores the rest. */
#define OPEN_KNOWN                                                                     \
	((uint64_t)(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND |     \
		    O_NONBLOCK | O_SYNC | O_ASYNC | O_DIRECT | O_DIRECTORY |           \
		    O_NOFOLLOW | O_NOATIME | O_CLOEXEC))

struct aw_object_path aw_object_path(int object)
{
	struct aw_object_path way;

	snprintf(way.text, sizeof(way.text), "/proc/self/fd/%d", object);
	return way;
}

int aw_location_open(int object, int flags, mode_t mode)
{
	return openat(
		aw_own_descriptors(), aw_descriptor_path(object).text, flags, mode);
}

int aw_location_open_new(const struct aw_location *place, uint64_t flags, uint64_t mode)
{
	struct open_how how = {.flags = (flags & OPEN_KNOWN) | O_CREAT | O_EXCL,
		.mode = mode & 07777,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, place->parent, place->last, &how, sizeof(how));
}

int aw_location_make_directory(const struct aw_location *place, unsigned mode)
{
	return mkdirat(place->parent, place->last, mode);
}

int aw_location_make_node(const struct aw_location *place, unsigned mode, dev_t device)
{
	/* the number as the kernel has it, not libc's */
	return (int)syscall(SYS_mknodat, place->parent, place->last, mode, device);
}

int aw_location_make_link(const struct aw_location *place, const char *text)
{
	return symlinkat(text, place->parent, place->last);
}

int aw_location_remove(const struct aw_location *place, int flags)
{
	return unlinkat(place->parent, place->last, flags);
}

/* Is it this very file that has the name? */
static bool is_at(const struct aw_location *place, const struct stat *st)
{
	struct stat there;

	return fstatat(place->parent, place->last, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st->st_dev == there.st_dev && st->st_ino == there.st_ino;
}

void aw_location_unmake(const struct aw_location *place, int fd)
{
	struct stat made;

	if (fstat(fd, &made) == 0 && is_at(place, &made))
		unlinkat(place->parent, place->last, 0);
}

int aw_location_link_to(const struct aw_location *from, const struct aw_location *to)
{
	return linkat(aw_own_descriptors(), aw_descriptor_path(from->object).text,
		to->parent, to->last, AT_SYMLINK_FOLLOW);
}

bool aw_location_is_apart(const struct aw_location *a, const struct aw_location *b)
{
	struct stat one, two;

	return fstat(a->parent, &one) == 0 && fstat(b->parent, &two) == 0 &&
	       one.st_dev != two.st_dev;
}

int aw_location_rename(
	const struct aw_location *from, const struct aw_location *to, unsigned flags)
{
	return renameat2(from->parent, from->last, to->parent, to->last, flags);
}

/* A name in that directory which nobody knows, and which may not be made by a program. */
static int name_between(int parent, struct aw_location *ret)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) < 0)
		return -1;
	*ret = (struct aw_location){.parent = parent, .object = -1};
	snprintf(ret->last, sizeof(ret->last), ".agentwatch-config.%llx",
		(unsigned long long)number);
	return 0;
}

/* Over what is there: by a name of our own, which the protections keep from others. */
static int move_onto(const struct aw_location *from, const struct aw_location *to)
{
	struct aw_location between;
	int saved;

	if (name_between(to->parent, &between) < 0)
		return -1;
	if (aw_location_link_to(from, &between) < 0)
		return -1;
	if (is_at(&between, &from->st) &&
		renameat(to->parent, between.last, to->parent, to->last) == 0)
		return 0;
	saved = errno;
	unlinkat(to->parent, between.last, 0);
	errno = saved;
	return -1;
}

/* A directory has no second name: it is moved under a name of ours and looked at. */
static int move_folder(
	const struct aw_location *from, const struct aw_location *to, unsigned flags)
{
	struct aw_location between;
	int saved;

	if (name_between(to->parent, &between) < 0 ||
		renameat2(from->parent, from->last, between.parent, between.last,
			RENAME_NOREPLACE) < 0)
		return -1;
	if (!is_at(&between, &from->st))
		errno = ENOENT; /* what was judged had gone by then */
	else if (renameat2(between.parent, between.last, to->parent, to->last, flags) ==
		 0)
		return 0;
	saved = errno;
	renameat2(between.parent, between.last, from->parent, from->last,
		RENAME_NOREPLACE);
	errno = saved;
	return -1;
}

int aw_location_move(
	const struct aw_location *from, const struct aw_location *to, unsigned flags)
{
	if (S_ISDIR(from->st.st_mode))
		return move_folder(from, to, flags);
	/* rename(2): two names of one file stay as they are */
	if (!(flags & RENAME_NOREPLACE) && is_at(to, &from->st))
		return 0;
	if (aw_location_link_to(from, to) < 0 &&
		(errno != EEXIST || flags & RENAME_NOREPLACE ||
			move_onto(from, to) < 0))
		return -1;
	if (is_at(from, &from->st) && unlinkat(from->parent, from->last, 0) < 0)
		return -1;
	return 0;
}

int aw_location_change_mode(const struct aw_location *place, mode_t mode)
{
	if (S_ISLNK(place->st.st_mode)) { /* links have none */
		errno = EOPNOTSUPP;
		return -1;
	}
	return fchmodat(
		aw_own_descriptors(), aw_descriptor_path(place->object).text, mode, 0);
}

int aw_location_change_owner(const struct aw_location *place, uid_t uid, gid_t gid)
{
	return fchownat(aw_own_descriptors(), aw_descriptor_path(place->object).text,
		uid, gid, 0);
}

int aw_location_change_times(
	const struct aw_location *place, const struct timespec *times)
{
	return (int)syscall(SYS_utimensat, aw_own_descriptors(),
		aw_descriptor_path(place->object).text, times, 0);
}

int aw_location_set_attribute(const struct aw_location *place, const char *name,
	const void *value, size_t size, int how)
{
	return setxattr(aw_object_path(place->object).text, name, value, size, how);
}

int aw_location_remove_attribute(const struct aw_location *place, const char *name)
{
	return removexattr(aw_object_path(place->object).text, name);
}

int aw_location_truncate(const struct aw_location *place, off_t size)
{
	AW_CLOSE int fd = -1;

	if (!S_ISREG(place->st.st_mode)) {
		errno = S_ISDIR(place->st.st_mode) ? EISDIR : EINVAL;
		return -1;
	}
	fd = aw_location_open(
		place->object, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	return fd < 0 ? -1 : ftruncate(fd, size);
}

int aw_location_truncate_waiting(int object, off_t size)
{
	return truncate(aw_object_path(object).text, size);
}
