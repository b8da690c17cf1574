/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c - arguments of a call turned into paths and addresses. */
#include "preload/arguments.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "policy/path.h"
#include "preload/linux/real_path.h"
#include "preload/text.h"

static int dir_argument(int8_t column, const long args[6])
{
	return column < 0 ? AT_FDCWD : (int)args[column];
}

/* Is a link in the last component followed? */
static bool follows(const struct aw_syscall *row, const long args[6])
{
	long flags = row->flags >= 0 ? args[row->flags] : 0;

	switch ((enum aw_last)row->last) {
	case AW_LAST_F:
	case AW_LAST_H:
		return true;
	case AW_LAST_K:
		return false;
	case AW_LAST_O:
		return !(flags & O_NOFOLLOW) &&
		       (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	case AW_LAST_A:
		return !(flags & AT_SYMLINK_NOFOLLOW);
	case AW_LAST_L:
		return flags & AT_SYMLINK_FOLLOW;
	}
	return true;
}

/* One end of a call: resolved into to, what was passed into *raw when that differs. */
static bool path_end(struct aw_self *self, struct aw_scratch *scratch, int dir,
	const char *path, bool follow, char *to, uint16_t *ret_len, const void **raw,
	uint16_t *raw_len)
{
	long len = aw_string_length(self, path, AW_PATH_MAX);
	size_t n;

	if (len < 0)
		return false;
	n = len ? aw_resolve(scratch, dir, path, (size_t)len, follow, to, AW_PATH_MAX)
		: aw_name_of(dir, to, AW_PATH_MAX);
	*ret_len = (uint16_t)n;
	if (n != (size_t)len || memcmp(to, path, n) != 0) {
		*raw = path;
		*raw_len = (uint16_t)len;
	}
	return n != 0;
}

/* What a symbolic link says, seen from the directory that it is made in. */
static void link_end(struct aw_self *self, struct aw_scratch *scratch, const char *text,
	struct aw_subject *s)
{
	long len = aw_string_length(self, text, AW_PATH_MAX);
	size_t parent = s->head.path_len, n;

	while (parent > 1 && scratch->path[parent - 1] != '/')
		parent--;
	if (len <= 0)
		return;
	n = aw_path_join(
		scratch->path, parent, text, (size_t)len, scratch->path2, AW_PATH_MAX);
	if (n && !aw_is_plain() &&
		(parent = aw_name_by_opening(AT_FDCWD, scratch->path2, false,
			 scratch->base, AW_PATH_MAX))) {
		memcpy(scratch->path2, scratch->base, parent);
		n = parent;
	}
	s->head.path2_len = (uint16_t)n;
	s->parts[3] = text;
	s->head.raw2_len = (uint16_t)len;
}

bool aw_subject_files(struct aw_self *self, struct aw_scratch *scratch,
	const struct aw_syscall *row, const long args[6], struct aw_subject *s)
{
	int dir = dir_argument(row->dir, args);

	s->parts[0] = scratch->path;
	s->parts[1] = scratch->path2;
	if (row->path == AW_ARG_FD ||
		(row->effect == AW_FX_WRITE && !args[row->path])) {
		s->head.path_len =
			(uint16_t)aw_name_of(dir, scratch->path, sizeof(scratch->path));
		return s->head.path_len != 0;
	}
	if (!path_end(self, scratch, dir, (const char *)args[row->path],
		    follows(row, args), scratch->path, &s->head.path_len, &s->parts[2],
		    &s->head.raw_len))
		return false;
	if (row->path2 < 0)
		return true;
	if (row->effect == AW_FX_SYMLINK) {
		link_end(self, scratch, (const char *)args[row->path2], s);
		return true;
	}
	return path_end(self, scratch, dir_argument(row->dir2, args),
		(const char *)args[row->path2], false, scratch->path2,
		&s->head.path2_len, &s->parts[3], &s->head.raw2_len);
}

/* "@name", a NUL in it shown as another @: as the policy has it. */
static size_t abstract_name(const char *name, size_t len, char *to)
{
	for (size_t i = 0; i < len; i++)
		to[i] = name[i] ? name[i] : '@';
	return len;
}

/* Copy a socket address; a Unix path is resolved as a file is. */
static bool address(struct aw_self *self, struct aw_scratch *scratch, const void *from,
	long len, struct aw_subject *s)
{
	struct sockaddr_storage *copy = (void *)scratch->path2;
	const struct sockaddr_un *un = (const void *)copy;

	if (!from || len < 2 || len > (long)sizeof(*copy) || !aw_readable(self, from) ||
		!aw_readable(self, (const char *)from + len - 1))
		return false;
	memset(copy, 0, sizeof(*copy) + 1);
	memcpy(copy, from, (size_t)len);
	s->parts[4] = copy;
	s->head.address_len = (uint16_t)len;
	if (copy->ss_family != AF_UNIX || len <= 2)
		return true;
	s->parts[0] = scratch->path;
	if (un->sun_path[0])
		s->head.path_len = (uint16_t)aw_resolve(scratch, AT_FDCWD, un->sun_path,
			strlen(un->sun_path), true, scratch->path,
			sizeof(scratch->path));
	else
		s->head.path_len = (uint16_t)abstract_name(
			un->sun_path, (size_t)len - 2, scratch->path);
	return true;
}

bool aw_subject_network(struct aw_self *self, struct aw_scratch *scratch, int effect,
	const struct aw_syscall *row, const long args[6], struct aw_subject *s)
{
	const struct msghdr *msg = (const struct msghdr *)args[row->path];

	if (effect != AW_FX_SENDMSG)
		return address(self, scratch, (const void *)args[row->path],
			args[row->flags], s);
	if (!msg || !aw_readable(self, msg) || !msg->msg_name)
		return false;
	return address(self, scratch, msg->msg_name, (long)msg->msg_namelen, s);
}
