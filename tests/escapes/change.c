/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - every call that changes a file, on one that must not change */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "tests/escapes/escape.h"

enum what {
	CHMOD,
	FCHMOD,
	FCHMODAT,
	FCHMODAT2,
	CHOWN,
	LCHOWN,
	FCHOWN,
	FCHOWNAT,
	UTIME,
	UTIMES,
	FUTIMESAT,
	UTIMENSAT,
	FUTIMENS,
	SETXATTR,
	LSETXATTR,
	FSETXATTR,
	REMOVEXATTR,
	SETXATTRAT,
	TRUNCATE,
	OPEN_TRUNC,
	OPEN_RDONLY_TRUNC,
	APPEND,
	MKNOD,
	MKDIR,
	SYMLINK,
	MKFIFO,
	RMDIR,
	RENAME_AWAY,
	BIND,
	ACL,
	IOCTL_FLAGS,
	IOCTL_WIDE,
	FILE_SETATTR
};

static const struct timespec then[2] = {{1000000, 1}, {1000000, 1}};
static const struct timeval then_us[2] = {{1000000, 1}, {1000000, 1}};

static int by_path(struct target *t, int what)
{
	const struct utimbuf old = {1000000, 1000000};
	struct {
		unsigned long long value;
		unsigned size, flags;
	} attr = {(unsigned long)"1", 1, 0};
	const char *path = t->write;

	switch (what) {
	case CHMOD:
		return result(chmod(path, 0707));
	case FCHMODAT:
		return result(syscall(SYS_fchmodat, AT_FDCWD, path, 0707));
	case FCHMODAT2:
		return result(syscall(452, AT_FDCWD, path, 0707, 0));
	case CHOWN:
		return result(chown(path, 1, 1));
	case LCHOWN:
		return result(lchown(path, 1, 1));
	case FCHOWNAT:
		return result(fchownat(AT_FDCWD, path, 1, 1, 0));
	case UTIME:
		return result(utime(path, &old));
	case UTIMES:
		return result(utimes(path, then_us));
	case FUTIMESAT:
		return result(syscall(SYS_futimesat, AT_FDCWD, path, then_us));
	case UTIMENSAT:
		return result(utimensat(AT_FDCWD, path, then, 0));
	case SETXATTR:
		return result(setxattr(path, "user.escape", "1", 1, 0));
	case LSETXATTR:
		return result(lsetxattr(path, "user.escape", "1", 1, 0));
	case REMOVEXATTR: /* stage.py has given it one */
		return result(removexattr(path, "user.stage"));
	case SETXATTRAT:
		return result(syscall(
			463, AT_FDCWD, path, 0, "user.escape", &attr, sizeof attr));
	case TRUNCATE:
		return result(truncate(path, 2));
	case OPEN_TRUNC:
		return poke(open(path, O_WRONLY | O_TRUNC));
	case OPEN_RDONLY_TRUNC:
		return result(open(path, O_RDONLY | O_TRUNC));
	default:
		return poke(open(path, O_WRONLY | O_APPEND));
	}
}

static int path_call(struct target *t, int what)
{
	int rc = by_path(t, what);

	return rc == ENOSYS || rc == EOPNOTSUPP ? NOT_HERE : rc;
}

/* Through a descriptor that was opened for reading, which is allowed. */
static int fd_call(struct target *t, int what)
{
	unsigned char attr[32] = {0x40}; /* FS_XFLAG_NOATIME */
	int fd = open(t->write, O_RDONLY), flags, rc;

	if (fd < 0)
		return errno;
	switch (what) {
	case FCHMOD:
		rc = fchmod(fd, 0707);
		break;
	case FCHOWN:
		rc = fchown(fd, 1, 1);
		break;
	case FUTIMENS:
		rc = futimens(fd, then);
		break;
	case FSETXATTR:
		rc = fsetxattr(fd, "user.escape", "1", 1, 0);
		break;
	case IOCTL_FLAGS:
	case IOCTL_WIDE: /* the kernel takes 32 bits of the request */
		rc = ioctl(fd, 0x80086601ul, &flags); /* FS_IOC_GETFLAGS, SETFLAGS */
		flags ^= 0x80;			      /* noatime */
		if (rc == 0)
			rc = syscall(SYS_ioctl, fd,
				0x40086602ul | (what == IOCTL_WIDE ? 1ul << 32 : 0),
				&flags);
		break;
	default:
		rc = syscall(469, AT_FDCWD, t->write, attr, 24, 0); /* file_setattr */
	}
	rc = result(rc);
	close(fd);
	if (rc == ENOSYS || rc == EOPNOTSUPP || rc == ENOTTY)
		return NOT_HERE;
	return rc;
}

/* Names that appear and go below a folder that must not change. */
static int name_call(struct target *t, int what)
{
	struct sockaddr_un address;
	char path[600];
	int fd;

	snprintf(path, sizeof path, "%s.new", t->write);
	switch (what) {
	case MKNOD:
		return result(mknod(path, S_IFREG | 0600, 0));
	case MKFIFO:
		return result(mkfifo(path, 0600));
	case MKDIR:
		return result(mkdir(path, 0700));
	case SYMLINK:
		return result(symlink("/nowhere", path));
	case RMDIR:
		snprintf(path, sizeof path, "%s", t->write);
		strcpy(strrchr(path, '/'), "/empty");
		return result(rmdir(path));
	case RENAME_AWAY:
		return result(rename(t->write, "mine"));
	default:
		if (strlen(path) >= sizeof address.sun_path)
			return NOT_HERE;
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		return result(bind(fd, (struct sockaddr *)&address,
			unix_address(path, false, &address)));
	}
}

const struct attempt change_table[] = {
	{"chmod", "w", "chmod", path_call, CHMOD},
	{"fchmodat", "w", "fchmodat", path_call, FCHMODAT},
	{"fchmodat2", "w", "fchmodat2", path_call, FCHMODAT2},
	{"fchmod", "w", "fchmod of a descriptor for reading", fd_call, FCHMOD},
	{"chown", "wR", "chown", path_call, CHOWN},
	{"lchown", "wR", "lchown", path_call, LCHOWN},
	{"fchownat", "wR", "fchownat", path_call, FCHOWNAT},
	{"fchown", "wR", "fchown of a descriptor for reading", fd_call, FCHOWN},
	{"utime", "w", "utime", path_call, UTIME},
	{"utimes", "w", "utimes", path_call, UTIMES},
	{"futimesat", "w", "futimesat", path_call, FUTIMESAT},
	{"utimensat", "w", "utimensat", path_call, UTIMENSAT},
	{"futimens", "w", "futimens of a descriptor for reading", fd_call, FUTIMENS},
	{"setxattr", "w", "setxattr", path_call, SETXATTR},
	{"lsetxattr", "w", "lsetxattr", path_call, LSETXATTR},
	{"fsetxattr", "w", "fsetxattr of a descriptor for reading", fd_call, FSETXATTR},
	{"removexattr", "w", "removexattr", path_call, REMOVEXATTR},
	{"setxattrat", "w", "setxattrat", path_call, SETXATTRAT},
	{"truncate", "w", "truncate", path_call, TRUNCATE},
	{"open_truncate", "w", "open with O_TRUNC", path_call, OPEN_TRUNC},
	{"open_read_truncate", "w", "open for reading with O_TRUNC", path_call,
		OPEN_RDONLY_TRUNC},
	{"append", "w", "open with O_APPEND", path_call, APPEND},
	{"file_setattr", "w", "the flags of the inode by file_setattr", fd_call,
		FILE_SETATTR},
	{"ioctl_flags", "w", "the flags of the inode by ioctl", fd_call, IOCTL_FLAGS},
	{"ioctl_wide", "w", "the same with another bit in the request", fd_call,
		IOCTL_WIDE},
	{"mknod", "w", "mknod in the folder", name_call, MKNOD},
	{"mkfifo", "w", "mkfifo in the folder", name_call, MKFIFO},
	{"mkdir", "w", "mkdir in the folder", name_call, MKDIR},
	{"symlink_create", "w", "symlink in the folder", name_call, SYMLINK},
	{"rmdir", "w", "rmdir in the folder", name_call, RMDIR},
	{"rename_away", "w", "rename of a file out of the folder", name_call,
		RENAME_AWAY},
	{"bind_unix", "w", "bind of a Unix socket in the folder", name_call, BIND},
	{0},
};
