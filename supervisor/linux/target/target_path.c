/* SPDX-License-Identifier: Apache-2.0 */
/* target_path.c - what a waiting thread's paths and descriptors are called. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/array.h"
#include "policy/path.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/linux/target/target.h"
#include "supervisor/util/cleanup.h"

#define PATH_SIZE 4096
#define LINKS_MAX 40

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

/* "/proc/7/cwd" and its kin in another pid namespace: process 7 of that one is meant. */
static bool by_inner_number(
	const struct aw_target *target, const char *path, char *out, size_t size)
{
	static const char *const links[] = {
		"cwd", "root", "exe", "fd", "task", "map_files"};
	char *rest;
	long number;
	pid_t pid;

	if (target->who.plain_root || strncmp(path, "/proc/", 6) != 0)
		return false;
	number = strtol(path + 6, &rest, 10);
	if (rest == path + 6 || *rest != '/')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		size_t len = strlen(links[i]);

		if (strncmp(rest + 1, links[i], len) != 0 ||
			(rest[1 + len] && rest[1 + len] != '/'))
			continue;
		pid = aw_proc_outer_pid(target->tid, (pid_t)number);
		if (pid)
			snprintf(out, size, "/proc/%d%s", pid, rest);
		return pid != 0;
	}
	return false;
}

/*
 * /proc/self, /proc/thread-self, /dev/fd and /dev/std* mean the target's, not ours.
 * Rewrites path into out, as our own /proc has it; returns what to use.
 */
static const char *as_the_target_means_it(
	const struct aw_target *target, const char *path, char *out, size_t size)
{
	static const char *const streams[] = {
		"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	pid_t pid = target->who.pid;

	if (strncmp(path, "/proc/self", 10) == 0 && (path[10] == '/' || !path[10])) {
		snprintf(out, size, "/proc/%d%s", pid, path + 10);
		return out;
	}
	if (strncmp(path, "/proc/thread-self", 17) == 0 &&
		(path[17] == '/' || !path[17])) {
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
	if (by_inner_number(target, path, out, size))
		return out;
	return path;
}

/* O_PATH at dir (a descriptor of ours), inside root when that is not our own. */
static int open_path(int dir, const char *path, bool follow, bool in_root)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | (follow ? 0u : O_NOFOLLOW),
		.resolve = in_root ? RESOLVE_IN_ROOT : 0};

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

/* A descriptor of ours for where the path starts; ours: in our own root. */
static int start_of(const struct aw_target *target, int dir, const char *path,
	bool ours, bool *in_root)
{
	char link[64];

	*in_root = false;
	if (path[0] == '/') {
		if (target->who.plain_root || ours)
			return AT_FDCWD; /* not looked at: the path is absolute */
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
			return resolve_step(target, AT_FDCWD, text, true, to, size,
				ret_errno, depth + 1);
		if (aw_path_join(
			    base, base_len, text, (size_t)n, parent, sizeof(parent)))
			return resolve_step(target, AT_FDCWD, parent, true, to, size,
				ret_errno, depth + 1);
	}
	return aw_path_join(base, base_len, path + cut, len - cut, to, size);
}

/* No such parent: the text is all there is. */
static size_t by_text(const struct aw_target *target, int dir, const char *path,
	char *to, size_t size)
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
	start = start_of(target, dir, path, path == meant, &in_root);
	if (start < 0 && start != AT_FDCWD) {
		*ret_errno = errno == ENOENT ? EBADF : errno;
		return 0;
	}
	fd = open_path(start, path, follow, in_root);
	*ret_errno = fd < 0 ? errno : 0;
	if (fd >= 0 && (n = own_name(fd, to, size))) {
		if (!is_own_proc(to, &rest) || depth >= LINKS_MAX)
			return n;
		snprintf(again, sizeof(again), "/proc/%d%s", target->who.pid, rest);
		return resolve_step(target, AT_FDCWD, again, follow, to, size,
			ret_errno, depth + 1);
	}
	if (fd >= 0) /* a pipe or socket behind /proc/PID/fd */
		return by_text(target, dir, path, to, size);
	n = by_parent(target, start, path, in_root, follow, to, size, ret_errno, depth);
	return n ? n : by_text(target, dir, path, to, size);
}

static bool has_dots(const char *path)
{
	for (const char *at = strstr(path, ".."); at; at = strstr(at + 2, ".."))
		if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
	return false;
}

/*
 * Most paths have no symbolic link on them: then the text, made normal, is the name. So
 * it is when the walk ends at something that is not there, since it met no link before.
 * 0: there is a link, or the target's root is not ours.
 */
static size_t without_links(const struct aw_target *target, int dir, const char *path,
	bool follow, char *to, size_t size, int *ret_errno)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | (follow ? 0u : O_NOFOLLOW),
		.resolve = RESOLVE_NO_SYMLINKS};
	AW_CLOSE int fd = -1;
	size_t n;

	if (!target->who.plain_root ||
		has_dots(path)) /* "link/.." is not what it says */
		return 0;
	n = by_text(target, dir, path, to, size);
	if (!n)
		return 0;
	fd = (int)syscall(SYS_openat2, AT_FDCWD, to, &how, sizeof(how));
	*ret_errno = fd < 0 ? errno : 0;
	if (fd < 0 && (errno == ELOOP || errno == EXDEV))
		return 0;
	if (path[strlen(path) - 1] ==
		'/') /* "file/": only the kernel knows what to say */
		return 0;
	return n;
}

size_t aw_target_resolve(const struct aw_target *target, int dir, const char *path,
	bool follow, char *to, size_t size, int *ret_errno)
{
	size_t n;

	*ret_errno = 0;
	if (!*path)
		return aw_target_name(target, dir, to, size);
	n = without_links(target, dir, path, follow, to, size, ret_errno);
	if (n)
		return n;
	*ret_errno = 0;
	return resolve_step(target, dir, path, follow, to, size, ret_errno, 0);
}
