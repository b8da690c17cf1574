/* SPDX-License-Identifier: Apache-2.0 */
/* path_walk.c - walking a path as a target would. */
#include "supervisor/linux/target/path_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "policy/path.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/linux/target/path_walk_proc.h"
#include "supervisor/util/cleanup.h"

enum { LINKS_MAX = 40 };

/* One walk: where it is and what is still to go. */
struct walk {
	struct aw_watch *watch;
	const struct aw_target *target;
	uint64_t resolve;
	int root; /* what "/" means: owned, unless it is our own; -1 until it is needed
		   */
	int cur;  /* owned, unless it is the root: the directory reached so far */
	unsigned links;
	bool opens; /* see struct aw_path_walk_params */
	bool magic;
	mode_t own; /* see struct aw_location */
	struct stat start;
	uint64_t mount; /* of where it began, for RESOLVE_NO_XDEV */
	char rest[2 * AW_LOCATION_PATH];
};

/* Kept open, since every call needs them. */
static int own_root = -1, own_folder = -1;

void aw_path_walk_prepare(void)
{
	own_root = open("/", O_PATH | O_CLOEXEC);
	own_folder = open("/proc/self/fd", O_PATH | O_CLOEXEC);
}

int aw_own_descriptors(void)
{
	return own_folder;
}

struct aw_descriptor_path aw_descriptor_path(int fd)
{
	struct aw_descriptor_path link;

	snprintf(link.text, sizeof(link.text), "%d", fd);
	return link;
}

static int open_how(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static int open_of_target(const struct aw_target *target, const char *what)
{
	char link[64];

	int fd;

	snprintf(link, sizeof(link), "/proc/%d/%s", target->tid, what);
	do
		fd = open(link, O_PATH | O_CLOEXEC);
	while (fd < 0 && aw_creds_hinder());
	return fd;
}

static int open_descriptor(const struct aw_target *target, int fd)
{
	char what[32];

	if (fd == AT_FDCWD)
		return open_of_target(target, "cwd");
	snprintf(what, sizeof(what), "fd/%d", fd);
	return open_of_target(target, what);
}

static int open_root(const struct aw_target *target)
{
	return target->who.plain_root ? own_root : open_of_target(target, "root");
}

size_t aw_own_descriptor_name(int fd, char *to, size_t size)
{
	ssize_t n = readlinkat(own_folder, aw_descriptor_path(fd).text, to, size - 1);

	if (n <= 0)
		return 0;
	to[n] = '\0';
	return (size_t)n;
}

void aw_location_release(struct aw_location *place)
{
	if (place->parent >= 0)
		close(place->parent);
	if (place->object >= 0)
		close(place->object);
	place->parent = place->object = -1;
}

static bool same_folder(int a, const struct stat *b)
{
	struct stat st;

	return fstat(a, &st) == 0 && st.st_dev == b->st_dev && st.st_ino == b->st_ino;
}

static bool is_dots(const char *name, size_t len)
{
	return name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'));
}

/* The next component of text: *ret_next is behind it and its slashes. */
static size_t component(const char *text, const char **ret_next)
{
	size_t len = strcspn(text, "/");

	*ret_next = text + len + strspn(text + len, "/");
	return len;
}

/* Put text in front of what is still to go. */
static int prepend(struct walk *w, const char *text, size_t len, const char *rest)
{
	size_t rest_len = strlen(rest);

	if (len + 1 + rest_len + 1 > sizeof(w->rest))
		return ENAMETOOLONG;
	memmove(w->rest + len + (len && rest_len ? 1 : 0), rest, rest_len + 1);
	memcpy(w->rest, text, len);
	if (len && rest_len)
		w->rest[len] = '/';
	return 0;
}

/* Most relative paths never ask.  Opening it may take our own rights for a moment. */
static int find_root(struct walk *w)
{
	if (w->root < 0)
		w->root = open_root(w->target);
	if (w->root < 0)
		return errno == ENOENT ? EBADF : errno;
	return aw_creds_assume(w->watch, w->target);
}

/* By statx(2) since Linux 5.8; 0: not known. */
static uint64_t mount_of(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0 ||
		!(st.stx_mask & STATX_MNT_ID))
		return 0;
	return st.stx_mnt_id;
}

/* openat2(2): RESOLVE_NO_XDEV is about every step, the one to "/" and ".." too. */
static bool is_across(const struct walk *w, int fd)
{
	return w->resolve & RESOLVE_NO_XDEV && mount_of(fd) != w->mount;
}

static int go_to(struct walk *w, int fd)
{
	if (fd < 0)
		return errno;
	if (is_across(w, fd)) {
		if (fd != w->root)
			close(fd);
		return EXDEV;
	}
	if (w->cur != w->root)
		close(w->cur);
	w->cur = fd;
	return 0;
}

/* Where it stands, for the caller to own; -1 with errno. */
static int take_folder(struct walk *w)
{
	return w->cur == w->root ? fcntl(w->root, F_DUPFD_CLOEXEC, 0)
				 : aw_take_fd(&w->cur);
}

static int ascend(struct walk *w)
{
	struct stat root;
	int err = find_root(w);

	if (err)
		return err;
	if (fstat(w->root, &root) < 0)
		return errno;
	if (same_folder(w->cur, &root))
		return w->resolve & RESOLVE_BENEATH ? EXDEV : 0;
	if (w->resolve & RESOLVE_BENEATH && same_folder(w->cur, &w->start))
		return EXDEV;
	return go_to(w, openat(w->cur, "..", O_PATH | O_CLOEXEC));
}

static int go_to_root(struct walk *w)
{
	int err;

	if (w->resolve & RESOLVE_BENEATH)
		return EXDEV;
	err = find_root(w);
	if (!err && is_across(w, w->root))
		return EXDEV;
	return err || w->cur == w->root ? err : go_to(w, w->root);
}

/*
 * fs.protected_symlinks (kernel: Documentation/admin-guide/sysctl/fs.rst): in a sticky
 * directory that all may write to, a link is followed only for its owner or the
 * directory's.
 */
static bool may_follow(const struct walk *w, const struct stat *link)
{
	struct stat dir;

	if (fstat(w->cur, &dir) < 0)
		return false;
	if ((dir.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH))
		return true;
	return link->st_uid == aw_location_fsuid() || link->st_uid == dir.st_uid;
}

static bool in_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * At a symbolic link: *ret_jump becomes what a magic one leads to (owned by the
 * caller), or the text goes in front of the rest.
 */
static int at_link(struct walk *w, int link, const struct stat *st, const char *name,
	const char *rest, int *ret_jump)
{
	char text[AW_LOCATION_PATH];
	bool own = false;
	ssize_t n;
	int err;

	if (w->resolve & RESOLVE_NO_SYMLINKS || ++w->links > LINKS_MAX)
		return ELOOP;
	if (in_proc(w->cur)) {
		err = aw_location_proc_link(w->watch, w->target, w->cur, name, text,
			sizeof(text), ret_jump, &own);
		if (err || *ret_jump >= 0) {
			w->magic |= !err;
			/* proc(5): the mode of such a link is that of the descriptor */
			w->own = own ? st->st_mode & (S_IRUSR | S_IWUSR) : 0;
			return !err && w->resolve & RESOLVE_NO_MAGICLINKS ? ELOOP : err;
		}
		n = (ssize_t)strlen(text);
	} else {
		if (!may_follow(w, st))
			return EACCES;
		n = readlinkat(link, "", text, sizeof(text) - 1);
		if (n <= 0)
			return n < 0 ? errno : ENOENT;
		text[n] = '\0';
	}
	if (text[0] == '/' && (err = go_to_root(w)))
		return err;
	while (n && text[0] == '/')
		memmove(text, text + 1, (size_t)n--);
	return prepend(w, text, (size_t)n, rest);
}

/* As this thread is, with its effective rights; else with errno. */
static bool may_search(int directory)
{
	AW_CLOSE int itself = openat(directory, ".", O_PATH | O_CLOEXEC);

	return itself >= 0;
}

/* The subject is a directory itself: it ended in ".", ".." or at a root. */
static int end_at_folder(struct walk *w, const char *last, struct aw_location *ret)
{
	ret->parent = take_folder(w);
	if (ret->parent < 0)
		return errno;
	ret->object = fcntl(ret->parent, F_DUPFD_CLOEXEC, 0);
	snprintf(ret->last, sizeof(ret->last), "%s", last);
	ret->len = aw_own_descriptor_name(ret->object, ret->name, sizeof(ret->name));
	return ret->object < 0 || fstat(ret->object, &ret->st) < 0 ? errno : 0;
}

/* A link of /proc led straight to it: it may have no directory, and no name either. */
static int end_at_jump(int jump, struct aw_location *ret)
{
	ret->object = jump;
	ret->last[0] = '\0';
	ret->magic = true;
	ret->len = aw_own_descriptor_name(jump, ret->name, sizeof(ret->name));
	return fstat(jump, &ret->st) < 0 ? errno : 0;
}

/* The last component, which is no link to be followed; takes the object over. */
static int end_here(struct walk *w, const char *name, const char *slashes, int *object,
	const struct stat *st, struct aw_location *ret)
{
	size_t len = aw_own_descriptor_name(w->cur, ret->name, sizeof(ret->name));

	if (!len)
		return errno; /* ENAMETOOLONG: so deep that nobody can name it */
	if (ret->name[0] != '/')
		return ENOENT;
	if (len == 1)
		len = 0;
	if (len + 1 + strlen(name) >= sizeof(ret->name))
		return ENAMETOOLONG;
	ret->len = len + (size_t)sprintf(ret->name + len, "/%s", name);
	snprintf(ret->last, sizeof(ret->last), "%s%s", name, slashes);
	ret->parent = take_folder(w);
	if (ret->parent < 0)
		return errno;
	ret->object = aw_take_fd(object);
	ret->magic = w->magic;
	if (ret->object < 0)
		return 0;
	ret->st = *st;
	return w->opens && S_ISCHR(st->st_mode) ? aw_location_own_tty(w->target, ret)
						: 0;
}

/* One component. -1: go on; else the walk is over with that errno (0: done). */
static int step(struct walk *w, bool follow, struct aw_location *ret)
{
	char name[NAME_MAX + 1], rest[sizeof(w->rest)];
	const char *next;
	size_t len = component(w->rest, &next);
	AW_CLOSE int object = -1;
	bool last = !*next, slashes = last && w->rest[len];
	int jump = -1, err;
	struct stat st;

	if (len > NAME_MAX)
		return ENAMETOOLONG;
	memcpy(name, w->rest, len);
	name[len] = '\0';
	memcpy(rest, next, strlen(next) + 1);
	if (is_dots(name, len)) {
		if (len == 2 && (err = ascend(w)))
			return err;
		if (last && len == 1 && !may_search(w->cur))
			return errno;
		if (last)
			return end_at_folder(w, name, ret);
		memcpy(w->rest, rest, strlen(rest) + 1);
		return -1;
	}
	object = openat(w->cur, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (object < 0)
		return last && errno == ENOENT ? end_here(w, name, slashes ? "/" : "",
							 &object, NULL, ret)
					       : errno;
	if (fstat(object, &st) < 0)
		return errno;
	if (is_across(w, object))
		return EXDEV;
	if (!S_ISLNK(st.st_mode) || (last && !follow)) {
		if (last)
			return end_here(w, name, slashes ? "/" : "", &object, &st, ret);
		if (!S_ISDIR(st.st_mode))
			return ENOTDIR;
		memcpy(w->rest, rest, strlen(rest) + 1);
		err = go_to(w, aw_take_fd(&object));
		return err ? err : -1;
	}
	err = at_link(w, object, &st, name, slashes ? "." : rest, &jump);
	if (err) {
		aw_cleanup_close(&jump);
		return err;
	}
	if (jump < 0)
		return -1;
	if (last && !slashes) {
		ret->own = w->own;
		err = is_across(w, jump) ? EXDEV : 0;
		if (err)
			aw_cleanup_close(&jump);
		return err ? err : end_at_jump(jump, ret);
	}
	memcpy(w->rest, slashes ? "." : rest, slashes ? 2 : strlen(rest) + 1);
	err = go_to(w, jump);
	return err ? err : -1;
}

/*
 * Most paths, or what is behind a link, have no link and no "..": then the kernel walks
 * all but the last component at once.  -1: go on; else an errno.
 */
static int try_fast_path(struct walk *w)
{
	char *text = w->rest, *cut = strrchr(text, '/');
	bool plain_last = cut && cut[1];
	int folder, err;

	if (w->resolve || !plain_last || strstr(text, ".."))
		return -1;
	*cut = '\0';
	folder = open_how(w->cur, text, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	err = folder < 0 ? errno : 0;
	*cut = '/';
	if (err)
		return err == ELOOP ? -1 : err;
	memmove(text, cut + 1, strlen(cut + 1) + 1);
	err = go_to(w, folder);
	return err ? err : -1;
}

static int walk(struct walk *w, bool follow, struct aw_location *ret)
{
	int err = try_fast_path(w);

	while (err < 0) {
		unsigned links = w->links;

		if (!w->rest[0]) /* nothing but slashes */
			return end_at_folder(w, "/", ret);
		err = step(w, follow, ret);
		if (err < 0 && w->links != links)
			err = try_fast_path(w);
	}
	return err;
}

/* Where the path starts and what "/" is. */
static int init_walk(
	struct walk *w, const struct aw_path_walk_params *params, const char *path)
{
	bool in_root = params->resolve & RESOLVE_IN_ROOT, only_dots;

	if (in_root)
		w->root = open_descriptor(w->target, params->dir);
	else if (path[0] == '/')
		w->root = open_root(w->target);
	if (w->root < 0 && (in_root || path[0] == '/'))
		return errno == ENOENT ? EBADF : errno;
	if (path[0] == '/' || in_root) {
		if (path[0] == '/' && params->resolve & RESOLVE_BENEATH)
			return EXDEV;
		w->cur = w->root;
	} else {
		w->cur = open_descriptor(w->target, params->dir);
	}
	if (w->cur < 0)
		return errno == ENOENT ? EBADF : errno;
	/* that a name cannot be looked up in a file the kernel says */
	only_dots = !path[strspn(path, "./")];
	if ((params->resolve || only_dots) && fstat(w->cur, &w->start) < 0)
		return errno;
	if (params->resolve & RESOLVE_NO_XDEV)
		w->mount = mount_of(w->cur);
	if (only_dots && path[0] == '.' && !S_ISDIR(w->start.st_mode))
		return ENOTDIR;
	snprintf(w->rest, sizeof(w->rest), "%s", path + strspn(path, "/"));
	return 0;
}

/* How far it came, and what was still to go: no link is in that, or it had gone on. */
static void name_failure(const struct walk *w, struct aw_location *ret)
{
	char base[AW_LOCATION_PATH];
	size_t len =
		w->cur < 0 ? 0 : aw_own_descriptor_name(w->cur, base, sizeof(base));

	ret->len = len && base[0] == '/'
			   ? aw_path_join(base, len, w->rest, strlen(w->rest),
				     ret->name, sizeof(ret->name))
			   : 0;
	ret->name[ret->len] = '\0';
}

int aw_path_walk(struct aw_watch *watch, const struct aw_target *target,
	const struct aw_path_walk_params *params, const char *path,
	struct aw_location *ret)
{
	struct walk w = {.watch = watch,
		.target = target,
		.resolve = params->resolve,
		.opens = params->opens,
		.root = -1,
		.cur = -1};
	int err;

	ret->parent = ret->object = -1;
	ret->magic = false;
	ret->own = 0;
	ret->len = 0;
	/* where the target stands only we may ask; where it may go is its own affair */
	err = *path ? init_walk(&w, params, path) : ENOENT;
	if (!err)
		err = aw_creds_assume(watch, target);
	if (!err)
		err = walk(&w, params->follow, ret);
	if (err)
		name_failure(&w, ret);
	if (w.cur != w.root)
		aw_cleanup_close(&w.cur);
	if (w.root != own_root)
		aw_cleanup_close(&w.root);
	if (err)
		aw_location_release(ret);
	return err;
}

int aw_location_of_descriptor(
	const struct aw_target *target, int fd, struct aw_location *ret)
{
	int object = open_descriptor(target, fd);

	ret->parent = ret->object = -1;
	ret->own = S_IRUSR | S_IWUSR; /* it is held open, and acted on as that */
	if (object < 0)
		return errno == ENOENT ? EBADF : errno;
	return end_at_jump(object, ret);
}
