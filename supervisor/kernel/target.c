/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - memory and paths of a waiting thread. */
#include "supervisor/kernel/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "policy/path.h"
#include "supervisor/cleanup.h"

#define PATH_SIZE 4096
#define LINKS_MAX 40

static ssize_t read_some(pid_t tid, uint64_t address, void *to, size_t len)
{
	struct iovec here = {to, len}, there = {(void *)(uintptr_t)address, len};

	return process_vm_readv(tid, &here, 1, &there, 1, 0);
}

bool aw_target_read(const struct aw_target *target, uint64_t address, void *to, size_t len)
{
	return read_some(target->tid, address, to, len) == (ssize_t)len;
}

ssize_t aw_target_string(
	const struct aw_target *target, uint64_t address, char *to, size_t size)
{
	size_t have = 0;

	while (have < size) {
		/* to the end of the page: the next one may not be there */
		size_t step = 4096 - ((address + have) & 4095);
		ssize_t n;
		char *end;

		if (step > size - have)
			step = size - have;
		if (have == 0 && step > 256)
			step = 256;
		n = read_some(target->tid, address + have, to + have, step);
		if (n <= 0)
			return -1;
		end = memchr(to + have, '\0', (size_t)n);
		if (end)
			return end - to;
		have += (size_t)n;
	}
	errno = ENAMETOOLONG;
	return -1;
}

/* Append one string of the target's to the vector; false: stop here. */
static bool append(const struct aw_target *target, uint64_t address, struct aw_vector *v,
	size_t *used, size_t *room)
{
	enum { ONE = 128 * 1024, ALL = 4 * 1024 * 1024 }; /* MAX_ARG_STRLEN; ARG_MAX and more */
	ssize_t n;

	if (*room - *used < ONE) {
		size_t more = *room ? *room * 2 : 2 * ONE;
		char *text = more > ALL + ONE ? NULL : realloc(v->text, more);

		if (!text)
			return false;
		v->text = text;
		*room = more;
	}
	n = aw_target_string(target, address, v->text + *used, ONE);
	if (n < 0)
		return false;
	v->at[v->count] = *used;
	v->len[v->count++] = (size_t)n;
	*used += (size_t)n + 1;
	return true;
}

static bool more_slots(struct aw_vector *v, size_t *slots)
{
	size_t want = *slots ? *slots * 2 : 64;
	size_t *at = realloc(v->at, want * sizeof(*at)), *len;

	if (!at)
		return false;
	v->at = at;
	len = realloc(v->len, want * sizeof(*len));
	if (!len)
		return false;
	v->len = len;
	*slots = want;
	return true;
}

void aw_target_vector(const struct aw_target *target, uint64_t address, unsigned word,
	struct aw_vector *ret)
{
	size_t used = 0, room = 0, slots = 0;

	*ret = (struct aw_vector){.text = NULL};
	for (size_t i = 0; address; i++) {
		uint64_t pointer = 0;

		if (!aw_target_read(target, address + i * word, &pointer, word)) {
			ret->truncated = true;
			return;
		}
		if (!pointer)
			return;
		if ((ret->count == slots && !more_slots(ret, &slots)) ||
			!append(target, pointer, ret, &used, &room)) {
			ret->truncated = true;
			return;
		}
	}
}

void aw_vector_free(struct aw_vector *vector)
{
	free(vector->text);
	free(vector->at);
	free(vector->len);
}

static size_t link_name(const char *link, char *to, size_t size)
{
	ssize_t n = readlink(link, to, size - 1);

	if (n <= 0)
		return 0;
	to[n] = '\0';
	return (size_t)n;
}

/* The kernel's name for a descriptor of ours. */
static size_t own_name(int fd, char *to, size_t size)
{
	char link[64];
	size_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = link_name(link, to, size);
	return n && to[0] == '/' ? n : 0;
}

size_t aw_target_name(const struct aw_target *target, int dir, char *to, size_t size)
{
	char link[64];
	size_t n;

	if (dir == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", target->tid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", target->tid, dir);
	n = link_name(link, to, size);
	if (n && to[0] != '/') /* a pipe, a socket: named by where it is found */
		n = (size_t)snprintf(to, size, "%s", link);
	return n;
}

/*
 * /proc/self, /proc/thread-self, /dev/fd and /dev/std* mean the target's, not ours.
 * Rewrites path into out; returns what to use.
 */
static const char *as_the_target_means_it(
	const struct aw_target *target, const char *path, char *out, size_t size)
{
	static const char *const streams[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	pid_t pid = target->who.pid;

	if (strncmp(path, "/proc/self", 10) == 0 && (path[10] == '/' || !path[10])) {
		snprintf(out, size, "/proc/%d%s", pid, path + 10);
		return out;
	}
	if (strncmp(path, "/proc/thread-self", 17) == 0 && (path[17] == '/' || !path[17])) {
		snprintf(out, size, "/proc/%d/task/%d%s", pid, target->tid, path + 17);
		return out;
	}
	if (strncmp(path, "/dev/fd", 7) == 0 && (path[7] == '/' || !path[7])) {
		snprintf(out, size, "/proc/%d/fd%s", pid, path + 7);
		return out;
	}
	for (int i = 0; i < 3; i++) {
		if (strcmp(path, streams[i]) == 0) {
			snprintf(out, size, "/proc/%d/fd/%d", pid, i);
			return out;
		}
	}
	return path;
}

/* O_PATH at dir (a descriptor of ours), inside root when that is not our own. */
static int open_path(int dir, const char *path, bool follow, bool in_root)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | (follow ? 0u : O_NOFOLLOW),
		.resolve = in_root ? RESOLVE_IN_ROOT : 0};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

/* A descriptor of ours for where the path starts. */
static int start_of(const struct aw_target *target, int dir, const char *path, bool *in_root)
{
	char link[64];

	*in_root = false;
	if (path[0] == '/') {
		if (target->who.plain_root)
			return open("/", O_PATH | O_CLOEXEC);
		*in_root = true;
		snprintf(link, sizeof(link), "/proc/%d/root", target->tid);
	} else if (dir == AT_FDCWD) {
		snprintf(link, sizeof(link), "/proc/%d/cwd", target->tid);
	} else {
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", target->tid, dir);
	}
	return open(link, O_PATH | O_CLOEXEC);
}

static size_t resolve_step(const struct aw_target *target, int dir, const char *path,
	bool follow, char *to, size_t size, int *ret_errno, int depth);

/* What does not exist yet: the parent's name and the last component. */
static size_t by_parent(const struct aw_target *target, int start, const char *path,
	bool in_root, bool follow, char *to, size_t size, int *ret_errno, int depth)
{
	char parent[PATH_SIZE], base[PATH_SIZE], text[PATH_SIZE];
	size_t len = strlen(path), cut, base_len;
	AW_CLOSE int fd = -1;
	ssize_t n;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (cut = len; cut && path[cut - 1] != '/'; cut--)
		;
	memcpy(parent, path, cut);
	strcpy(parent + cut, cut ? "" : ".");
	fd = open_path(start, parent, true, in_root);
	if (fd < 0 || !(base_len = own_name(fd, base, sizeof(base))))
		return 0;
	memcpy(parent, path + cut, len - cut);
	parent[len - cut] = '\0';
	n = follow ? readlinkat(fd, parent, text, sizeof(text) - 1) : -1;
	if (n > 0 && depth < LINKS_MAX) { /* a link that leads nowhere yet */
		text[n] = '\0';
		if (text[0] == '/')
			return resolve_step(target, AT_FDCWD, text, true, to, size, ret_errno,
				depth + 1);
		if (aw_path_join(base, base_len, text, (size_t)n, parent, sizeof(parent)))
			return resolve_step(target, AT_FDCWD, parent, true, to, size,
				ret_errno, depth + 1);
	}
	return aw_path_join(base, base_len, path + cut, len - cut, to, size);
}

/* No such parent: the text is all there is. */
static size_t by_text(const struct aw_target *target, int dir, const char *path, char *to,
	size_t size)
{
	char base[PATH_SIZE] = "/";
	size_t len = 1;

	if (path[0] != '/')
		len = aw_target_name(target, dir, base, sizeof(base));
	return len ? aw_path_join(base, len, path, strlen(path), to, size) : 0;
}

/* Our own /proc/PID in an answer: the target followed /proc/self by way of a link. */
static bool is_own_proc(const char *name, const char **ret_rest)
{
	char own[32];
	int n = snprintf(own, sizeof(own), "/proc/%d", getpid());

	*ret_rest = name + n;
	return strncmp(name, own, (size_t)n) == 0 && (name[n] == '/' || !name[n]);
}

static size_t resolve_step(const struct aw_target *target, int dir, const char *path,
	bool follow, char *to, size_t size, int *ret_errno, int depth)
{
	char meant[PATH_SIZE + 64], again[PATH_SIZE + 64];
	AW_CLOSE int start = -1, fd = -1;
	const char *rest;
	bool in_root;
	size_t n;

	path = as_the_target_means_it(target, path, meant, sizeof(meant));
	start = start_of(target, dir, path, &in_root);
	if (start < 0) {
		*ret_errno = errno == ENOENT ? EBADF : errno;
		return 0;
	}
	fd = open_path(start, path, follow, in_root);
	*ret_errno = fd < 0 ? errno : 0;
	if (fd >= 0 && (n = own_name(fd, to, size))) {
		if (!is_own_proc(to, &rest) || depth >= LINKS_MAX)
			return n;
		snprintf(again, sizeof(again), "/proc/%d%s", target->who.pid, rest);
		return resolve_step(
			target, AT_FDCWD, again, follow, to, size, ret_errno, depth + 1);
	}
	if (fd >= 0) /* a pipe or socket behind /proc/PID/fd */
		return by_text(target, dir, path, to, size);
	n = by_parent(target, start, path, in_root, follow, to, size, ret_errno, depth);
	return n ? n : by_text(target, dir, path, to, size);
}

size_t aw_target_resolve(const struct aw_target *target, int dir, const char *path,
	bool follow, char *to, size_t size, int *ret_errno)
{
	*ret_errno = 0;
	if (!*path)
		return aw_target_name(target, dir, to, size);
	return resolve_step(target, dir, path, follow, to, size, ret_errno, 0);
}
