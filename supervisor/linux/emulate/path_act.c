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

struct aw_place_way aw_place_way(int object)
{
	struct aw_place_way way;

	snprintf(way.text, sizeof(way.text), "/proc/self/fd/%d", object);
	return way;
}

int aw_place_open(int object, int flags, mode_t mode)
{
	return openat(aw_place_own_folder(), aw_place_link(object).text, flags, mode);
}

int aw_place_open_new(const struct aw_place *place, uint64_t flags, uint64_t mode)
{
	struct open_how how = {.flags = (flags & OPEN_KNOWN) | O_CREAT | O_EXCL,
		.mode = mode & 07777,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, place->parent, place->last, &how, sizeof(how));
}

int aw_place_make_folder(const struct aw_place *place, unsigned mode)
{
	return mkdirat(place->parent, place->last, mode);
}

int aw_place_make_node(const struct aw_place *place, unsigned mode, dev_t device)
{
	/* the number as the kernel has it, not libc's */
	return (int)syscall(SYS_mknodat, place->parent, place->last, mode, device);
}

int aw_place_make_link(const struct aw_place *place, const char *text)
{
	return symlinkat(text, place->parent, place->last);
}

int aw_place_remove(const struct aw_place *place, int flags)
{
	return unlinkat(place->parent, place->last, flags);
}

/* Is it this very file that has the name? */
static bool is_at(const struct aw_place *place, const struct stat *st)
{
	struct stat there;

	return fstatat(place->parent, place->last, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st->st_dev == there.st_dev && st->st_ino == there.st_ino;
}

void aw_place_unmake(const struct aw_place *place, int fd)
{
	struct stat made;

	if (fstat(fd, &made) == 0 && is_at(place, &made))
		unlinkat(place->parent, place->last, 0);
}

int aw_place_link_to(const struct aw_place *from, const struct aw_place *to)
{
	return linkat(aw_place_own_folder(), aw_place_link(from->object).text,
		to->parent, to->last, AT_SYMLINK_FOLLOW);
}

bool aw_place_is_apart(const struct aw_place *a, const struct aw_place *b)
{
	struct stat one, two;

	return fstat(a->parent, &one) == 0 && fstat(b->parent, &two) == 0 &&
	       one.st_dev != two.st_dev;
}

int aw_place_rename(
	const struct aw_place *from, const struct aw_place *to, unsigned flags)
{
	return renameat2(from->parent, from->last, to->parent, to->last, flags);
}

/* A name in that folder which nobody knows, and which may not be made by a program. */
static int name_between(int parent, struct aw_place *ret)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) < 0)
		return -1;
	*ret = (struct aw_place){.parent = parent, .object = -1};
	snprintf(ret->last, sizeof(ret->last), ".agentwatch-config.%llx",
		(unsigned long long)number);
	return 0;
}

/* Over what is there: by a name of our own, which the protections keep from others. */
static int move_onto(const struct aw_place *from, const struct aw_place *to)
{
	struct aw_place between;
	int saved;

	if (name_between(to->parent, &between) < 0)
		return -1;
	if (aw_place_link_to(from, &between) < 0)
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
	const struct aw_place *from, const struct aw_place *to, unsigned flags)
{
	struct aw_place between;
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

int aw_place_move(
	const struct aw_place *from, const struct aw_place *to, unsigned flags)
{
	if (S_ISDIR(from->st.st_mode))
		return move_folder(from, to, flags);
	/* rename(2): two names of one file stay as they are */
	if (!(flags & RENAME_NOREPLACE) && is_at(to, &from->st))
		return 0;
	if (aw_place_link_to(from, to) < 0 &&
		(errno != EEXIST || flags & RENAME_NOREPLACE ||
			move_onto(from, to) < 0))
		return -1;
	if (is_at(from, &from->st) && unlinkat(from->parent, from->last, 0) < 0)
		return -1;
	return 0;
}

int aw_place_change_mode(const struct aw_place *place, mode_t mode)
{
	if (S_ISLNK(place->st.st_mode)) { /* links have none */
		errno = EOPNOTSUPP;
		return -1;
	}
	return fchmodat(
		aw_place_own_folder(), aw_place_link(place->object).text, mode, 0);
}

int aw_place_change_owner(const struct aw_place *place, uid_t uid, gid_t gid)
{
	return fchownat(
		aw_place_own_folder(), aw_place_link(place->object).text, uid, gid, 0);
}

int aw_place_change_times(const struct aw_place *place, const struct timespec *times)
{
	return (int)syscall(SYS_utimensat, aw_place_own_folder(),
		aw_place_link(place->object).text, times, 0);
}

int aw_place_set_attribute(const struct aw_place *place, const char *name,
	const void *value, size_t size, int how)
{
	return setxattr(aw_place_way(place->object).text, name, value, size, how);
}

int aw_place_remove_attribute(const struct aw_place *place, const char *name)
{
	return removexattr(aw_place_way(place->object).text, name);
}

int aw_place_cut(const struct aw_place *place, off_t size)
{
	AW_CLOSE int fd = -1;

	if (!S_ISREG(place->st.st_mode)) {
		errno = S_ISDIR(place->st.st_mode) ? EISDIR : EINVAL;
		return -1;
	}
	fd = aw_place_open(
		place->object, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	return fd < 0 ? -1 : ftruncate(fd, size);
}

int aw_place_cut_waiting(int object, off_t size)
{
	return truncate(aw_place_way(object).text, size);
}
