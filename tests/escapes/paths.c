/* SPDX-License-Identifier: Apache-2.0 */
/* paths.c - other names of a denied file: links, /proc, descriptors, handles, renames */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

/* The folder of a path; the caller's buffer. */
static const char *folder(const char *path, char *buffer)
{
	return dirname(strcpy(buffer, path));
}

/* Text in front of the absolute path; %d is our parent, %p ourselves. */
enum {
	PLAIN,
	SELF_ROOT,
	THREAD_ROOT,
	PID_ROOT,
	PARENT_ROOT,
	SELF_CWD,
	PARENT_CWD,
	SLASHES,
	DOTS
};

static int spelled(struct target *t, int arg)
{
	char path[1200], buffer[512];

	switch (arg) {
	case SELF_ROOT:
		snprintf(path, sizeof path, "/proc/self/root%s", t->read);
		break;
	case THREAD_ROOT:
		snprintf(path, sizeof path, "/proc/thread-self/root%s", t->read);
		break;
	case PID_ROOT:
		snprintf(path, sizeof path, "/proc/%d/root%s", getpid(), t->read);
		break;
	case PARENT_ROOT:
		snprintf(path, sizeof path, "/proc/%d/root%s", getppid(), t->read);
		break;
	case SELF_CWD:
		if (chdir(folder(t->read, buffer)) < 0 && chdir("/") < 0)
			return errno;
		snprintf(path, sizeof path, "/proc/self/cwd/%s",
			getcwd(buffer, sizeof buffer) && buffer[1] ? "key"
								   : t->read + 1);
		break;
	case PARENT_CWD: /* started in the stage's w */
		snprintf(path, sizeof path, "/proc/%d/cwd/../../../../../../..%s",
			getppid(), t->read);
		break;
	case SLASHES:
		snprintf(path, sizeof path, "//%s/%s", folder(t->read, buffer),
			"//./key");
		break;
	case DOTS:
		snprintf(path, sizeof path, "%s/../%s/key", folder(t->read, buffer),
			t->name);
		break;
	default:
		snprintf(path, sizeof path, "%s", t->read);
	}
	return take_path(t, path);
}

enum { LINK, LINK_DIR, LINK_CHAIN, LINK_UP };

static int symbolic(struct target *t, int arg)
{
	char buffer[512], up[1100];
	int rc;

	switch (arg) {
	case LINK:
		rc = symlink(t->read, "s");
		break;
	case LINK_DIR:
		rc = symlink(folder(t->read, buffer), "d");
		return rc < 0 ? errno : take_path(t, "d/key");
	case LINK_CHAIN:
		rc = symlink(t->read, "s2") || symlink("s2", "s1") ||
		     symlink("s1", "s");
		break;
	default: /* climbs out of where it is */
		snprintf(up, sizeof up, "../../../../../../../..%s", t->read);
		rc = symlink(up, "s");
	}
	return rc ? errno : take_path(t, "s");
}

enum { HARD, HARD_PROC, HARD_FD };

static int hard(struct target *t, int arg)
{
	char path[64];
	int fd, rc;

	if (arg == HARD)
		rc = link(t->read, "h");
	else {
		fd = open(t->read, O_PATH);
		if (fd < 0)
			return errno;
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		rc = arg == HARD_PROC
			     ? linkat(AT_FDCWD, path, AT_FDCWD, "h", AT_SYMLINK_FOLLOW)
			     : linkat(fd, "", AT_FDCWD, "h", AT_EMPTY_PATH);
	}
	return rc < 0 ? errno : take_path(t, "h");
}

/* A hard link to a file that must not change, changed under its new name. */
static int hard_write(struct target *t, int arg)
{
	(void)arg;
	if (link(t->write, "h") < 0)
		return errno;
	return poke(open("h", O_WRONLY | O_TRUNC));
}

enum { FD_FILE, FD_DIR, FD_DEV, FD_CHDIR, FD_IN_ROOT };

static int reopened(struct target *t, int arg)
{
	struct {
		unsigned long long flags, mode, resolve;
	} how = {.flags = O_RDONLY, .resolve = 0x10 /* RESOLVE_IN_ROOT */};
	char path[128], buffer[512];
	int fd = open(arg == FD_FILE || arg == FD_DEV ? t->read
		      : arg == FD_IN_ROOT	      ? "/"
						      : folder(t->read, buffer),
		O_PATH | O_CLOEXEC);

	if (fd < 0)
		return errno;
	snprintf(path, sizeof path, arg == FD_DEV ? "/dev/fd/%d" : "/proc/self/fd/%d",
		fd);
	if (arg == FD_IN_ROOT)
		return take(t, syscall(437, fd, t->read, &how, sizeof how));
	if (arg == FD_CHDIR)
		return fchdir(fd) < 0 ? errno : take_path(t, "key");
	if (arg == FD_DIR)
		return take(t, openat(fd, "key", O_RDONLY));
	return take_path(t, path);
}

enum { UP_OPEN, UP_DEV, UP_TRUNCATE, UP_CHMOD, UP_SETXATTR };

/* A descriptor for reading, made into more by its name in /proc. */
static int upgraded(struct target *t, int arg)
{
	int fd = open(t->write, arg == UP_DEV ? O_PATH : O_RDONLY);
	char path[64];

	if (fd < 0)
		return errno;
	snprintf(path, sizeof path, arg == UP_DEV ? "/dev/fd/%d" : "/proc/self/fd/%d",
		fd);
	switch (arg) {
	case UP_TRUNCATE:
		return result(truncate(path, 1));
	case UP_CHMOD:
		return result(chmod(path, 0777));
	default:
		return poke(open(path, O_WRONLY | O_TRUNC));
	}
}

static int handle(struct target *t, int arg)
{
	struct {
		unsigned bytes;
		int type;
		unsigned char handle[128];
	} h = {.bytes = 128};
	int mount, fd;

	(void)arg;
	if (syscall(SYS_name_to_handle_at, AT_FDCWD, t->read, &h, &mount, 0) < 0)
		return errno == EOPNOTSUPP ? NOT_HERE : errno;
	fd = open(t->root, O_RDONLY | O_DIRECTORY);
	return take(t, syscall(SYS_open_by_handle_at, fd, &h, O_RDONLY));
}

enum { MV_ABOVE, MV_EXCHANGE, MV_ITSELF, MV_SYMLINK };

/* Rules are about paths: give the path another meaning. */
static int moved(struct target *t, int arg)
{
	char to[600], from[600];
	int rc;

	snprintf(to, sizeof to, "%s.moved", t->deep);
	snprintf(from, sizeof from, "%s/secret", t->deep);
	switch (arg) {
	case MV_ABOVE:
		rc = rename(t->deep, to);
		break;
	case MV_EXCHANGE:
		mkdir("mine", 0755);
		rc = syscall(SYS_renameat2, AT_FDCWD, t->deep, AT_FDCWD, "mine", 2);
		snprintf(to, sizeof to, "mine");
		break;
	case MV_ITSELF:
		rc = rename(from, "mine");
		return rc < 0 ? errno : take_path(t, "mine/key");
	default: /* through a link to a folder above */
		rc = symlink(t->deep, "mine") || rename("mine/secret", "m2");
		return rc ? errno : take_path(t, "m2/key");
	}
	if (rc < 0)
		return errno;
	strcat(to, "/secret/key");
	return take_path(t, to);
}

enum { OVER_RENAME, OVER_LINK, OVER_UNLINK };

/* The file itself stays; its name gets another. */
static int replaced(struct target *t, int arg)
{
	char other[600];
	int fd;

	if (put("mine", "changed\n") != 0)
		return errno;
	switch (arg) {
	case OVER_RENAME:
		return result(rename("mine", t->write));
	case OVER_UNLINK:
		return result(unlink(t->write));
	default:
		snprintf(other, sizeof other, "%s.new", t->write);
		fd = open(".", O_TMPFILE | O_WRONLY, 0600);
		if (fd < 0)
			return errno == EOPNOTSUPP ? NOT_HERE : errno;
		snprintf(t->got, sizeof t->got, "/proc/self/fd/%d", fd);
		return result(
			linkat(AT_FDCWD, t->got, AT_FDCWD, other, AT_SYMLINK_FOLLOW));
	}
}

enum {
	HIDDEN_OPEN,
	HIDDEN_PATH,
	HIDDEN_LINK,
	PATTERN_OPEN,
	PATTERN_LINK,
	PATTERN_MOVE
};

static int other_rule(struct target *t, int arg)
{
	switch (arg) {
	case HIDDEN_OPEN:
		return take_path(t, t->hidden);
	case HIDDEN_LINK:
		return symlink(t->hidden, "s") < 0 ? errno : take_path(t, "s");
	case HIDDEN_PATH:
		snprintf(t->got, sizeof t->got, "/proc/self/fd/%d",
			open(t->hidden, O_PATH));
		return take_path(t, strdup(t->got));
	case PATTERN_LINK:
		return link(t->pattern, "plain") < 0 ? errno : take_path(t, "plain");
	case PATTERN_MOVE:
		return rename(t->pattern, "plain") < 0 ? errno : take_path(t, "plain");
	default:
		return take_path(t, t->pattern);
	}
}

static int below(struct target *t, int arg)
{
	(void)arg;
	return poke(open(t->below, O_WRONLY | O_TRUNC));
}

/* What is /dev/stdin of the one who asks. */
static int standard_input(struct target *t, int arg)
{
	int fd = open(t->read, O_PATH);

	if (fd < 0)
		return errno;
	dup2(fd, 0);
	return take_path(t, arg ? "/proc/self/fd/0" : "/dev/stdin");
}

const struct attempt paths_table[] = {
	{"plain", "r", "open", spelled, PLAIN},
	{"proc_self_root", "r", "/proc/self/root in front", spelled, SELF_ROOT},
	{"proc_thread_root", "r", "/proc/thread-self/root in front", spelled,
		THREAD_ROOT},
	{"proc_pid_root", "r", "/proc/PID/root in front", spelled, PID_ROOT},
	{"proc_parent_root", "r", "/proc/PPID/root in front", spelled, PARENT_ROOT},
	{"proc_self_cwd", "r", "/proc/self/cwd of a folder entered", spelled, SELF_CWD},
	{"proc_parent_cwd", "r", "/proc/PPID/cwd and up from there", spelled,
		PARENT_CWD},
	{"slashes", "r", "doubled slashes and dots", spelled, SLASHES},
	{"dot_dot", "r", "down and up again", spelled, DOTS},
	{"symlink", "r", "a symbolic link", symbolic, LINK},
	{"symlink_folder", "r", "a symbolic link to the folder", symbolic, LINK_DIR},
	{"symlink_chain", "r", "three symbolic links in a row", symbolic, LINK_CHAIN},
	{"symlink_up", "r", "a relative symbolic link that climbs out", symbolic,
		LINK_UP},
	{"hard_link", "r", "a hard link, opened", hard, HARD},
	{"hard_link_proc", "r", "linkat of /proc/self/fd/N", hard, HARD_PROC},
	{"hard_link_fd", "rR", "linkat with AT_EMPTY_PATH", hard, HARD_FD},
	{"hard_link_write", "w", "a hard link, written to", hard_write, 0},
	{"path_reopen", "r", "O_PATH, then opened through /proc/self/fd", reopened,
		FD_FILE},
	{"path_reopen_dev", "r", "O_PATH, then opened through /dev/fd", reopened,
		FD_DEV},
	{"path_folder", "r", "openat below an O_PATH folder", reopened, FD_DIR},
	{"path_fchdir", "r", "fchdir to an O_PATH folder", reopened, FD_CHDIR},
	{"in_root", "r", "openat2 with RESOLVE_IN_ROOT", reopened, FD_IN_ROOT},
	{"upgrade", "w", "opened for reading, again for writing by /proc/self/fd",
		upgraded, UP_OPEN},
	{"upgrade_dev", "w", "O_PATH, opened for writing through /dev/fd", upgraded,
		UP_DEV},
	{"upgrade_truncate", "w", "truncate of /proc/self/fd/N", upgraded, UP_TRUNCATE},
	{"upgrade_chmod", "w", "chmod of /proc/self/fd/N", upgraded, UP_CHMOD},
	{"handle", "rR", "name_to_handle_at, open_by_handle_at", handle, 0},
	{"move_above", "r", "rename a folder above, read at the new place", moved,
		MV_ABOVE},
	{"move_exchange", "r", "exchange a folder above with another", moved,
		MV_EXCHANGE},
	{"move_itself", "r", "rename the denied folder", moved, MV_ITSELF},
	{"move_by_symlink", "r", "rename it through a link to a folder above", moved,
		MV_SYMLINK},
	{"replace", "w", "rename another file over it", replaced, OVER_RENAME},
	{"replace_unlink", "w", "unlink", replaced, OVER_UNLINK},
	{"tmpfile_link", "w", "O_TMPFILE, then linkat into the folder", replaced,
		OVER_LINK},
	{"hidden_open", "r", "open of a hidden file", other_rule, HIDDEN_OPEN},
	{"hidden_reopen", "r", "O_PATH of a hidden file, opened again", other_rule,
		HIDDEN_PATH},
	{"hidden_symlink", "r", "a symbolic link to a hidden file", other_rule,
		HIDDEN_LINK},
	{"pattern_open", "r", "open of a file denied by a pattern", other_rule,
		PATTERN_OPEN},
	{"pattern_link", "r", "a hard link with a name that the pattern does not match",
		other_rule, PATTERN_LINK},
	{"pattern_move", "r", "a new name that the pattern does not match", other_rule,
		PATTERN_MOVE},
	{"default_write", "w", "write outside every list, default read-only", below, 0},
	{"stdin_dev", "r", "standard input from O_PATH, opened through /dev/stdin",
		standard_input, 0},
	{"stdin_proc", "r", "the same through /proc/self/fd/0", standard_input, 1},
	{0},
};
