/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_change.c - mode, owner, times, extended attributes and size of what is there. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "supervisor/git/git.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/emulate/path_act.h"
#include "supervisor/linux/sockets/emulate_net.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

enum {
	I386_UTIMENSAT = 320,
	I386_CHOWN16_A = 16,
	I386_CHOWN16_B = 95,
	I386_CHOWN16_C = 182
};

/* The arguments, copied out of the target before anything is looked up. */
struct change {
	bool times_given;
	struct timespec times[2];
	char name[XATTR_NAME_MAX + 1];
	void *value; /* owned */
	size_t size;
	int how; /* XATTR_CREATE, XATTR_REPLACE */
	union {	 /* inode flags: FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR */
		int flags;
		struct fsxattr more;
	} inode;
};

static bool read_pairs(
	struct aw_notified *call, uint64_t address, bool narrow, int64_t to[4])
{
	int32_t pairs[4];

	if (!narrow)
		return aw_target_read(&call->target, address, to, 4 * sizeof(*to));
	if (!aw_target_read(&call->target, address, pairs, sizeof(pairs)))
		return false;
	for (int i = 0; i < 4; i++)
		to[i] = pairs[i];
	return true;
}

/* utime: two seconds; utimes and futimesat: with microseconds; utimensat: nanoseconds. */
static int read_times(struct aw_notified *call, struct change *ret)
{
	bool utime = call->sys == AW_SYS_utime, nano = call->sys == AW_SYS_utimensat;
	bool narrow = call->word == 4 && (!nano || call->nr == I386_UTIMENSAT);
	uint64_t address = call->args[call->row->path + 1];
	int64_t raw[4] = {0};

	if (!address)
		return 0;
	ret->times_given = true;
	if (utime) {
		int32_t small[2];

		if (narrow ? !aw_target_read(&call->target, address, small, 8)
			   : !aw_target_read(&call->target, address, raw, 16))
			return EFAULT;
		ret->times[0].tv_sec = narrow ? small[0] : raw[0];
		ret->times[1].tv_sec = narrow ? small[1] : raw[1];
		return 0;
	}
	if (!read_pairs(call, address, narrow, raw))
		return EFAULT;
	for (int i = 0; i < 2; i++) {
		if (!nano && (raw[2 * i + 1] < 0 || raw[2 * i + 1] >= 1000000))
			return EINVAL;
		ret->times[i].tv_sec = raw[2 * i];
		ret->times[i].tv_nsec = nano ? raw[2 * i + 1] : raw[2 * i + 1] * 1000;
	}
	return 0;
}

static int read_attribute_name(
	struct aw_notified *call, int argument, struct change *ret)
{
	ssize_t n = aw_target_string(
		&call->target, call->args[argument], ret->name, sizeof(ret->name));

	if (n < 0)
		return errno == ENAMETOOLONG ? ERANGE : EFAULT;
	return n == 0 ? ERANGE : 0;
}

static int read_value(
	struct aw_notified *call, uint64_t address, uint64_t size, struct change *ret)
{
	if (size > XATTR_SIZE_MAX)
		return E2BIG;
	ret->size = (size_t)size;
	ret->value = malloc(ret->size + 1);
	if (!ret->value)
		return ENOMEM;
	return aw_target_read(&call->target, address, ret->value, ret->size) ? 0
									     : EFAULT;
}

static int read_attribute(struct aw_notified *call, bool at, struct change *ret)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args;
	int err = read_attribute_name(call, at ? 3 : 1, ret);

	if (err)
		return err;
	if (!at) {
		ret->how = (int)call->args[4];
		return read_value(call, call->args[2], call->args[3], ret);
	}
	if (call->args[5] < sizeof(args))
		return EINVAL;
	if (!aw_target_read(&call->target, call->args[4], &args, sizeof(args)))
		return EFAULT;
	ret->how = (int)args.flags;
	return read_value(call, args.value, args.size, ret);
}

static int read_change(struct aw_notified *call, struct change *ret)
{
	switch (call->sys) {
	case AW_SYS_ioctl:
		return aw_target_read(&call->target, call->args[2], &ret->inode,
			       call->args[1] == FS_IOC_SETFLAGS
				       ? sizeof(ret->inode.flags)
				       : sizeof(ret->inode.more))
			       ? 0
			       : EFAULT;
	case AW_SYS_truncate:
		return call->word == 8 && (int64_t)call->args[1] < 0 ? EINVAL : 0;
	case AW_SYS_utime:
	case AW_SYS_utimes:
	case AW_SYS_futimesat:
	case AW_SYS_utimensat:
		return read_times(call, ret);
	case AW_SYS_setxattr:
	case AW_SYS_lsetxattr:
	case AW_SYS_fsetxattr:
		return read_attribute(call, false, ret);
	case AW_SYS_setxattrat:
		return read_attribute(call, true, ret);
	case AW_SYS_removexattr:
	case AW_SYS_lremovexattr:
	case AW_SYS_fremovexattr:
		return read_attribute_name(call, 1, ret);
	case AW_SYS_removexattrat:
		return read_attribute_name(call, 3, ret);
	default:
		return 0;
	}
}

/* 16-bit ids of old 32-bit calls: 0xffff means "leave it". */
static unsigned id_of(const struct aw_notified *call, uint64_t value)
{
	bool small = call->word == 4 &&
		     (call->nr == I386_CHOWN16_A || call->nr == I386_CHOWN16_B ||
			     call->nr == I386_CHOWN16_C);

	return small && (uint16_t)value == 0xffff ? (unsigned)-1
	       : small				  ? (uint16_t)value
						  : (uint32_t)value;
}

/* The flags of an inode are changed through a descriptor, one for reading will do. */
static long set_inode(const struct aw_notified *call, const struct change *c,
	const struct aw_location *place)
{
	AW_CLOSE int fd = aw_location_open(
		place->object, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);

	return fd < 0 ? -1 : ioctl(fd, call->args[1], &c->inode);
}

/* Make the change at an object that is pinned. */
static long change_object(const struct aw_notified *call, const struct change *c,
	const struct aw_location *place)
{
	int first =
		call->row->path < 0 || call->row->path == 0 ? 1 : call->row->path + 1;

	switch (call->sys) {
	case AW_SYS_chmod:
	case AW_SYS_fchmod:
	case AW_SYS_fchmodat:
	case AW_SYS_fchmodat2:
		return aw_location_change_mode(
			place, (mode_t)call->args[first] & 07777);
	case AW_SYS_chown:
	case AW_SYS_lchown:
	case AW_SYS_fchown:
	case AW_SYS_fchownat:
		return aw_location_change_owner(place, id_of(call, call->args[first]),
			id_of(call, call->args[first + 1]));
	case AW_SYS_utime:
	case AW_SYS_utimes:
	case AW_SYS_futimesat:
	case AW_SYS_utimensat:
		return aw_location_change_times(
			place, c->times_given ? c->times : NULL);
	case AW_SYS_ioctl:
		return set_inode(call, c, place);
	case AW_SYS_truncate:
		return aw_location_truncate(place, (off_t)call->args[1]);
	case AW_SYS_setxattr:
	case AW_SYS_lsetxattr:
	case AW_SYS_fsetxattr:
	case AW_SYS_setxattrat:
		return aw_location_set_attribute(
			place, c->name, c->value, c->size, c->how);
	default:
		return aw_location_remove_attribute(place, c->name);
	}
}

/* By the object itself, whatever stands at its name by now. */
static long change_at(const struct aw_notified *call, const struct change *c,
	const struct aw_location *place)
{
	if (place->object < 0) {
		errno = ENOENT;
		return -1;
	}
	if (strchr(place->last, '/') && !S_ISDIR(place->st.st_mode)) {
		errno = ENOTDIR;
		return -1;
	}
	return change_object(call, c, place);
}

/* Flags that the kernel would refuse; what it accepts is looked at elsewhere. */
static bool has_bad_flags(const struct aw_notified *call)
{
	if (call->row->last != AW_LAST_A || call->row->flags < 0)
		return false;
	return call->args[call->row->flags] &
	       ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT);
}

/* utimensat(2): without a path it is about the descriptor, but for AT_FDCWD. */
static bool has_descriptor_alone(const struct aw_notified *call)
{
	return (call->sys == AW_SYS_utimensat || call->sys == AW_SYS_futimesat) &&
	       (int)call->args[call->row->dir] != AT_FDCWD;
}

/* Is a descriptor the subject? raw holds the path otherwise. False: answered. */
static bool read_subject(struct aw_notified *call, bool *ret_descriptor)
{
	const struct aw_syscall *row = call->row;
	bool may_be_empty = row->last == AW_LAST_A && row->flags >= 0 &&
			    call->args[row->flags] & AT_EMPTY_PATH;

	*ret_descriptor = row->path == AW_ARG_FD || call->sys == AW_SYS_ioctl ||
			  (!call->args[row->path] &&
				  (has_descriptor_alone(call) || may_be_empty));
	if (*ret_descriptor)
		return true;
	if (!aw_emulate_read(call, call->args[row->path], call->raw))
		return false;
	*ret_descriptor = may_be_empty && !call->raw[0];
	return true;
}

/* A descriptor that was opened with O_PATH is none to these calls: open(2). */
static bool needs_open_file(const struct aw_notified *call)
{
	return call->row->path == AW_ARG_FD || call->sys == AW_SYS_ioctl ||
	       (!call->args[call->row->path] && has_descriptor_alone(call));
}

/* False: answered. */
static bool is_open_file(struct aw_notified *call, int number)
{
	AW_CLOSE int fd = -1;

	aw_creds_restore();
	fd = aw_emulate_socket(call, number);
	if (fd < 0)
		return false;
	if (!(fcntl(fd, F_GETFL) & O_PATH))
		return true;
	aw_emulate_answer(call, -EBADF);
	return false;
}

static bool find_subject(struct aw_notified *call, struct aw_location *ret)
{
	const struct aw_syscall *row = call->row;
	struct aw_path_walk_params params = {
		.dir = call->sys == AW_SYS_ioctl ? (int)call->args[0]
		       : row->dir < 0		 ? AT_FDCWD
						 : (int)call->args[row->dir],
		.follow = aw_call_follows(call, aw_call_open_flags(call)),
	};
	bool descriptor;
	int err;

	if (!read_subject(call, &descriptor))
		return false;
	if (!descriptor)
		return aw_emulate_find(call, &params, call->raw, ret, &call->event.path,
			&call->event.raw);
	if (needs_open_file(call) && !is_open_file(call, params.dir))
		return false;
	err = aw_location_of_descriptor(&call->target, params.dir, ret);
	if (err) {
		aw_emulate_answer(call, -err);
		return false;
	}
	memcpy(call->path, ret->name, ret->len + 1);
	call->event.path = (struct aw_text){call->path, ret->len};
	return true;
}

/* Of all these calls one alone changes what is in the file. */
static bool may_cut(struct aw_notified *call, const struct aw_location *place)
{
	return call->sys != AW_SYS_truncate || aw_git_enter(call, place, false);
}

static long cut_waiting(struct aw_waiting *waiting)
{
	return aw_location_truncate_waiting(waiting->fd, (off_t)waiting->mode);
}

/* It is allowed: do it, or let a thread wait that can. */
static void carry_out(struct aw_notified *call, const struct change *change,
	struct aw_location *place)
{
	struct aw_waiting waiting = {.watch = call->watch,
		.id = call->id,
		.target = call->target,
		.second = -1,
		.mode = call->args[1],
		.work = cut_waiting};
	long result = -1;

	errno = aw_creds_assume(call->watch, &call->target);
	if (!errno)
		result = change_at(call, change, place);
	if (result >= 0 || errno != EWOULDBLOCK || call->sys != AW_SYS_truncate) {
		aw_emulate_answer(call, result < 0 ? -errno : result);
		return;
	}
	aw_git_leave(call);
	waiting.fd = aw_take_fd(&place->object);
	aw_emulate_wait(call, &waiting);
}

/* utimensat(2): then nothing is looked at, not even the path. */
static bool changes_nothing(const struct change *change)
{
	return change->times_given && change->times[0].tv_nsec == UTIME_OMIT &&
	       change->times[1].tv_nsec == UTIME_OMIT;
}

void aw_emulate_change(struct aw_notified *call)
{
	struct change change = {.value = NULL};
	struct aw_location place;
	int err = has_bad_flags(call) ? EINVAL : read_change(call, &change);

	if (changes_nothing(&change)) {
		call->silent = true;
		aw_emulate_answer(call, 0);
	} else if (err) {
		call->silent = true; /* no file was looked at */
		aw_emulate_answer(call, -err);
	} else if (find_subject(call, &place)) {
		if (aw_emulate_may(call, &place, NULL) && may_cut(call, &place))
			carry_out(call, &change, &place);
		aw_git_leave(call);
		aw_location_release(&place);
	}
	free(change.value);
}
