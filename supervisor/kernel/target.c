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
#include "supervisor/kernel/persona.h"
#include "supervisor/proc.h"

#define PATH_SIZE 4096
#define LINKS_MAX 40

static ssize_t read_some(pid_t tid, uint64_t address, void *to, size_t len)
{
	struct iovec here = {to, len}, there = {(void *)(uintptr_t)address, len};

	ssize_t n;

	do
		n = process_vm_readv(tid, &here, 1, &there, 1, 0);
	while (n < 0 && aw_persona_in_the_way());
	return n;
}

bool aw_target_read(
	const struct aw_target *target, uint64_t address, void *to, size_t len)
{
	ssize_t n = read_some(target->tid, address, to, len);

	if (n >= 0 && n != (ssize_t)len)
		errno = EFAULT; /* the rest of it is not there */
	return n == (ssize_t)len;
}

bool aw_target_write(
	const struct aw_target *target, uint64_t address, const void *from, size_t len)
{
	struct iovec here = {(void *)from, len},
		     there = {(void *)(uintptr_t)address, len};

	ssize_t n;

	do
		n = process_vm_writev(target->tid, &here, 1, &there, 1, 0);
	while (n < 0 && aw_persona_in_the_way());
	return n == (ssize_t)len;
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

/* Strings of one vector mostly lie side by side: read a piece, find many in it. */
struct window {
	uint64_t start;
	size_t len;
	char *bytes; /* owned, WINDOW bytes */
};

enum {
	WINDOW = 8 * 1024,
	ONE_MAX = 128 * 1024, /* the kernel's MAX_ARG_STRLEN */
	ALL_MAX = 6 * 1024 *
		  1024, /* three quarters of the stack limit that ARG_MAX is from */
	POINTERS = 512,
	FEW_POINTERS = 32, /* mostly enough, and mostly on one page */
};

/* To the end of the page, since each page costs time, unless that is near. */
static size_t window_from(uint64_t address)
{
	size_t len = 4096 - (address & 4095);

	return len >= 512 ? len : len + 4096;
}

/* The string at address if the window holds all of it; else the window moves there. */
static ssize_t in_window(const struct aw_target *target, struct window *w,
	uint64_t address, const char **ret)
{
	const size_t lens[] = {window_from(address), WINDOW};

	for (int again = 0; again < 3; again++) {
		if (address >= w->start && address < w->start + w->len) {
			const char *at = w->bytes + (address - w->start);
			const char *end =
				memchr(at, '\0', w->len - (size_t)(at - w->bytes));

			if (end) {
				*ret = at;
				return end - at;
			}
		}
		ssize_t n = again == 2 ? 0
				       : read_some(target->tid, address, w->bytes,
						 lens[again]);

		w->start = address;
		w->len = n > 0 ? (size_t)n : 0;
	}
	return -1;
}

/* Room for len more bytes and one more entry. */
static bool make_room(
	struct aw_vector *v, size_t used, size_t len, size_t *room, size_t *slots)
{
	if (v->count == *slots) {
		size_t want = *slots ? *slots * 2 : 64;
		size_t *at = realloc(v->at, want * sizeof(*at)), *lens;

		if (!at)
			return false;
		v->at = at;
		lens = realloc(v->len, want * sizeof(*lens));
		if (!lens)
			return false;
		v->len = lens;
		*slots = want;
	}
	if (used + len > *room) {
		size_t want = *room ? *room : 4096;
		char *text;

		while (want < used + len)
			want *= 2;
		text = want > ALL_MAX ? NULL : realloc(v->text, want);
		if (!text)
			return false;
		v->text = text;
		*room = want;
	}
	return true;
}

struct vector_reader {
	const struct aw_target *target;
	struct aw_vector *v;
	struct window window;
	size_t used, room, slots;
};

/* Append one string; false: stop here. */
static bool append(struct vector_reader *r, uint64_t address)
{
	const char *text;
	ssize_t n = in_window(r->target, &r->window, address, &text);
	struct aw_vector *v = r->v;

	if (n < 0) { /* longer than a window, or at the edge of what is mapped */
		if (!make_room(v, r->used, ONE_MAX, &r->room, &r->slots))
			return false;
		n = aw_target_string(r->target, address, v->text + r->used, ONE_MAX);
		if (n < 0)
			return false;
	} else {
		if (!make_room(v, r->used, (size_t)n + 1, &r->room, &r->slots))
			return false;
		memcpy(v->text + r->used, text, (size_t)n + 1);
	}
	v->at[v->count] = r->used;
	v->len[v->count++] = (size_t)n;
	r->used += (size_t)n + 1;
	return true;
}

/* As many pointers as can be read from here, at most most (and POINTERS). */
static size_t read_pointers(const struct aw_target *target, uint64_t address,
	unsigned word, size_t most, uint64_t *ret)
{
	union {
		uint64_t wide[POINTERS];
		uint32_t narrow[POINTERS];
	} raw;
	ssize_t n = read_some(target->tid, address, &raw, (size_t)word * most);

	if (n <= 0)
		return 0;
	for (size_t i = 0; i < (size_t)n / word; i++)
		ret[i] = word == 8 ? raw.wide[i] : raw.narrow[i];
	return (size_t)n / word;
}

void aw_target_vector(const struct aw_target *target, uint64_t address, unsigned word,
	struct aw_vector *ret)
{
	struct vector_reader r = {.target = target, .v = ret};
	AW_FREE char *bytes = malloc(WINDOW);
	uint64_t pointers[POINTERS];
	size_t most = FEW_POINTERS;

	*ret = (struct aw_vector){.text = NULL};
	r.window.bytes = bytes;
	while (address && bytes) {
		size_t n = read_pointers(target, address, word, most, pointers);

		for (size_t i = 0; i < n; i++) {
			if (!pointers[i])
				return;
			if (!append(&r, pointers[i])) {
				ret->truncated = true;
				return;
			}
		}
		if (!n) {
			ret->truncated = true;
			return;
		}
		address += n * word;
		most = POINTERS;
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

/* "/proc/7/cwd" and its kin in another pid namespace: process 7 of that one is meant.
 */
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
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
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
