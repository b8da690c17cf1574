/* SPDX-License-Identifier: Apache-2.0 */
/* exec.c - running a denied program, and running programs without the shim */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

extern char **environ;

/* Run argv in a child by a raw execve. */
static int run_as(const char *path, char **argv, char **envp)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(-raw(SYS_execve, (long)path, (long)argv, (long)envp, 0, 0, 0));
	return child_result(child);
}

static int copy(const char *from, int to)
{
	int fd = open(from, O_RDONLY);
	char buffer[65536];
	ssize_t got;

	if (fd < 0)
		return errno;
	while ((got = read(fd, buffer, sizeof buffer)) > 0)
		if (write(to, buffer, got) != got)
			return errno;
	close(fd);
	return 0;
}

enum {
	RAW,
	LIBC,
	SPAWN,
	COPY,
	LINK,
	HARD,
	LOADER,
	MEMFD,
	AT_EMPTY,
	FD_PATH,
	SCRIPT,
	INTERPRETER,
	RENAME_BIN,
	PROC_ROOT,
	SHELL,
	READ_IT,
	MAP_IT
};

static int through_file(struct target *t, int how, char **argv)
{
	char path[600];
	int fd, rc;

	switch (how) {
	case COPY:
		fd = open("copy", O_WRONLY | O_CREAT, 0755);
		rc = fd < 0 ? errno : copy(t->program, fd);
		close(fd);
		return rc ? rc : run_as("copy", argv, environ);
	case LINK:
		return symlink(t->program, "link") < 0 ? errno
						       : run_as("link", argv, environ);
	case HARD:
		return link(t->program, "hard") < 0 ? errno
						    : run_as("hard", argv, environ);
	case RENAME_BIN:
		return rename(t->program, "mine") < 0 ? errno
						      : run_as("mine", argv, environ);
	case SCRIPT: /* the kernel opens the interpreter */
		snprintf(path, sizeof path, "#!%s\n", t->program);
		rc = put("script", path);
		chmod("script", 0755);
		return rc ? rc : run_as("./script", argv, environ);
	default:
		snprintf(path, sizeof path, "/proc/self/root%s", t->program);
		return run_as(path, argv, environ);
	}
}

static int through_fd(struct target *t, int how, char **argv)
{
	int fd = open(t->program, how == MAP_IT || how == READ_IT ? O_RDONLY : O_PATH),
	    rc;
	char path[64];
	pid_t child;

	if (how == MEMFD) {
		fd = syscall(SYS_memfd_create, "m", MFD_CLOEXEC);
		rc = copy(t->program, fd);
		if (rc)
			return rc;
	}
	if (fd < 0)
		return errno;
	if (how == READ_IT) {
		rc = result(lseek(fd, -64, SEEK_END));
		return rc ? rc : take(t, fd);
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (how == FD_PATH)
		return run_as(path, argv, environ);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
		_exit(errno);
	}
	return child_result(child);
}

static int run_it(struct target *t, int how)
{
	char *argv[] = {t->program, NULL},
	     *loaded[] = {(char *)"ld.so", t->program, NULL},
	     *shell[] = {(char *)"sh", (char *)"-c", t->program, NULL};
	pid_t child;
	int rc;

	switch (how) {
	case RAW:
		return run_as(t->program, argv, environ);
	case LIBC:
		fflush(stdout);
		child = fork();
		if (child == 0) {
			execv(t->program, argv);
			_exit(errno);
		}
		return child_result(child);
	case SPAWN:
		rc = posix_spawn(&child, t->program, NULL, NULL, argv, environ);
		return rc ? rc : child_result(child);
	case LOADER:
		if (access("/lib64/ld-linux-x86-64.so.2", X_OK) < 0)
			return NOT_HERE;
		strcat(t->program, ".dyn");
		return run_as("/lib64/ld-linux-x86-64.so.2", loaded, environ);
	case SHELL:
		return run_as("/bin/sh", shell, environ);
	case MEMFD:
	case AT_EMPTY:
	case FD_PATH:
	case READ_IT:
		return through_fd(t, how, argv);
	default:
		return through_file(t, how, argv);
	}
}

enum {
	NO_PRELOAD,
	OTHER_PRELOAD,
	EMPTY_ENVIRON,
	AUDIT_LIBRARY,
	UNSET_AND_LIBC,
	NULL_ENVIRON
};

/* Another copy of this program, without the shim, reads the file. */
static int without_shim(struct target *t, int how)
{
	static char nothing[] = "LD_PRELOAD=",
		    other[] = "LD_PRELOAD=/lib/x86_64-linux-gnu/libm.so.6",
		    secure[] = "LD_LIBRARY_PATH=/nowhere";
	char *argv[] = {(char *)self, (char *)"--cat", t->read, NULL},
	     *envp[] = {how == OTHER_PRELOAD   ? other
			: how == AUDIT_LIBRARY ? secure
					       : nothing,
		     NULL};

	if (how == UNSET_AND_LIBC) {
		pid_t child;

		unsetenv("LD_PRELOAD");
		if (posix_spawn(&child, self, NULL, NULL, argv, environ) != 0)
			return errno;
		return child_result(child);
	}
	return run_as(self, argv,
		how == NULL_ENVIRON    ? NULL
		: how == EMPTY_ENVIRON ? envp + 1
				       : envp);
}

enum { DELETE_SHIM, CLOBBER_SHIM, HIDE_SHIM };

/* The shim's own file, found in our environment. */
static int shim_file(struct target *t, int how)
{
	char *argv[] = {(char *)self, (char *)"--cat", t->read, NULL}, shim[512];
	const char *preload = getenv("LD_PRELOAD");
	int rc;

	snprintf(shim, sizeof shim, "%s", preload ? preload : "");
	shim[strcspn(shim, ": ")] = 0;
	if (t->denied && !strstr(shim, "agentwatch"))
		return NOT_HERE;
	if (!t->denied)
		rc = 0;
	else if (how == DELETE_SHIM)
		rc = result(unlink(shim));
	else if (how == HIDE_SHIM)
		rc = result(chmod(shim, 0));
	else
		rc = poke(open(shim, O_WRONLY));
	if (rc)
		return rc;
	return run_as(self, argv, environ);
}

/* Code of the shim is made into nothing; what remains are plain calls of libc. */
static int unmapped(struct target *t, int arg)
{
	char line[700];
	unsigned long from, to;
	FILE *maps = fopen("/proc/self/maps", "r");

	(void)arg;
	while (maps && fgets(line, sizeof line, maps))
		if (t->denied && strstr(line, "libagentwatch") &&
			sscanf(line, "%lx-%lx", &from, &to) == 2)
			raw(SYS_mprotect, from, to - from, PROT_NONE, 0, 0, 0);
	if (maps)
		raw(SYS_close, fileno(maps), 0, 0, 0, 0, 0);
	return take(t, raw(SYS_open, (long)t->read, O_RDONLY, 0, 0, 0, 0));
}

const struct attempt exec_table[] = {
	{"exec_raw", "x", "execve by a raw call", run_it, RAW},
	{"exec_libc", "x", "execv", run_it, LIBC},
	{"exec_spawn", "x", "posix_spawn", run_it, SPAWN},
	{"exec_shell", "x", "by a shell", run_it, SHELL},
	{"exec_copy", "x", "a copy of it", run_it, COPY},
	{"exec_symlink", "x", "a symbolic link to it", run_it, LINK},
	{"exec_hard_link", "x", "a hard link to it", run_it, HARD},
	{"exec_renamed", "x", "it, renamed", run_it, RENAME_BIN},
	{"exec_script", "x", "a script whose interpreter it is", run_it, SCRIPT},
	{"exec_proc_root", "x", "by /proc/self/root", run_it, PROC_ROOT},
	{"exec_loader", "x", "as an argument of ld.so", run_it, LOADER},
	{"exec_memfd", "xn", "a copy in a memfd, by execveat", run_it, MEMFD},
	{"exec_empty_path", "xn", "O_PATH, then execveat with AT_EMPTY_PATH", run_it,
		AT_EMPTY},
	{"exec_fd_path", "x", "O_PATH, then execve of /proc/self/fd/N", run_it,
		FD_PATH},
	{"exec_read", "x", "read the program's text", run_it, READ_IT},
	{"preload_unset", "r", "a program with LD_PRELOAD emptied, by a raw execve",
		without_shim, NO_PRELOAD},
	{"preload_other", "r", "a program with another library in LD_PRELOAD",
		without_shim, OTHER_PRELOAD},
	{"preload_none", "r", "a program with an empty environment", without_shim,
		EMPTY_ENVIRON},
	{"preload_null", "r", "a program with no environment at all", without_shim,
		NULL_ENVIRON},
	{"preload_secure", "r", "a program with another library path", without_shim,
		AUDIT_LIBRARY},
	{"preload_libc", "r", "unsetenv, then posix_spawn", without_shim,
		UNSET_AND_LIBC},
	{"shim_delete", "r1", "delete the shim, run a program", shim_file, DELETE_SHIM},
	{"shim_overwrite", "r1", "overwrite the shim, run a program", shim_file,
		CLOBBER_SHIM},
	{"shim_unreadable", "r1", "make the shim unreadable, run a program", shim_file,
		HIDE_SHIM},
	{"shim_disabled", "r", "take the shim's code away, then raw calls", unmapped,
		0},
	{0},
};
