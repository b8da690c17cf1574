/* SPDX-License-Identifier: Apache-2.0 */
/* spaces.c - another view of the files: namespaces, mounts, other roots */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

static const char *folder(const char *path, char *buffer)
{
	return dirname(strcpy(buffer, path));
}

/* Namespaces of our own, as a user with a user namespace too. */
static int private(int more)
{
	char map[64];
	uid_t uid = geteuid();

	if (unshare(CLONE_NEWNS | more | (uid ? CLONE_NEWUSER : 0)) < 0)
		return errno;
	if (uid) {
		snprintf(map, sizeof map, "0 %d 1", uid);
		put("/proc/self/uid_map", map);
	}
	return result(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

enum {
	BIND,
	BIND_FILE,
	BIND_RW,
	OVER,
	OPEN_TREE,
	PIVOT,
	CHROOT,
	CHROOT_UP,
	OVERLAY,
	FSOPEN,
	PROC_AGAIN,
	SETNS
};

static int tree(const struct target *t)
{
	int fd = syscall(
		428, AT_FDCWD, t->root, 1 | O_CLOEXEC /* OPEN_TREE_CLONE */ | 0x8000);

	return fd < 0 ? -1 : syscall(429, fd, "", AT_FDCWD, "m", 4 /* F_EMPTY_PATH */);
}

/* An overlay by the newer calls: fsopen, fsconfig, fsmount, move_mount. */
static int by_fsopen(const char *lower)
{
	int fs = syscall(430, "overlay", 0), fd;

	if (fs < 0 || syscall(431, fs, 1, "source", "o", 0) < 0 ||
		syscall(431, fs, 1, "lowerdir", lower, 0) < 0 ||
		syscall(431, fs, 6, NULL, NULL, 0) < 0)
		return -1;
	fd = syscall(432, fs, 0, 0);
	return fd < 0 ? -1 : syscall(429, fd, "", AT_FDCWD, "m", 4);
}

static int chrooted(struct target *t, int how)
{
	char path[600];

	if (how == CHROOT_UP) { /* the old way out */
		if (chroot("m") < 0)
			return errno;
		for (int i = 0; i < 20; i++)
			if (chdir("..") < 0)
				return errno;
		return chroot(".") < 0 ? errno : take_path(t, t->read);
	}
	if (chroot(t->root) < 0)
		return errno;
	snprintf(path, sizeof path, "%s", t->read + strlen(t->root));
	return take_path(t, path);
}

static int pivoted(struct target *t)
{
	char path[600];

	if (mount(t->root, "m", NULL, MS_BIND | MS_REC, NULL) < 0 ||
		mkdir("m/w/old", 0700) < 0)
		if (errno != EEXIST)
			return errno;
	if (syscall(SYS_pivot_root, "m", "m/w/old") < 0)
		return errno;
	snprintf(path, sizeof path, "%s", t->read + strlen(t->root));
	return take_path(t, path);
}

static int mounted(struct target *t, int how)
{
	char path[1300], buffer[512];
	const char *rest = t->read + strlen(t->root);
	int rc;

	mkdir("m", 0755);
	if (how == CHROOT_UP || how == CHROOT) {
		rc = geteuid() ? private(0) : 0;
		return rc ? rc : chrooted(t, how);
	}
	rc = private(0);
	if (rc)
		return rc;
	switch (how) {
	case BIND:
		rc = mount(t->root, "m", NULL, MS_BIND | MS_REC, NULL);
		break;
	case BIND_FILE:
		put("f", "");
		rc = mount(t->read, "f", NULL, MS_BIND, NULL);
		return rc < 0 ? errno : take_path(t, "f");
	case OVER: /* the name of the workspace now means the denied folder */
		snprintf(path, sizeof path, "%s/w/open/%s", t->root, t->name);
		rc = mount(folder(t->read, buffer), path, NULL, MS_BIND, NULL);
		strcat(path, "/key");
		return rc < 0 ? errno : take_path(t, path);
	case OPEN_TREE:
		rc = tree(t);
		break;
	case PIVOT:
		return pivoted(t);
	case OVERLAY:
		snprintf(path, sizeof path, "lowerdir=%s:%s/w/tmp",
			folder(t->read, buffer), t->root);
		rc = mount("o", "m", "overlay", 0, path);
		return rc < 0 ? errno : take_path(t, "m/key");
	case FSOPEN:
		snprintf(path, sizeof path, "%s:%s/w/tmp", folder(t->read, buffer),
			t->root);
		return by_fsopen(path) < 0 ? errno : take_path(t, "m/key");
	default: /* proc seen anew */
		if (mount("proc", "m", "proc", 0, NULL) < 0)
			return errno;
		snprintf(path, sizeof path, "m/self/root%s", t->read);
		return take_path(t, path);
	}
	if (rc < 0)
		return errno;
	snprintf(path, sizeof path, "m%s", rest);
	return take_path(t, path);
}

static int remounted(struct target *t, int arg)
{
	int rc = private(0);
	char path[600];

	(void)arg;
	mkdir("m", 0755);
	if (rc == 0)
		rc = result(mount(t->root, "m", NULL, MS_BIND, NULL));
	snprintf(path, sizeof path, "m%s", t->write + strlen(t->root));
	return rc ? rc : poke(open(path, O_WRONLY | O_TRUNC));
}

/* Do it in a child that a clone call has put elsewhere. */
static int cloned(struct target *t, int three)
{
	struct {
		unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal,
			stack, stack_size, tls;
	} how = {.flags = CLONE_NEWNS | CLONE_NEWPID | (geteuid() ? CLONE_NEWUSER : 0),
		.exit_signal = SIGCHLD};
	char path[600];
	pid_t child;
	int rc;

	mkdir("m", 0755);
	child = three ? raw(435, (long)&how, sizeof how, 0, 0, 0, 0)
		      : raw(SYS_clone, how.flags | SIGCHLD, 0, 0, 0, 0, 0);
	if (child == 0) {
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
		if (mount(t->root, "m", NULL, MS_BIND, NULL) < 0)
			_exit(errno);
		snprintf(path, sizeof path, "m%s", t->read + strlen(t->root));
		rc = take_path(t, path);
		printf("%s%s: %s\n", t->name, t->denied ? "" : ":allowed", t->got);
		fflush(stdout);
		_exit(rc);
	}
	return child < 0 ? -child : child_result(child);
}

static int joined(struct target *t, int arg)
{
	char path[64];
	int fd;

	(void)arg;
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", t->pid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNS) < 0)
		return errno;
	return take_path(t, t->read);
}

const struct attempt spaces_table[] = {
	{"bind_mount", "rn", "a bind mount of the stage", mounted, BIND},
	{"bind_mount_file", "rn", "a bind mount of the file", mounted, BIND_FILE},
	{"bind_mount_write", "wn", "a bind mount, written through", remounted, 0},
	{"bind_mount_over", "rn", "the denied folder mounted over an allowed one",
		mounted, OVER},
	{"open_tree_clone", "rn", "open_tree with OPEN_TREE_CLONE, move_mount", mounted,
		OPEN_TREE},
	{"overlay", "rn", "an overlay with the denied folder below", mounted, OVERLAY},
	{"fsopen", "rn", "the same by fsopen, fsconfig, fsmount, move_mount", mounted,
		FSOPEN},
	{"proc_mount", "rnR", "another proc, its self/root", mounted, PROC_AGAIN},
	{"pivot_root", "rn", "pivot_root to the stage", mounted, PIVOT},
	{"chroot", "rn", "chroot to the stage", mounted, CHROOT},
	{"chroot_out", "rn", "chroot into a folder and out of it", mounted, CHROOT_UP},
	{"clone_spaces", "rn", "clone with new namespaces, then a bind mount", cloned,
		0},
	{"clone3_spaces", "rn", "clone3 with new namespaces, then a bind mount", cloned,
		1},
	{"setns_outside", "rpnR", "setns to the mounts of a process outside", joined,
		0},
	{0},
};
