/* SPDX-License-Identifier: Apache-2.0 */
/* procfs.c - what /proc tells about a process. */
#include "supervisor/linux/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

ssize_t aw_proc_link(pid_t pid, const char *what, char *to, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	n = readlink(path, to, size - 1);
	to[n < 0 ? 0 : n] = '\0';
	return n;
}

bool aw_proc_status(pid_t tid, char *to, size_t size)
{
	char path[64];
	AW_CLOSE int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, to, size - 1);
	to[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

const char *aw_proc_status_value(const char *status, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = status; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, len) == 0 && at[len] == ':')
			return at + len + 1 + strspn(at + len + 1, " \t");
	}
	return NULL;
}

bool aw_proc_parent(pid_t tid, pid_t *ret_pid, pid_t *ret_ppid)
{
	char text[4096];
	const char *pid, *ppid;

	if (!aw_proc_status(tid, text, sizeof(text)))
		return false;
	pid = aw_proc_status_value(text, "Tgid");
	ppid = aw_proc_status_value(text, "PPid");
	if (!pid || !ppid)
		return false;
	*ret_pid = atoi(pid);
	*ret_ppid = atoi(ppid);
	return true;
}

bool aw_proc_exists(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return access(path, F_OK) == 0;
}

/* The last of the numbers behind a name in /proc/PID/status, or what is given. */
static pid_t last_number(pid_t pid, const char *name, pid_t otherwise)
{
	const char *at = NULL, *end;
	char text[AW_PROC_STATUS];
	pid_t last = otherwise;

	if (aw_proc_status(pid, text, sizeof(text)))
		at = aw_proc_status_value(text, name);
	for (; at && *at && *at != '\n'; at = end + strspn(end, " \t")) {
		last = (pid_t)strtol(at, (char **)&end, 10);
		if (end == at)
			break;
	}
	return last;
}

pid_t aw_proc_inner_pid(pid_t pid)
{
	return last_number(pid, "NSpid", pid);
}

pid_t aw_proc_inner_group(pid_t pid)
{
	return last_number(pid, "NSpgid", 0);
}

bool aw_proc_is_inside(pid_t pid)
{
	char text[AW_PROC_STATUS];
	const char *numbers;

	numbers = aw_proc_status(pid, text, sizeof(text))
			  ? aw_proc_status_value(text, "NSpid")
			  : NULL;
	if (!numbers)
		return false;
	numbers += strcspn(numbers, " \t\n");
	return *numbers && *numbers != '\n';
}

bool aw_proc_stat(pid_t pid, struct aw_proc_stat *ret)
{
	char path[64], text[1024], *at;
	AW_CLOSE int fd = -1;
	unsigned number;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* behind the name, which may hold anything: state ppid pgrp session tty_nr, and
	 * num_threads as the twentieth */
	at = strrchr(text, ')');
	if (!at ||
		sscanf(at + 1,
			" %c %d %*d %*d %u %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
			&ret->state, &ret->ppid, &number, &ret->threads) != 4)
		return false;
	ret->terminal = makedev(
		(number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00));
	return true;
}

struct aw_proc_mark aw_proc_mark(pid_t pid)
{
	enum { FORKED = 0x40 }; /* linux/sched.h: PF_FORKNOEXEC */
	struct aw_proc_mark mark = {.known = false};
	char path[64], text[2048], *at;
	AW_CLOSE int fd = -1;
	unsigned flags = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	at = strrchr(text, ')');
	/* proc(5): 9 flags, 26 startcode, 28 startstack, 45 to 50 data, arguments; not
	 * the break, which an exec moves once more at its very end */
	if (!at ||
		sscanf(at + 1,
			" %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			"%*d %*d %*u %*u %*d %*u %lu %*u %lu %*u %*u %*u %*u %*u %*u %*u %*u "
			"%*u %*d %*d %*u %*u %*u %*u %*d %lu %lu %*u %lu %lu %lu",
			&flags, &mark.at[0], &mark.at[1], &mark.at[2], &mark.at[3],
			&mark.at[4], &mark.at[5], &mark.at[6]) != 8)
		return mark;
	mark.moving = !mark.at[0]; /* the kernel sets it when the rest is there */
	mark.forked = flags & FORKED;
	mark.known = mark.at[1] > 1; /* 0 or 1 for those who may not look */
	return mark;
}

bool aw_proc_mark_differs(
	const struct aw_proc_mark *before, const struct aw_proc_mark *after)
{
	if (after->moving)
		return false;
	if (!before->known || !after->known)
		return true;
	return (before->forked && !after->forked) ||
	       memcmp(before->at, after->at, sizeof(before->at)) != 0;
}

bool aw_proc_user(pid_t pid, uid_t *ret)
{
	char text[AW_PROC_STATUS];
	const char *user;

	user = aw_proc_status(pid, text, sizeof(text))
		       ? aw_proc_status_value(text, "Uid")
		       : NULL;
	if (user)
		*ret = (uid_t)strtoul(user, NULL, 10);
	return user != NULL;
}

/* The numbers among the names in a directory that fit; NULL: it cannot be read. */
static size_t numbers_in(const char *folder, bool (*fits)(pid_t pid, pid_t about),
	pid_t about, pid_t **ret)
{
	AW_CLOSEDIR DIR *dir = opendir(folder);
	AW_FREE pid_t *all = dir ? malloc(sizeof(*all)) : NULL;
	size_t count = 0, room = 1;
	struct dirent *entry;

	if (!all) {
		*ret = NULL;
		return 0;
	}
	while ((entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || (fits && !fits(pid, about)))
			continue;
		if (count == room) {
			pid_t *more = realloc(all, 2 * room * sizeof(*all));

			if (!more) {
				*ret = NULL;
				return 0;
			}
			all = more;
			room *= 2;
		}
		all[count++] = pid;
	}
	*ret = aw_take_ptr(&all);
	return count;
}

size_t aw_proc_threads(pid_t pid, pid_t **ret)
{
	char folder[48];

	snprintf(folder, sizeof(folder), "/proc/%d/task", pid);
	return numbers_in(folder, NULL, 0, ret);
}

static bool is_of_group(pid_t pid, pid_t group)
{
	return getpgid(pid) == group;
}

size_t aw_proc_group(pid_t group, pid_t **ret)
{
	return numbers_in("/proc", is_of_group, group, ret);
}

bool aw_proc_stopped(pid_t pid)
{
	struct aw_proc_stat stat;

	return aw_proc_stat(pid, &stat) && (stat.state == 'T' || stat.state == 't');
}

bool aw_proc_has_our_view(pid_t pid)
{
	char text[4096], ours[64], theirs[64];

	return aw_proc_link(pid, "root", text, sizeof(text)) == 1 &&
	       aw_proc_link(getpid(), "ns/mnt", ours, sizeof(ours)) > 0 &&
	       aw_proc_link(pid, "ns/mnt", theirs, sizeof(theirs)) > 0 &&
	       strcmp(ours, theirs) == 0;
}

pid_t aw_proc_outer_pid(pid_t pid, pid_t inner_pid)
{
	AW_CLOSEDIR DIR *dir = opendir("/proc");
	char wanted[64], theirs[64];
	struct dirent *entry;

	if (!dir || aw_proc_link(pid, "ns/pid", wanted, sizeof(wanted)) <= 0)
		return 0;
	while ((entry = readdir(dir))) {
		pid_t other = atoi(entry->d_name);

		if (other > 0 &&
			aw_proc_link(other, "ns/pid", theirs, sizeof(theirs)) > 0 &&
			strcmp(theirs, wanted) == 0 &&
			aw_proc_inner_pid(other) == inner_pid)
			return other;
	}
	return 0;
}

bool aw_proc_maps_session(pid_t pid)
{
	char path[64], line[512];
	AW_FCLOSE FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "/memfd:agentwatch"))
			return true;
	return false;
}
