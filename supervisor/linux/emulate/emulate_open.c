/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_open.c - opening a file for a target. */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "supervisor/git/git.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/emulate/path_act.h"
#include "supervisor/linux/pidfd.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

enum { RETRIES = 16 };

/* Major numbers (kernel: Documentation/admin-guide/devices.txt). */
enum { MEMORY_DEVICES = 1, TERMINAL_ALIASES = 5, PTS_FIRST = 136, PTS_LAST = 143 };

#define RESOLVE_KNOWN                                                                  \
	(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS |               \
		RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_CACHED)

/* What was asked for, whichever of the calls it was. */
struct params {
	uint64_t flags, mode;
	struct aw_path_walk_params walk;
	bool strict; /* openat2 refuses what openat ignores */
};

/* 0, or the errno that openat2 gives for such an argument. */
static int read_how(struct aw_notified *call, struct params *ret)
{
	unsigned char more[4096 - sizeof(struct open_how)];
	uint64_t address = call->args[2], size = call->args[3];
	struct open_how how;

	if (size < sizeof(how))
		return EINVAL;
	if (size > 4096)
		return E2BIG;
	if (!aw_target_read(&call->target, address, &how, sizeof(how)) ||
		!aw_target_read(
			&call->target, address + sizeof(how), more, size - sizeof(how)))
		return EFAULT;
	for (size_t i = 0; i < size - sizeof(how); i++)
		if (more[i])
			return E2BIG;
	if (how.resolve & ~(uint64_t)RESOLVE_KNOWN ||
		(how.resolve & RESOLVE_BENEATH && how.resolve & RESOLVE_IN_ROOT))
		return EINVAL;
	if (how.resolve & RESOLVE_CACHED) /* may always say so */
		return EAGAIN;
	/* would have to go on (see attempt()), and be read once more from memory that
	 * has changed by then; openat has its flags in a register */
	if (how.flags & O_PATH)
		return ENOSYS;
	ret->flags = how.flags;
	ret->mode = how.mode;
	ret->walk.resolve = how.resolve;
	ret->strict = true;
	return 0;
}

static int read_wish(struct aw_notified *call, struct params *ret)
{
	const struct aw_syscall *row = call->row;
	int err = 0;

	*ret = (struct params){
		.walk.dir = row->dir < 0 ? AT_FDCWD : (int)call->args[row->dir]};
	if (row->effect == AW_FX_CREAT) {
		ret->flags = O_CREAT | O_WRONLY | O_TRUNC;
		ret->mode = call->args[1];
	} else if (row->effect == AW_FX_READ) { /* open_tree: a place and no more */
		ret->flags =
			O_PATH | (call->args[2] & OPEN_TREE_CLOEXEC ? O_CLOEXEC : 0);
		err = call->args[2] & OPEN_TREE_CLONE ? EPERM : 0;
	} else if (row->last == AW_LAST_H) {
		err = read_how(call, ret);
	} else {
		ret->flags = (uint32_t)call->args[row->flags];
		ret->mode = call->args[row->flags + 1] & 07777;
	}
	ret->walk.follow = aw_call_follows(
		call, row->effect == AW_FX_READ ? call->args[2] : ret->flags);
	return err;
}

/* Combinations that the kernel refuses before it looks at the path. */
static bool has_bad_flags(const struct params *params)
{
	struct open_how how = {.flags = params->flags, .mode = params->mode};
	bool both =
		(params->flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY);
	long fd;

	/* open(2) ignores what it does not know; only these do not go with everything */
	if (!params->strict && !(params->flags & O_TMPFILE) && !both)
		return false;
	if (params->strict)
		fd = syscall(SYS_openat2, -1, "x", &how, sizeof(how));
	else
		fd = openat(-1, "x", (int)params->flags, (mode_t)params->mode);
	return fd < 0 && errno == EINVAL;
}

static uint64_t mode_of(const struct params *params)
{
	bool makes =
		params->flags & O_CREAT || (params->flags & O_TMPFILE) == O_TMPFILE;

	return makes ? params->mode & 07777 : 0;
}

/*
 * The very object that was judged.  O_NOFOLLOW would stop at our own link to it, and
 * that there is no link at its name is known.
 */
static int open_again(int object, const struct params *params, int more)
{
	uint64_t without =
		O_CREAT | O_NOFOLLOW | (params->flags & O_CREAT ? O_EXCL : 0);
	int flags = (int)(params->flags & ~without) | O_CLOEXEC | O_NOCTTY | more;

	return aw_location_open(object, flags, (mode_t)mode_of(params));
}

static long open_waiting(struct aw_waiting *waiting)
{
	const struct params params = {.flags = waiting->flags, .mode = waiting->mode};

	return open_again(waiting->fd, &params, 0);
}

/* A pipe waits for its other end, a line for its carrier. */
static bool may_wait(const struct aw_location *place, uint64_t flags)
{
	unsigned kind = major(place->st.st_rdev);

	if (flags & (O_NONBLOCK | O_PATH))
		return false;
	if (S_ISFIFO(place->st.st_mode))
		return (flags & O_ACCMODE) != O_RDWR;
	return S_ISCHR(place->st.st_mode) && kind != MEMORY_DEVICES &&
	       kind != TERMINAL_ALIASES && !(kind >= PTS_FIRST && kind <= PTS_LAST);
}

static void wait_for_it(struct aw_notified *call, struct aw_location *place,
	const struct params *params)
{
	const struct aw_waiting waiting = {.watch = call->watch,
		.id = call->id,
		.target = call->target,
		.fd = aw_take_fd(&place->object),
		.second = -1,
		.flags = params->flags,
		.mode = params->mode,
		.as_descriptor = true,
		.work = open_waiting};

	aw_emulate_wait(call, &waiting);
}

/* What is there already is in the way. */
static bool makes_only(const struct params *params)
{
	return (params->flags & (O_CREAT | O_EXCL | O_PATH)) == (O_CREAT | O_EXCL);
}

static bool ends_in_slash(const char *path)
{
	size_t len = strlen(path);

	return len && path[len - 1] == '/';
}

/*
 * What the type of the object alone decides is answered without opening anything, in
 * the order of the kernel's do_open(); 0: it has to be opened.
 */
static int known_answer(const struct aw_location *place, const struct params *params)
{
	mode_t mode = place->st.st_mode;
	bool folder = params->flags & O_DIRECTORY ||
		      (place->parent >= 0 && ends_in_slash(place->last));

	if (makes_only(params))
		return EEXIST;
	if (params->flags & O_CREAT && S_ISDIR(mode))
		return EISDIR;
	if (folder && !S_ISDIR(mode))
		return ENOTDIR;
	return S_ISLNK(mode) ? ELOOP : 0;
}

/*
 * Whoever has a lease on a file could let us wait (fcntl(2), F_SETLEASE): EWOULDBLOCK
 * then.  O_NONBLOCK means nothing else for a plain file and is taken off again.
 */
static int open_plain(const struct aw_location *place, const struct params *params)
{
	AW_CLOSE int fd = open_again(place->object, params, O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (!(params->flags & O_NONBLOCK) &&
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0)
		return -1;
	return aw_take_fd(&fd);
}

static int open_existing(const struct aw_location *place, const struct params *params)
{
	bool plain = S_ISREG(place->st.st_mode);

	return plain ? open_plain(place, params) : open_again(place->object, params, 0);
}

/*
 * Not there yet: made in the directory that was judged; O_EXCL, so it is nobody else's,
 * and no link is followed.
 */
static int open_new(const struct aw_location *place, const struct params *params)
{
	if (!(params->flags & O_CREAT)) {
		errno = ENOENT;
		return -1;
	}
	return aw_location_open_new(
		place, params->flags | O_CLOEXEC | O_NOCTTY, mode_of(params));
}

static bool isatty_device(const struct aw_location *place)
{
	return S_ISCHR(place->st.st_mode) && strcmp(place->name, "/dev/tty") == 0;
}

/*
 * /dev/tty may be opened whoever the terminal's own file belongs to (after su, say):
 * then the target has it open already, and gets one more of that.
 */
static int own_terminal(
	struct aw_notified *call, const struct aw_location *place, uint64_t flags)
{
	AW_CLOSE int pidfd = aw_pidfd_open(call->target.who.pid);

	for (int i = 0; pidfd >= 0 && i < 3; i++) {
		AW_CLOSE int fd = (int)syscall(SYS_pidfd_getfd, pidfd, i, 0);
		struct stat st;
		int mode;

		if (fd < 0 || fstat(fd, &st) < 0 || st.st_rdev != place->st.st_rdev)
			continue;
		mode = fcntl(fd, F_GETFL) & O_ACCMODE;
		if (mode == O_RDWR || mode == (int)(flags & O_ACCMODE))
			return aw_take_fd(&fd);
	}
	return -1;
}

/* Nothing is opened: it is refused, or what was judged says the answer already. */
static bool is_settled(struct aw_notified *call, const struct params *params,
	const struct aw_location *place)
{
	int err;

	if (params->flags & O_CREAT && place->last[0] != '/' &&
		ends_in_slash(place->last)) {
		/* namei.c says so before it looks whether something is there */
		aw_emulate_may(call, place, NULL);
		if (call->reply == AW_REPLY_CONTINUE)
			aw_emulate_answer(call, -EISDIR);
		return true;
	}
	if ((makes_only(params) && aw_emulate_is_taken(call, place)) ||
		!aw_emulate_may(call, place, NULL))
		return true;
	if (params->flags & O_PATH) {
		/*
		 * The kernel hands no such descriptor over (seccomp.c: fget()).  It
		 * names a place and opens nothing: what is done with it is judged
		 * again, at the place that it really is.
		 */
		call->reply = AW_REPLY_CONTINUE;
		return true;
	}
	err = place->object < 0 ? 0 : known_answer(place, params);
	if (err)
		aw_emulate_answer(call, -err);
	return err || (aw_action_of_open(params->flags) != AW_READ &&
			      !aw_git_enter(call, place, false));
}

/* 0 with a descriptor, or an errno. */
static int open_it(struct aw_notified *call, const struct aw_location *place,
	const struct params *params, int *ret)
{
	int err = aw_creds_assume(call->watch, &call->target);

	if (err)
		return err;
	*ret = place->object < 0 ? open_new(place, params)
				 : open_existing(place, params);
	err = *ret < 0 ? errno : 0;
	if (err == EACCES && place->magic && isatty_device(place)) {
		*ret = own_terminal(call, place, params->flags);
		err = *ret < 0 ? EACCES : 0;
	}
	return err;
}

/* Once: find, judge, open.  True: somebody else was faster; look again. */
static bool attempt(struct aw_notified *call, const struct params *params, bool again)
{
	struct aw_location place;
	int fd = -1, err = EWOULDBLOCK;
	bool made, waits;

	if (!aw_emulate_find(call, &params->walk, call->raw, &place, &call->event.path,
		    &call->event.raw))
		return false;
	if (is_settled(call, params, &place)) {
		aw_location_release(&place);
		return false;
	}
	made = place.object < 0;
	waits = !made && may_wait(&place, params->flags);
	if (!waits)
		err = open_it(call, &place, params, &fd);
	/* somebody has a lease */
	waits |= err == EWOULDBLOCK && !made && !(params->flags & O_NONBLOCK);
	/* the target had no room for the descriptor: then the file is not made either */
	if (!err && !aw_emulate_give(call, &fd, params->flags) && made)
		aw_location_unmake(&place, fd);
	aw_git_leave(call);
	aw_cleanup_close(&fd);
	if (waits)
		wait_for_it(call, &place, params);
	aw_location_release(&place);
	if (again && made && err == EEXIST && !(params->flags & O_EXCL))
		return true;
	if (err && !waits)
		aw_emulate_answer(call, -err);
	return false;
}

void aw_emulate_open(struct aw_notified *call)
{
	struct params params;
	int err = read_wish(call, &params);

	call->event.action = call->row->effect == AW_FX_READ
				     ? AW_READ
				     : aw_action_of_open(params.flags);
	if (params.flags & O_CREAT && ends_in_slash(call->raw))
		params.walk.follow = false;
	params.walk.opens = !makes_only(&params) && !(params.flags & O_PATH);
	if (!err && has_bad_flags(&params))
		err = EINVAL;
	if (err) {
		call->silent = true; /* not even a path was looked at */
		aw_emulate_answer(call, -err);
		return;
	}
	for (int tries = RETRIES; attempt(call, &params, tries > 0); tries--)
		;
}
