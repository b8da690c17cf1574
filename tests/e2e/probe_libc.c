/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_libc.c - the libc functions a probe can call, one row each.
 *
 * Rows for names that only one libc has stand behind __GLIBC__; names that headers do
 * not offer any more are looked up, and answer ENOSYS where they do not exist.
 */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "probe.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

extern char **environ;

static const struct utimbuf second = {1000000000, 1000000001};
static const struct timeval micro[2] = {{1000000000, 123456}, {1000000001, 654321}};
static const struct timespec nano[2] = {
	{1000000000, 123456789}, {1000000001, 987654321}};
static char *const vector[] = {(char *)"true", NULL};
static struct stat status;
static char room[4096];

static int reading(const char *a)
{
	int fd = open(a, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		probe_barred = errno;
	return fd;
}

/* NULL is a failure, anything else success. */
static long got(const void *pointer)
{
	return pointer ? 0 : -1;
}

static char *template(const char *a)
{
	static char text[4096];

	snprintf(text, sizeof text, "%s.XXXXXX", a);
	return text;
}

static char *template_with_tail(const char *a)
{
	return strcat(template(a), ".tail");
}

static struct msghdr *message(const char *a, struct mmsghdr *list)
{
	static struct sockaddr_storage to;
	static struct iovec part = {(void *)"hello", 5};

	memset(list, 0, sizeof *list);
	list->msg_hdr.msg_namelen = probe_address(a, &to);
	list->msg_hdr.msg_name = &to;
	list->msg_hdr.msg_iov = &part;
	list->msg_hdr.msg_iovlen = 1;
	return &list->msg_hdr;
}

static long send_message(const char *a, int many)
{
	struct mmsghdr list;
	struct msghdr *one = message(a, &list);
	int fd = probe_socket(a, 1);

	return many ? sendmmsg(fd, &list, 1, 0) : sendmsg(fd, one, 0);
}

static long with_address(const char *a, int dgram, int how)
{
	struct sockaddr_storage to;
	socklen_t size = probe_address(a, &to);
	int fd = probe_socket(a, dgram);

	if (how == 'b')
		return bind(fd, (struct sockaddr *)&to, size);
	if (how == 's')
		return sendto(fd, "hello", 5, 0, (struct sockaddr *)&to, size);
	return connect(fd, (struct sockaddr *)&to, size);
}

static long look_up(const char *a)
{
	struct addrinfo *list = NULL;
	int rc = getaddrinfo(a, "80", NULL, &list);

	if (rc == 0)
		freeaddrinfo(list);
	errno = EACCES;
	return rc ? -1 : 0;
}

static long look_up_host(const char *a, int family, int reentrant)
{
	struct hostent host, *found = NULL;
	static char room[4096];
	int h_error = 0;

	if (reentrant && family)
		gethostbyname2_r(a, family, &host, room, sizeof room, &found, &h_error);
	else if (reentrant)
		gethostbyname_r(a, &host, room, sizeof room, &found, &h_error);
	else
		found = family ? gethostbyname2(a, family) : gethostbyname(a);
	errno = EACCES;
	return found ? 0 : -1;
}

/* The status of a shell or a spawned child; 126 is what a refused exec becomes. */
static long ended(int wait_status)
{
	if (wait_status == -1)
		return -1;
	errno = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 126 ? EACCES
									  : ENOEXEC;
	return wait_status ? -1 : 0;
}

static long spawn(const char *a, int search)
{
	pid_t child;
	int wait_status;

	errno = (search ? posix_spawnp : posix_spawn)(
		&child, a, NULL, NULL, vector, environ);
	if (errno)
		return -1;
	waitpid(child, &wait_status, 0);
	return ended(wait_status);
}

/* The last component of a, to be found through PATH. */
static const char *by_name(const char *a)
{
	static char folder[4096];
	const char *slash = strrchr(a, '/');

	snprintf(folder, sizeof folder, "%.*s", (int)(slash - a), a);
	setenv("PATH", folder, 1);
	return slash + 1;
}

static long pipe_from(const char *a)
{
	FILE *in = popen(a, "r");

	return in ? ended(pclose(in)) : -1;
}

static long reopen(const char *a)
{
	FILE *file = fopen("/dev/null", "r");

	return file ? got(freopen(a, "r", file)) : -1;
}

#if defined(__GLIBC__)
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

static long reopen64(const char *a)
{
	FILE *file = fopen64("/dev/null", "r");

	return file ? got(freopen64(a, "r", file)) : -1;
}
#endif

#if defined(__GLIBC__) && !defined(PROBE_STATIC)
static void *symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

#define OLD(type, name, ...)                                                           \
	(symbol(#name) ? (long)((type)symbol(#name))(__VA_ARGS__)                      \
		       : (errno = ENOSYS, -1))
typedef int (*open_fn)(const char *, int, ...);
typedef int (*connect_fn)(int, const struct sockaddr *, socklen_t);
typedef int (*xstat_fn)(int, const char *, struct stat *);
typedef int (*fxstatat_fn)(int, int, const char *, struct stat *, int);
typedef int (*xmknod_fn)(int, const char *, mode_t, dev_t *);
typedef int (*xmknodat_fn)(int, int, const char *, mode_t, dev_t *);
#define STAT_VERSION (sizeof(long) == 8 ? 1 : 3)

static long connect_inside(const char *a)
{
	struct sockaddr_storage to;
	socklen_t size = probe_address(a, &to);

	return OLD(connect_fn, __connect, probe_socket(a, 0), (struct sockaddr *)&to,
		size);
}

static dev_t no_device;
#endif

/* clang-format off */
/* id, name, kind, action, expression over the paths a and b */
#define EVERYWHERE(X) \
	X(open, "open", FILE, "read", open(a, O_RDONLY)) \
	X(open_write, "open.write", FILE, "write", open(a, O_WRONLY)) \
	X(open_append, "open.append", FILE, "write", open(a, O_RDWR | O_APPEND)) \
	X(open_create, "open.create", NEW, "create", open(a, O_RDWR | O_CREAT, 0640)) \
	X(open_tmpfile, "open.tmpfile", DIR, "create", open(a, O_RDWR | O_TMPFILE, 0600)) \
	X(openat, "openat", FILE, "read", openat(AT_FDCWD, a, O_RDONLY)) \
	X(openat_create, "openat.create", NEW, "create", openat(AT_FDCWD, a, O_WRONLY | O_CREAT | O_EXCL, 0604)) \
	X(creat, "creat", NEW, "create", creat(a, 0644)) \
	X(fopen, "fopen", FILE, "read", got(fopen(a, "r"))) \
	X(fopen_write, "fopen.write", FILE, "write", got(fopen(a, "r+"))) \
	X(fopen_create, "fopen.create", NEW, "create", got(fopen(a, "w"))) \
	X(fopen_odd, "fopen.odd", NEW, "create", got(fopen(a, "wc"))) \
	X(freopen, "freopen", FILE, "read", reopen(a)) \
	X(opendir, "opendir", DIR, "read", got(opendir(a))) \
	X(truncate, "truncate", FILE, "write", truncate(a, 1)) \
	X(unlink, "unlink", FILE, "delete", unlink(a)) \
	X(unlinkat, "unlinkat", FILE, "delete", unlinkat(AT_FDCWD, a, 0)) \
	X(unlinkat_dir, "unlinkat.dir", DIR, "delete", unlinkat(AT_FDCWD, a, AT_REMOVEDIR)) \
	X(remove, "remove", FILE, "delete", remove(a)) \
	X(remove_dir, "remove.dir", DIR, "delete", remove(a)) \
	X(rename, "rename", PAIR, "rename", rename(a, b)) \
	X(renameat, "renameat", PAIR, "rename", renameat(AT_FDCWD, a, AT_FDCWD, b)) \
	X(link, "link", PAIR, "create", link(a, b)) \
	X(linkat, "linkat", PAIR, "create", linkat(AT_FDCWD, a, AT_FDCWD, b, 0)) \
	X(symlink, "symlink", NEW, "create", symlink("target", a)) \
	X(symlinkat, "symlinkat", NEW, "create", symlinkat("target", AT_FDCWD, a)) \
	X(mkdir, "mkdir", NEW, "create", mkdir(a, 0755)) \
	X(mkdirat, "mkdirat", NEW, "create", mkdirat(AT_FDCWD, a, 0755)) \
	X(rmdir, "rmdir", DIR, "delete", rmdir(a)) \
	X(mknod, "mknod", NEW, "create", mknod(a, S_IFREG | 0644, 0)) \
	X(mknodat, "mknodat", NEW, "create", mknodat(AT_FDCWD, a, S_IFIFO | 0644, 0)) \
	X(mkfifo, "mkfifo", NEW, "create", mkfifo(a, 0644)) \
	X(mkfifoat, "mkfifoat", NEW, "create", mkfifoat(AT_FDCWD, a, 0644)) \
	X(mkstemp, "mkstemp", TEMPLATE, "create", mkstemp(template(a))) \
	X(mkostemp, "mkostemp", TEMPLATE, "create", mkostemp(template(a), O_CLOEXEC)) \
	X(mkstemps, "mkstemps", TEMPLATE, "create", mkstemps(template_with_tail(a), 5)) \
	X(mkostemps, "mkostemps", TEMPLATE, "create", mkostemps(template_with_tail(a), 5, O_CLOEXEC)) \
	X(mkdtemp, "mkdtemp", TEMPLATE, "create", got(mkdtemp(template(a)))) \
	X(tmpfile, "tmpfile", NONE, "create", got(tmpfile())) \
	X(chmod, "chmod", FILE, "write", chmod(a, 0600)) \
	X(fchmod, "fchmod", FILE, "write", fchmod(reading(a), 0600)) \
	X(fchmodat, "fchmodat", FILE, "write", fchmodat(AT_FDCWD, a, 0600, 0)) \
	X(lchmod, "lchmod", FILE, "write", lchmod(a, 0600)) \
	X(chown, "chown", FILE, "write", chown(a, geteuid(), getegid())) \
	X(lchown, "lchown", LINK, "write", lchown(a, geteuid(), getegid())) \
	X(fchown, "fchown", FILE, "write", fchown(reading(a), geteuid(), getegid())) \
	X(fchownat, "fchownat", FILE, "write", fchownat(AT_FDCWD, a, geteuid(), getegid(), 0)) \
	X(utime, "utime", FILE, "write", utime(a, &second)) \
	X(utimes, "utimes", FILE, "write", utimes(a, micro)) \
	X(lutimes, "lutimes", LINK, "write", lutimes(a, micro)) \
	X(futimes, "futimes", FILE, "write", futimes(reading(a), micro)) \
	X(futimesat, "futimesat", FILE, "write", futimesat(AT_FDCWD, a, micro)) \
	X(utimensat, "utimensat", FILE, "write", utimensat(AT_FDCWD, a, nano, 0)) \
	X(futimens, "futimens", FILE, "write", futimens(reading(a), nano)) \
	X(setxattr, "setxattr", FILE, "write", setxattr(a, "user.probe", "value", 5, 0)) \
	X(lsetxattr, "lsetxattr", FILE, "write", lsetxattr(a, "user.probe", "value", 5, 0)) \
	X(fsetxattr, "fsetxattr", FILE, "write", fsetxattr(reading(a), "user.probe", "value", 5, 0)) \
	X(removexattr, "removexattr", FILE, "write", removexattr(a, "user.probe")) \
	X(lremovexattr, "lremovexattr", FILE, "write", lremovexattr(a, "user.probe")) \
	X(fremovexattr, "fremovexattr", FILE, "write", fremovexattr(reading(a), "user.probe")) \
	X(chdir, "chdir", DIR, "read", chdir(a)) \
	X(fchdir, "fchdir", DIR, "read", fchdir(reading(a))) \
	X(chroot, "chroot", DIR, "read", chroot(a)) \
	X(execve, "execve", PROGRAM, "exec", execve(a, vector, environ)) \
	X(execv, "execv", PROGRAM, "exec", execv(a, vector)) \
	X(execvp, "execvp", PROGRAM, "exec", execvp(by_name(a), vector)) \
	X(execvpe, "execvpe", PROGRAM, "exec", execvpe(by_name(a), vector, environ)) \
	X(execl, "execl", PROGRAM, "exec", execl(a, "true", "1", "2", "3", "4", "5", "6", "7", "8", (char *)NULL)) \
	X(execlp, "execlp", PROGRAM, "exec", execlp(by_name(a), "true", "one", (char *)NULL)) \
	X(execle, "execle", PROGRAM, "exec", execle(a, "true", "one", (char *)NULL, environ)) \
	X(fexecve, "fexecve", OPENED, "exec", fexecve(reading(a), vector, environ)) \
	X(posix_spawn, "posix_spawn", PROGRAM, "exec", spawn(a, 0)) \
	X(posix_spawnp, "posix_spawnp", PROGRAM, "exec", spawn(by_name(a), 1)) \
	X(system, "system", PROGRAM, "exec", ended(system(a))) \
	X(popen, "popen", PROGRAM, "exec", pipe_from(a)) \
	X(connect, "connect", INET, "connect", with_address(a, 0, 'c')) \
	X(connect_unix, "connect.unix", STREAM, "connect", with_address(a, 0, 'c')) \
	X(bind, "bind", INET, "bind", (unsetenv("PROBE_PORT"), with_address(a, 0, 'b'))) \
	X(bind_unix, "bind.unix", NEW, "bind", with_address(a, 0, 'b')) \
	X(sendto, "sendto", INET, "send", with_address(a, 1, 's')) \
	X(sendto_unix, "sendto.unix", DGRAM, "send", with_address(a, 1, 's')) \
	X(sendmsg, "sendmsg", INET, "send", send_message(a, 0)) \
	X(sendmmsg, "sendmmsg", INET, "send", send_message(a, 1)) \
	X(getaddrinfo, "getaddrinfo", HOST, "connect", look_up(a)) \
	X(gethostbyname, "gethostbyname", HOST, "connect", look_up_host(a, 0, 0)) \
	X(gethostbyname2, "gethostbyname2", HOST, "connect", look_up_host(a, AF_INET, 0)) \
	X(gethostbyname_r, "gethostbyname_r", HOST, "connect", look_up_host(a, 0, 1)) \
	X(gethostbyname2_r, "gethostbyname2_r", HOST, "connect", look_up_host(a, AF_INET, 1)) \
	X(stat, "stat", FILE, "metadata", stat(a, &status)) \
	X(lstat, "lstat", FILE, "metadata", lstat(a, &status)) \
	X(fstatat, "fstatat", FILE, "metadata", fstatat(AT_FDCWD, a, &status, 0)) \
	X(access, "access", FILE, "metadata", access(a, R_OK)) \
	X(faccessat, "faccessat", FILE, "metadata", faccessat(AT_FDCWD, a, R_OK, 0)) \
	X(readlink, "readlink", LINK, "metadata", readlink(a, room, sizeof room)) \
	X(readlinkat, "readlinkat", LINK, "metadata", readlinkat(AT_FDCWD, a, room, sizeof room))

#ifdef __GLIBC__
#define IN_GLIBC(X) \
	X(open64, "open64", FILE, "read", open64(a, O_RDONLY)) \
	X(openat64, "openat64", FILE, "read", openat64(AT_FDCWD, a, O_RDONLY)) \
	X(creat64, "creat64", NEW, "create", creat64(a, 0644)) \
	X(fopen64, "fopen64", FILE, "read", got(fopen64(a, "r"))) \
	X(freopen64, "freopen64", FILE, "read", reopen64(a)) \
	X(truncate64, "truncate64", FILE, "write", truncate64(a, 1)) \
	X(mkstemp64, "mkstemp64", TEMPLATE, "create", mkstemp64(template(a))) \
	X(mkostemp64, "mkostemp64", TEMPLATE, "create", mkostemp64(template(a), O_CLOEXEC)) \
	X(mkstemps64, "mkstemps64", TEMPLATE, "create", mkstemps64(template_with_tail(a), 5)) \
	X(mkostemps64, "mkostemps64", TEMPLATE, "create", mkostemps64(template_with_tail(a), 5, O_CLOEXEC)) \
	X(tmpfile64, "tmpfile64", NONE, "create", got(tmpfile64())) \
	X(open_2, "__open_2", FILE, "read", __open_2(a, O_RDONLY)) \
	X(open64_2, "__open64_2", FILE, "read", __open64_2(a, O_RDONLY)) \
	X(openat_2, "__openat_2", FILE, "read", __openat_2(AT_FDCWD, a, O_RDONLY)) \
	X(openat64_2, "__openat64_2", FILE, "read", __openat64_2(AT_FDCWD, a, O_RDONLY)) \
	X(renameat2, "renameat2", PAIR, "rename", renameat2(AT_FDCWD, a, AT_FDCWD, b, 0)) \
	X(execveat, "execveat", PROGRAM, "exec", execveat(AT_FDCWD, a, vector, environ, 0)) \
	X(execveat_fd, "execveat.fd", OPENED, "exec", execveat(reading(a), "", vector, environ, AT_EMPTY_PATH)) \
	X(statx, "statx", FILE, "metadata", statx(AT_FDCWD, a, 0, STATX_ALL, (struct statx *)room)) \
	X(stat64, "stat64", FILE, "metadata", stat64(a, (struct stat64 *)room)) \
	X(lstat64, "lstat64", FILE, "metadata", lstat64(a, (struct stat64 *)room)) \
	X(fstatat64, "fstatat64", FILE, "metadata", fstatat64(AT_FDCWD, a, (struct stat64 *)room, 0))
#else
#define IN_GLIBC(X)
#endif

#if defined(__GLIBC__) && !defined(PROBE_STATIC)
#define LOOKED_UP(X) \
	X(dlopen, "dlopen", FILE, "read", dlopen(a, RTLD_NOW) ? 0 : (errno = EACCES, -1)) \
	X(under_open, "__open", FILE, "read", OLD(open_fn, __open, a, O_RDONLY)) \
	X(under_open64, "__open64", FILE, "read", OLD(open_fn, __open64, a, O_RDONLY)) \
	X(under_connect, "__connect", INET, "connect", connect_inside(a)) \
	X(xmknod, "__xmknod", NEW, "create", OLD(xmknod_fn, __xmknod, 0, a, S_IFIFO | 0644, &no_device)) \
	X(xmknodat, "__xmknodat", NEW, "create", OLD(xmknodat_fn, __xmknodat, 0, AT_FDCWD, a, S_IFIFO | 0644, &no_device)) \
	X(xstat, "__xstat", FILE, "metadata", OLD(xstat_fn, __xstat, STAT_VERSION, a, &status)) \
	X(lxstat, "__lxstat", FILE, "metadata", OLD(xstat_fn, __lxstat, STAT_VERSION, a, &status)) \
	X(fxstatat, "__fxstatat", FILE, "metadata", OLD(fxstatat_fn, __fxstatat, STAT_VERSION, AT_FDCWD, a, &status, 0)) \
	X(xstat64, "__xstat64", FILE, "metadata", OLD(xstat_fn, __xstat64, STAT_VERSION, a, &status)) \
	X(lxstat64, "__lxstat64", FILE, "metadata", OLD(xstat_fn, __lxstat64, STAT_VERSION, a, &status)) \
	X(fxstatat64, "__fxstatat64", FILE, "metadata", OLD(fxstatat_fn, __fxstatat64, STAT_VERSION, AT_FDCWD, a, &status, 0))
#else
#define LOOKED_UP(X)
#endif

/* clang-format on */
#define ALL(X) EVERYWHERE(X) IN_GLIBC(X) LOOKED_UP(X)

#define FUNCTION(id, name, kind, action, expression)                                   \
	static long call_##id(const char *a, const char *b)                            \
	{                                                                              \
		(void)a, (void)b;                                                      \
		return (expression);                                                   \
	}
ALL(FUNCTION)

#define ROW(id, name, kind, action, expression)                                        \
	{name, KIND_##kind, action, call_##id, NULL, -1, -1},
const struct probe probe_functions[] = {ALL(ROW){0}};
