/* SPDX-License-Identifier: Apache-2.0 */
/* descend.c - all processes below one, from /proc. */
#include "supervisor/process/descend.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/linux/procfs.h"
#include "supervisor/util/cleanup.h"

enum { HELPERS = 16 };

struct relation {
	pid_t pid, ppid;
	bool below;
	bool ended; /* and its parent has not asked how */
};

static _Atomic pid_t helpers[HELPERS];

bool aw_helper_is(pid_t pid)
{
	for (size_t i = 0; pid > 0 && i < HELPERS; i++)
		if (atomic_load(&helpers[i]) == pid)
			return true;
	return false;
}

bool aw_helper_add(pid_t pid)
{
	for (size_t i = 0; i < HELPERS; i++) {
		pid_t none = 0;

		if (atomic_compare_exchange_strong(&helpers[i], &none, pid))
			return true;
	}
	return false;
}

/*
 * A process whose first thread has ended looks like one that has ended itself, but for
 * its other threads.
 */
static bool read_relation(pid_t pid, struct relation *ret)
{
	struct aw_proc_stat stat;

	if (!aw_proc_stat(pid, &stat) || aw_helper_is(pid))
		return false;
	*ret = (struct relation){.pid = pid,
		.ppid = stat.ppid,
		.ended = stat.state == 'Z' && stat.threads <= 1};
	return true;
}

/* *ret_whole: neither memory nor descriptors have run out meanwhile. */
static size_t read_all(struct relation **ret, bool *ret_whole)
{
	AW_CLOSEDIR DIR *dir = opendir("/proc");
	struct relation *all = NULL;
	size_t count = 0, room = 0;
	struct dirent *entry;

	*ret_whole = dir != NULL;
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (count == room) {
			size_t more = room ? room * 2 : 256;
			struct relation *bigger = realloc(all, more * sizeof(*all));

			if (!bigger) {
				*ret_whole = false;
				break;
			}
			all = bigger;
			room = more;
		}
		errno = 0;
		if (read_relation(atoi(entry->d_name), &all[count]))
			count++;
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			*ret_whole = false;
	}
	*ret = all;
	return count;
}

static bool is_below(const struct relation *all, size_t count, pid_t parent, pid_t root)
{
	if (parent == root)
		return true;
	for (size_t i = 0; i < count; i++)
		if (all[i].pid == parent)
			return all[i].below;
	return false;
}

/* Mark all that are below root; how many there are. */
static size_t mark(struct relation *all, size_t count, pid_t root)
{
	size_t found = 0;
	bool more = true;

	while (more) { /* parents need not come before their children */
		more = false;
		for (size_t i = 0; i < count; i++) {
			if (all[i].below || !is_below(all, count, all[i].ppid, root))
				continue;
			all[i].below = more = true;
			found += !all[i].ended;
		}
	}
	return found;
}

static bool has_ended(pid_t pid)
{
	struct relation relation;

	return !read_relation(pid, &relation) || relation.ended;
}

/* Slow, and without any memory: each looks for root above itself. */
static size_t signal_one_by_one(pid_t root, int signal)
{
	union {
		struct dirent64 first;
		char bytes[4096];
	} room;
	AW_CLOSE int dir = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t found = 0;
	long n;

	while (dir >= 0 &&
		(n = syscall(SYS_getdents64, dir, room.bytes, sizeof(room))) > 0) {
		const struct dirent64 *entry;

		for (long at = 0; at < n; at += entry->d_reclen) {
			pid_t pid;

			entry = (const void *)(room.bytes + at);
			pid = isdigit((unsigned char)entry->d_name[0])
				      ? atoi(entry->d_name)
				      : 0;
			if (pid && pid != getpid() && aw_descends(pid, root) &&
				!has_ended(pid))
				found += kill(pid, signal) == 0;
		}
	}
	return found;
}

/* By a child, which has descriptors to spare once it has closed ours. */
static size_t signal_apart(pid_t root, int signal)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		return signal_one_by_one(root, signal);
	if (pid == 0) {
		size_t found;

		close_range(STDERR_FILENO + 1, ~0U, 0);
		found = signal_one_by_one(root, signal);
		_exit(found < 255 ? (int)found : 255);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? (size_t)WEXITSTATUS(status) : 0;
}

size_t aw_signal_descendants(pid_t root, int signal)
{
	AW_FREE struct relation *all = NULL;
	bool whole;
	size_t count = read_all(&all, &whole), found;

	if (!whole)
		return signal_apart(root, signal);
	found = mark(all, count, root);
	for (size_t i = 0; i < count; i++)
		if (all[i].below && !all[i].ended)
			kill(all[i].pid, signal);
	return found;
}

static size_t list(pid_t root, bool ended, pid_t **ret)
{
	AW_FREE struct relation *all = NULL;
	bool whole;
	size_t count = read_all(&all, &whole), found = 0;
	pid_t *pids = malloc((count + 1) * sizeof(*pids));

	mark(all, count, root);
	for (size_t i = 0; pids && i < count; i++)
		if (all[i].below && (ended || !all[i].ended))
			pids[found++] = all[i].pid;
	*ret = pids;
	return found;
}

size_t aw_descendants(pid_t root, pid_t **ret)
{
	return list(root, false, ret);
}

size_t aw_session_members(pid_t root, pid_t **ret)
{
	return list(root, true, ret);
}

bool aw_descends(pid_t pid, pid_t root)
{
	for (int depth = 0; pid > 1 && depth < 1024; depth++) {
		struct relation relation;

		if (!read_relation(pid, &relation))
			return false;
		if (relation.ppid == root)
			return true;
		pid = relation.ppid;
	}
	return false;
}
