/* SPDX-License-Identifier: Apache-2.0 */
/* same_errors.c - every call on every kind of name that goes wrong */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

static char long_name[300], long_path[5000], far_away[64];

static void fixture(void)
{
	if (system("chmod -R u+rwx . 2>/dev/null; rm -rf ./* 2>/dev/null") != 0)
		puts("the folder cannot be cleaned");
	mkdir("dir", 0755);
	mkdir("full", 0755);
	file("full/child", "child\n");
	file("file", "text\n");
	file("noaccess", "text\n");
	chmod("noaccess", 0);
	mkdir("noentry", 0755);
	file("noentry/file", "text\n");
	chmod("noentry", 0);
	mkdir("nowrite", 0755);
	file("nowrite/file", "text\n");
	chmod("nowrite", 0555);
	file("script", "not a program\n");
	chmod("script", 0755);
	if (symlink("loop", "loop") || symlink("missing", "dangling") ||
		symlink("file", "to-file") || symlink("dir", "to-dir") ||
		symlink("full", "to-full") || mkfifo("fifo", 0600))
		puts("the links cannot be made");
}

static const char *const names[] = {"missing", "missing/x", "file", "file/", "file/x",
	"file/.", "file/..", "dir", "dir/", "dir/.", "dir/..", "dir//x", "full",
	"full/", "full/child", "full/../file", "loop", "loop/", "loop/x", "dangling",
	"dangling/", "to-file", "to-file/", "to-dir", "to-dir/", "to-dir/.",
	"to-dir/new", "to-full/child", "", ".", "..", "./", "noaccess", "noentry/file",
	"noentry", "nowrite/file", "nowrite/new", "script", "fifo", "fifo/", "fifo/x",
	"odd \xff\n name", "/", "//", "/..", "/proc/no-such", "/proc/self/nothing",
	"/proc/version", "/dev/null/x", "long name", "long path", "no pointer",
	"bad pointer", "/dev/shm/far"};

static const char *pointer(const char *name)
{
	if (strcmp(name, "long name") == 0)
		return long_name;
	if (strcmp(name, "long path") == 0)
		return long_path;
	if (strcmp(name, "no pointer") == 0)
		return NULL;
	if (strcmp(name, "bad pointer") == 0)
		return (const char *)16;
	return strcmp(name, "/dev/shm/far") == 0 ? far_away : name;
}

/* Letters: p the path, h AT_FDCWD, d -1 as directory, f "file", n "new", 0 a zero. */
static const struct row {
	const char *name;
	long nr;
	const char *how;
	long a, b;
	bool changes;
} calls[] = {
	{"open", SYS_open, "p", O_RDONLY | O_NONBLOCK, 0, false},
	{"open write", SYS_open, "p", O_WRONLY | O_NONBLOCK, 0, false},
	{"open create", SYS_open, "p", O_WRONLY | O_CREAT | O_NONBLOCK, 0600, true},
	{"open exclusive", SYS_open, "p", O_WRONLY | O_CREAT | O_EXCL, 0600, true},
	{"open directory", SYS_open, "p", O_RDONLY | O_DIRECTORY, 0, false},
	{"open no link", SYS_open, "p", O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, false},
	{"open path", SYS_open, "p", O_PATH, 0, false},
	{"open path no link", SYS_open, "p", O_PATH | O_NOFOLLOW, 0, false},
	{"open truncate", SYS_open, "p", O_RDWR | O_TRUNC | O_NONBLOCK, 0, true},
	{"open unnamed", SYS_open, "p", O_TMPFILE | O_RDWR, 0600, false},
	{"open create directory", SYS_open, "p", O_CREAT | O_DIRECTORY, 0600, true},
	{"openat", SYS_openat, "hp", O_RDONLY | O_NONBLOCK, 0, false},
	{"openat of no folder", SYS_openat, "dp", O_RDONLY | O_NONBLOCK, 0, false},
	{"mkdir", SYS_mkdir, "p", 0700, 0, true},
	{"mknod", SYS_mknod, "p", S_IFREG | 0600, 0, true},
	{"rmdir", SYS_rmdir, "p", 0, 0, true},
	{"unlink", SYS_unlink, "p", 0, 0, true},
	{"unlinkat remove", SYS_unlinkat, "hp", AT_REMOVEDIR, 0, true},
	{"rename to new", SYS_rename, "pn", 0, 0, true},
	{"rename file to", SYS_rename, "fp", 0, 0, true},
	{"rename dir to", SYS_rename, "Dp", 0, 0, true},
	{"link to new", SYS_link, "pn", 0, 0, true},
	{"link file to", SYS_link, "fp", 0, 0, true},
	{"symlink", SYS_symlink, "fp", 0, 0, true},
	{"symlink text", SYS_symlink, "pn", 0, 0, true},
	{"truncate", SYS_truncate, "p", 2, 0, true},
	{"truncate below zero", SYS_truncate, "p", -1, 0, true},
	{"chmod", SYS_chmod, "p", 0700, 0, true},
	{"chown to nobody else", SYS_chown, "p", -1, -1, false},
	{"lchown", SYS_lchown, "p", -1, -1, false},
	{"utimensat", SYS_utimensat, "hp", 0, 0, false},
	{"removexattr", SYS_removexattr, "px", 0, 0, false},
	{"getxattr", SYS_getxattr, "px", 0, 0, false},
	{"chdir", SYS_chdir, "p", 0, 0, true},
	{"readlink", SYS_readlink, "pb", 64, 0, false},
	{"access", SYS_access, "p", R_OK | W_OK, 0, false},
	{"stat", SYS_stat, "ps", 0, 0, false},
	{"lstat", SYS_lstat, "ps", 0, 0, false},
	{"execve", SYS_execve, "p", 0, 0, false},
};

static long call(const struct row *row, const char *path)
{
	static char buffer[64];
	static struct stat info;
	long arguments[6] = {0}, rc;
	const char *letter;
	int n = 0;

	for (letter = row->how; *letter; letter++)
		arguments[n++] = *letter == 'p'	  ? (long)path
				 : *letter == 'h' ? AT_FDCWD
				 : *letter == 'd' ? 77
				 : *letter == 'f' ? (long)"file"
				 : *letter == 'D' ? (long)"dir"
				 : *letter == 'n' ? (long)"new"
				 : *letter == 'x' ? (long)"user.none"
				 : *letter == 's' ? (long)&info
						  : (long)buffer;
	arguments[n++] = row->a;
	arguments[n] = row->b;
	rc = syscall(
		row->nr, arguments[0], arguments[1], arguments[2], arguments[3], 0, 0);
	return rc;
}

/* Not what the rest of the machine needs. */
static bool too_much(const struct row *row, const char *name)
{
	if (strncmp(name, "/", 1) != 0 && strcmp(name, "..") != 0 &&
		strcmp(name, "file/..") != 0)
		return strcmp(row->name, "execve") == 0 && strcmp(name, "to-file") == 0;
	return strstr(row->name, "ch") || strstr(row->name, "utimens") ||
	       (strstr(row->name, "open unnamed") && name[0] == '/');
}

void same_errors(void)
{
	size_t i, j;
	long rc;
	int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	memset(long_name, 'n', 280);
	for (i = 0; i + 2 < sizeof long_path; i += 2)
		memcpy(long_path + i, "./", 2);
	strcpy(far_away, "/dev/shm/aw-escape-far");
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		fixture();
		for (j = 0; j < sizeof names / sizeof *names; j++) {
			if (too_much(calls + i, names[j]))
				continue;
			rc = call(calls + i, pointer(names[j]));
			printf("%s %s: %s\n", calls[i].name, names[j],
				rc < 0 ? errno_name(errno) : "ok");
			if (rc > 2 && calls[i].nr != SYS_readlink)
				close(rc);
			if (rc >= 0 && calls[i].changes) {
				if (fchdir(home) < 0)
					return;
				unlink(far_away);
				fixture();
			}
		}
	}
	close(home);
	fixture();
}
