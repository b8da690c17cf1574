/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - the hot path: one open, decided and logged in the process. */
#include "preload/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include "policy/path.h"
#include "preload/linux/arch.h"
#include "preload/linux/symbol.h"
#include "preload/linux/verified_paths.h"
#include "preload/text.h"

#ifndef RESOLVE_NO_SYMLINKS
#define RESOLVE_NO_SYMLINKS 0x04
#endif

/* What the kernel keeps of open(2)'s flags (fs/fcntl.h, VALID_OPEN_FLAGS). */
#define OPEN_FLAGS                                                                     \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK |   \
		O_SYNC | O_DSYNC | O_ASYNC | O_DIRECT | 0100000 | O_DIRECTORY |        \
		O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH | O_TMPFILE)
#define PATH_FLAGS (O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC)

/* openat2(2) refuses what open(2) ignores: reduce to what open would have used. */
static void reduce(int flags, unsigned mode, struct open_how *how)
{
	how->flags = (unsigned)(flags & OPEN_FLAGS);
	if (how->flags & O_PATH)
		how->flags &= PATH_FLAGS;
	how->mode = 0;
	if (how->flags & O_CREAT || (how->flags & O_TMPFILE) == O_TMPFILE)
		how->mode = mode & 07777;
	how->resolve = RESOLVE_NO_SYMLINKS;
}

/* Through the gate where there is a filter to pass. */
static long call4(long nr, long a, long b, long c, long d)
{
	return aw_work() == AW_WORK_PRELOAD ? aw_raw6(nr, a, b, c, d, 0, 0)
					    : aw_gated6(nr, a, b, c, d, 0, 0);
}

/* "/proc/self/fd/N" read as a directory's name; 0 when it has none. */
static size_t descriptor_name(int fd, char *to, size_t size)
{
	char link[40];
	size_t n = aw_text_copy(link, sizeof(link), "/proc/self/fd/");
	long len;

	if (fd < 0)
		return 0;
	aw_text_number(link + n, (unsigned long)fd);
	len = call4(__NR_readlinkat, AT_FDCWD, (long)link, (long)to, (long)size - 1);
	if (len <= 0 || to[0] != '/')
		return 0;
	to[len] = '\0';
	if (len > 10 && aw_text_equal(to + len - 10, " (deleted)"))
		return 0;
	return (size_t)len;
}

/* The lexical absolute path in scratch->path; its length, 0 when only the kernel knows. */
static size_t lexical(struct aw_self *self, struct aw_scratch *scratch, int dir,
	const char *path, size_t len)
{
	size_t base = 1;

	scratch->base[0] = '/';
	if (path[0] != '/') {
		if (dir == AT_FDCWD)
			base = aw_cwd(self, scratch->base, sizeof(scratch->base));
		else
			base = descriptor_name(
				dir, scratch->base, sizeof(scratch->base));
		if (!base)
			return 0;
	}
	return aw_path_join(
		scratch->base, base, path, len, scratch->path, sizeof(scratch->path));
}

static bool put(struct aw_ring *ring, const struct aw_record *head,
	const void *const parts[5], struct aw_ticket *ret)
{
	while (!aw_ring_put(ring, head, parts, AW_REC_PENDING, 0, ret))
		if (!aw_ring_wait(ring))
			return false;
	aw_ring_pushed(ring);
	return true;
}

/* Decide on path and commit the record; false: let the kernel layer see it. */
static bool decide_and_log(struct aw_self *self, enum aw_call call, int flags,
	const char *path, size_t len, const char *raw, size_t raw_len,
	struct aw_ticket *ticket)
{
	struct aw_record head = {
		.ts = aw_now(), .pid = self->pid, .call = (uint16_t)call};
	const void *const parts[5] = {path, NULL, raw, NULL, NULL};
	struct aw_decision decision;

	head.action = (uint8_t)aw_action_of_open((unsigned)flags);
	aw_image_decide_in_place_in(aw_policy(), atomic_load(&self->ring)->profiles,
		(enum aw_action)head.action, path, len, &decision);
	if (decision.verdict != AW_ALLOW && aw_session()->enforce)
		return false; /* judged again by where the path really leads */
	head.verdict = (uint8_t)decision.verdict;
	head.rule = decision.rule;
	head.path_len = (uint16_t)len;
	if (path != raw && (raw_len != len || memcmp(raw, path, len) != 0))
		head.raw_len = (uint16_t)raw_len;
	return put(atomic_load(&self->ring), &head, parts, ticket);
}

/*
 * Length of a path that is absolute and normal already; 0 for all others, among them a
 * few that only look as if they were not (a component "..x").
 */
static size_t normal_length(struct aw_self *self, const char *path)
{
	const char *at = path;
	char before = 0;

	if (!aw_readable(self, path) || *path != '/')
		return 0;
	for (; *at; before = *at++) {
		if (((uintptr_t)(at + 1) & 4095) == 0 && !aw_readable(self, at + 1))
			return 0;
		if (before == '/' &&
			(*at == '/' || (*at == '.' && (at[1] == '/' || at[1] == '.' ||
							      !at[1]))))
			return 0;
		if (at - path >= AW_PATH_MAX - 1)
			return 0;
	}
	return before == '/' && at - path > 1 ? 0 : (size_t)(at - path);
}

/* The same for a path that has to be worked on first. */
static bool log_lexically(struct aw_self *self, enum aw_call call, int dir,
	const char *path, int flags, struct aw_ticket *ticket)
{
	long raw_len = aw_string_length(self, path, AW_PATH_MAX);
	struct aw_scratch *scratch;
	size_t len;
	bool logged;

	if (raw_len <= 0 || !(scratch = aw_scratch_claim(self)))
		return false;
	len = lexical(self, scratch, dir, path, (size_t)raw_len);
	logged = len && decide_and_log(self, call, flags, scratch->path, len, path,
				(size_t)raw_len, ticket);
	aw_scratch_release(self, scratch);
	return logged;
}

extern void pthread_testcancel(void) __attribute__((weak));

/*
 * open(2) is a cancellation point, and the gate page cannot be unwound: what may block
 * goes through libc when there are threads.  A cancellation that is pending already is
 * acted on in aw_fast_open().
 */
static bool may_block(int dir, const char *path, int flags)
{
	struct stat st;
	if (&__libc_single_threaded && __libc_single_threaded)
		return false;
	if (flags & (O_NONBLOCK | O_PATH | O_DIRECTORY) ||
		(flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return false;
	return call4(__NR_newfstatat, dir, (long)path, (long)&st, 0) == 0 &&
	       !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Flags that make an open more than a look; as the filter has them. */
#define CHANGE_FLAGS                                                                   \
	(O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | (O_TMPFILE & ~O_DIRECTORY))

/* Decided in this process: not with verdicts "ask", not where the kernel layer decides. */
static bool works_here(int flags)
{
	enum aw_work work = aw_work();

	return work == AW_WORK_FAST ||
	       (work == AW_WORK_READS && !(flags & CHANGE_FLAGS)) ||
	       (work == AW_WORK_PRELOAD && !aw_session()->ask);
}

/* One open for reading: as it was asked for, and the record's path in the scratch. */
struct reading {
	struct aw_self *self;
	struct aw_scratch *scratch;
	int dir;
	const char *path;
	size_t raw_len, len;
	uint32_t links; /* aw_links_now() before the open */
};

/* The record's path ends in what was asked for, so no "..", "." or slash went away. */
static bool is_as_given(const struct reading *r)
{
	const char *end = r->scratch->path + r->len - r->raw_len;

	return r->raw_len <= r->len && memcmp(end, r->path, r->raw_len) == 0 &&
	       (*end == '/' || (r->len > r->raw_len && end[-1] == '/'));
}

/* The directory is known, and under this name is the very file: it is no link. */
static bool is_known(const struct reading *r, const struct stat *opened)
{
	struct stat named;

	return is_as_given(r) && !aw_session()->hides &&
	       aw_is_proven(r->self, r->scratch->path, r->len, r->links) &&
	       call4(__NR_newfstatat, r->dir, (long)r->path, (long)&named,
		       AT_SYMLINK_NOFOLLOW) == 0 &&
	       named.st_ino == opened->st_ino && named.st_dev == opened->st_dev &&
	       aw_links_now() == r->links;
}

/* The directory is known, and nothing, not even a link, has this name in it. */
static bool is_missing(const struct reading *r)
{
	struct stat named;

	return is_as_given(r) && !aw_session()->hides &&
	       aw_is_proven(r->self, r->scratch->path, r->len, r->links) &&
	       call4(__NR_newfstatat, r->dir, (long)r->path, (long)&named,
		       AT_SYMLINK_NOFOLLOW) == -ENOENT &&
	       aw_links_now() == r->links;
}

/* Did the descriptor come out where the record says? A link may have led elsewhere. */
static bool is_at(long fd, const struct reading *r)
{
	char *name = r->scratch->base;
	struct stat st;

	/* pipes and devices cannot be opened a second time without being noticed */
	if (aw_raw(__NR_fstat, fd, (long)&st) < 0 ||
		!(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) || is_known(r, &st))
		return true;
	if (descriptor_name((int)fd, name, sizeof(r->scratch->base)) != r->len ||
		memcmp(name, r->scratch->path, r->len) != 0)
		return false;
	if (aw_links_now() == r->links)
		aw_prove(r->self, r->scratch->path, r->len, r->links);
	return true;
}

/* Open, and prove that the path was what it looked like; AW_PASS: the supervisor does. */
static long open_proven(
	const struct reading *r, int flags, const struct aw_ticket *ticket)
{
	long ret = call4(__NR_openat, r->dir, (long)r->path, flags, 0);
	bool proven = true;

	if (ret == -ENOENT || ret == -ENOTDIR)
		proven = is_missing(r);
	else if (ret == -EFAULT || ret == -ENOSYS || ret == -EACCES || ret == -ELOOP)
		proven = false; /* the supervisor knows why */
	else if (ret >= 0)
		proven = is_at(ret, r);
	if (proven) {
		aw_ring_result(ticket, AW_REC_DONE, ret < 0 ? (unsigned)-ret : 0);
		return ret;
	}
	if (ret >= 0)
		aw_raw(__NR_close, ret);
	aw_ring_result(ticket, AW_REC_VOID, 0);
	return AW_PASS;
}

/*
 * Enforce: the filter lets openat(2) through from here, whose flags are in a register,
 * and not openat2(2), so links are followed and the proof comes after.
 */
static long open_to_read(
	struct aw_self *self, enum aw_call call, int dir, const char *path, int flags)
{
	struct reading r = {
		.self = self, .dir = dir, .path = path, .links = aw_links_now()};
	long raw_len = aw_string_length(self, path, AW_PATH_MAX), ret = AW_PASS;
	struct aw_ticket ticket;

	if (raw_len <= 0 || !(r.scratch = aw_scratch_claim(self)))
		return AW_PASS;
	r.raw_len = (size_t)raw_len;
	r.len = lexical(self, r.scratch, dir, path, r.raw_len);
	if (r.len && decide_and_log(self, call, flags, r.scratch->path, r.len, path,
			     r.raw_len, &ticket))
		ret = open_proven(&r, flags, &ticket);
	aw_scratch_release(self, r.scratch);
	return ret;
}

static long open_here(
	enum aw_call call, int dir, const char *path, int flags, unsigned mode)
{
	struct aw_ticket ticket;
	struct aw_self *self;
	struct open_how how;
	size_t len;
	long ret;

	if (aw_is_vfork_child() || !(self = aw_self()) || !works_here(flags) ||
		atomic_load_explicit(
			&atomic_load_explicit(&self->ring, memory_order_relaxed)->plain,
			memory_order_relaxed) ||
		!aw_real_is_libc(call) || may_block(dir, path, flags))
		return AW_PASS;
	if (aw_work() == AW_WORK_READS)
		return open_to_read(self, call, dir, path, flags);
	len = normal_length(self, path);
	if (len ? !decide_and_log(self, call, flags, path, len, path, len, &ticket)
		: !log_lexically(self, call, dir, path, flags, &ticket))
		return AW_PASS;

	reduce(flags, mode, &how);
	ret = call4(__NR_openat2, dir, (long)path, (long)&how, sizeof(how));
	if (ret == -ELOOP || ret == -ENOSYS || ret == -EFAULT) {
		aw_ring_result(&ticket, AW_REC_VOID, 0);
		return AW_PASS; /* a symbolic link: the kernel layer finds where it
				   leads */
	}
	aw_ring_result(&ticket, AW_REC_DONE, ret < 0 ? (unsigned)-ret : 0);
	return ret;
}

long aw_fast_open(
	enum aw_call call, int dir, const char *path, int flags, unsigned mode)
{
	_Atomic uint32_t *passing;
	long ret;

	/* who is cancelled here must not be counted as passing */
	if (pthread_testcancel &&
		!(&__libc_single_threaded && __libc_single_threaded) &&
		!aw_is_vfork_child())
		pthread_testcancel();
	passing = aw_gate_enter();
	ret = open_here(call, dir, path, flags, mode);
	aw_gate_leave(passing);
	return ret;
}
