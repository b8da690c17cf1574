/* SPDX-License-Identifier: Apache-2.0 */
/* path_walk_proc.c - /proc/self, /proc/PID/fd and /dev/tty as the target means them. */
#include "supervisor/linux/target/path_walk_proc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "supervisor/linux/procfs.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/linux/target/ours.h"
#include "supervisor/util/cleanup.h"

enum { PROC_ROOT_INO = 1 };

uid_t aw_location_fsuid(void)
{
	return (uid_t)setfsuid((uid_t)-1); /* refused, and tells the present one */
}

/* The target's numbers in the pid namespace that this proc file system shows. */
static void numbers_inside(const struct aw_watch *watch, const struct aw_target *target,
	pid_t *ret_pid, pid_t *ret_tid)
{
	*ret_pid = target->who.pid;
	*ret_tid = target->tid;
	if (!watch->own_pids)
		return;
	*ret_pid = aw_proc_inner_pid(target->who.pid);
	*ret_tid = target->tid == target->who.pid ? *ret_pid
						  : aw_proc_inner_pid(target->tid);
}

/* The first component of a name that is a number: the process a directory belongs to. */
static pid_t process_of_folder(int dir)
{
	char name[AW_LOCATION_PATH];

	if (!aw_own_descriptor_name(dir, name, sizeof(name)))
		return 0;
	for (char *at = strchr(name, '/'); at; at = strchr(at + 1, '/'))
		if (isdigit((unsigned char)at[1]))
			return (pid_t)atoi(at + 1);
	return 0;
}

/*
 * A number is believed when it belongs to a living descendant at this moment: one that
 * was known may have ended.  To a process in a profile others are strangers.
 */
static bool is_ours(struct aw_watch *watch, const struct aw_target *target, pid_t pid)
{
	if (aw_watch_is_beyond(watch, &target->who, pid))
		return false;
	if (!watch->own_pids && (pid == target->who.pid || pid == target->tid))
		return true;
	return aw_ours_inside(watch, pid);
}

/* The target's own may be looked at whatever rights it has given up. */
static int jump(struct aw_watch *watch, const struct aw_target *target, int dir,
	const char *name, int *ret_jump, bool *ret_own)
{
	char own[64], here[AW_LOCATION_PATH];
	pid_t pid, tid;
	size_t n;
	int err;

	numbers_inside(watch, target, &pid, &tid);
	snprintf(own, sizeof(own), "/proc/%d/", pid);
	n = aw_own_descriptor_name(dir, here, sizeof(here) - 1);
	here[n] = '/';
	here[n + 1] = '\0';
	if (strncmp(here, own, strlen(own)) != 0) {
		*ret_jump = openat(dir, name, O_PATH | O_CLOEXEC);
		return *ret_jump < 0 ? errno : 0;
	}
	*ret_own = n >= 3 && strcmp(here + n - 3, "/fd/") == 0;
	aw_creds_restore();
	*ret_jump = openat(dir, name, O_PATH | O_CLOEXEC);
	err = *ret_jump < 0 ? errno : 0;
	if (!err)
		err = aw_creds_assume(watch, target);
	if (err && *ret_jump >= 0) {
		close(*ret_jump);
		*ret_jump = -1;
	}
	return err;
}

/* False: it is not there, or does not let itself be looked at. */
static bool find_device(const char *root, const char *path, _Atomic dev_t *ret)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s", root, path);
	if (stat(name, &st) < 0)
		return false;
	atomic_store(ret, st.st_dev);
	return true;
}

void aw_path_walk_proc(struct aw_watch *watch, const struct aw_target *target)
{
	char root[32] = "";

	if (atomic_load(&watch->proc))
		return;
	aw_creds_restore();
	if (watch->own_pids)
		snprintf(root, sizeof(root), "/proc/%d/root", target->tid);
	find_device(root, "/dev/pts", &watch->pts);
	find_device(root, "/proc", &watch->proc);
}

int aw_location_proc_link(struct aw_watch *watch, const struct aw_target *target,
	int dir, const char *name, char *text, size_t size, int *ret_jump,
	bool *ret_own)
{
	struct stat st;
	pid_t pid, tid;
	ssize_t n;

	if (fstat(dir, &st) < 0)
		return errno;
	if (st.st_dev != atomic_load(&watch->proc))
		return EACCES;
	if (st.st_ino != PROC_ROOT_INO) {
		if (!is_ours(watch, target, process_of_folder(dir)))
			return EACCES;
		return jump(watch, target, dir, name, ret_jump, ret_own);
	}
	numbers_inside(watch, target, &pid, &tid);
	if (strcmp(name, "self") == 0) {
		snprintf(text, size, "%d", pid);
	} else if (strcmp(name, "thread-self") == 0) {
		snprintf(text, size, "%d/task/%d", pid, tid);
	} else {
		n = readlinkat(dir, name, text, size - 1);
		if (n <= 0)
			return n < 0 ? errno : ENOENT;
		text[n] = '\0';
	}
	return 0;
}

/* One of the target's descriptors that is this terminal, or the device by its name. */
static int open_terminal(const struct aw_target *target, dev_t device)
{
	char link[64];
	struct stat st;
	int fd;

	for (int i = 0; i < 3; i++) {
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", target->tid, i);
		fd = open(link, O_PATH | O_CLOEXEC);
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
			st.st_rdev == device)
			return fd;
		aw_cleanup_close(&fd);
	}
	snprintf(link, sizeof(link), "/proc/%d/root/dev/pts/%u", target->tid,
		minor(device));
	fd = open(link, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_rdev != device)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int aw_location_own_tty(const struct aw_target *target, struct aw_location *place)
{
	struct aw_proc_stat stat;
	int fd;

	if (place->st.st_rdev != makedev(5, 0))
		return 0;
	fd = aw_proc_stat(target->who.pid, &stat) && stat.terminal
		     ? open_terminal(target, stat.terminal)
		     : -1;
	if (fd < 0)
		return ENXIO;
	/* judged as /dev/tty, opened as what that is for the target */
	close(place->object);
	place->object = fd;
	place->magic = true;
	return fstat(fd, &place->st) < 0 ? errno : 0;
}
