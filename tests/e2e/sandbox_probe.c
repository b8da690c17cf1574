/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_probe.c - calls made by number in a static program, so that nobody but the
 * kernel and its listener sees them.  Each pair of arguments, CALL and WHAT, prints
 * "CALL WHAT result", where the result is ok or the name of an errno value.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static long open_it(const char *path, int flags)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, flags, 0600);

	if (fd >= 0)
		close((int)fd);
	return fd;
}

static long by_port(const char *text, int call)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(text)),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return syscall(call, fd, &to, sizeof(to));
}

static long connect_abstract(const char *name)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len = strlen(name);

	memcpy(to.sun_path + 1, name, len);
	return syscall(SYS_connect, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &to,
		offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

static long bind_unix(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	strcpy(to.sun_path, path);
	return syscall(SYS_bind, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &to,
		sizeof(to));
}

static long run_it(const char *path)
{
	char *argv[] = {(char *)path, NULL}, *env[] = {NULL};
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		syscall(SYS_execve, path, argv, env);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

/* "from=to" */
static long two(const char *what, int call)
{
	char from[4096], *to;

	snprintf(from, sizeof(from), "%s", what);
	to = strchr(from, '=');
	*to++ = '\0';
	if (call == SYS_linkat)
		return syscall(call, AT_FDCWD, from, AT_FDCWD, to, 0);
	return syscall(call, AT_FDCWD, from, AT_FDCWD, to);
}

static long by_handle(const char *path)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + 128];
	} at = {.handle = {.handle_bytes = 128}};
	int mount, root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (name_to_handle_at(AT_FDCWD, path, &at.handle, &mount, 0) < 0)
		return -1;
	return open_by_handle_at(root, &at.handle, O_RDONLY);
}

static long list(const char *path)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	char room[4096];

	return fd < 0 ? fd : syscall(SYS_getdents64, fd, room, sizeof(room));
}

static long command(const char *path)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_NONBLOCK);

	return fd < 0 ? fd : ioctl((int)fd, _IO('?', 99));
}

/* A message through a queue of this name, which is gone then. */
static long by_queue(const char *name)
{
	long attributes[8] = {0, 1, 8}; /* flags, messages at most, their size */
	long fd = syscall(SYS_mq_open, name, O_RDWR | O_CREAT, 0600, attributes);
	char message[8] = "";

	if (fd >= 0 && (syscall(SYS_mq_timedsend, fd, "queue", 6L, 0, NULL) < 0 ||
			       syscall(SYS_mq_timedreceive, fd, message, 8L, NULL,
				       NULL) != 6 ||
			       strcmp(message, "queue") != 0))
		fd = -1;
	int why = errno;

	syscall(SYS_mq_unlink, name);
	errno = why;
	return fd;
}

static long make(const char *call, const char *what)
{
	if (!strcmp(call, "read"))
		return open_it(what, O_RDONLY);
	if (!strcmp(call, "write"))
		return open_it(what, O_WRONLY);
	if (!strcmp(call, "create"))
		return open_it(what, O_WRONLY | O_CREAT);
	if (!strcmp(call, "list"))
		return list(what);
	if (!strcmp(call, "truncate"))
		return syscall(SYS_truncate, what, 0L);
	if (!strcmp(call, "mkdir"))
		return syscall(SYS_mkdirat, AT_FDCWD, what, 0700);
	if (!strcmp(call, "unlink"))
		return syscall(SYS_unlinkat, AT_FDCWD, what, 0);
	if (!strcmp(call, "symlink"))
		return syscall(SYS_symlinkat, "/etc/passwd", AT_FDCWD, what);
	if (!strcmp(call, "mknod"))
		return syscall(SYS_mknodat, AT_FDCWD, what, S_IFBLK | 0600, 0x800);
	if (!strcmp(call, "rename"))
		return two(what, SYS_renameat);
	if (!strcmp(call, "link"))
		return two(what, SYS_linkat);
	if (!strcmp(call, "exec"))
		return run_it(what);
	if (!strcmp(call, "handle"))
		return by_handle(what);
	if (!strcmp(call, "command"))
		return command(what);
	if (!strcmp(call, "connect"))
		return by_port(what, SYS_connect);
	if (!strcmp(call, "bind"))
		return by_port(what, SYS_bind);
	if (!strcmp(call, "abstract"))
		return connect_abstract(what);
	if (!strcmp(call, "socket"))
		return bind_unix(what);
	if (!strcmp(call, "kill"))
		return kill(atoi(what), 0);
	if (!strcmp(call, "trace"))
		return ptrace(PTRACE_SEIZE, atoi(what), NULL, NULL);
	if (!strcmp(call, "queue"))
		return by_queue(what);
	if (!strcmp(call, "mount"))
		return mount("none", what, "tmpfs", 0, NULL);
	fprintf(stderr, "no call '%s'\n", call);
	exit(2);
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		long result = make(argv[i], argv[i + 1]);

		printf("%s %s %s\n", argv[i], argv[i + 1],
			result < 0 ? strerrorname_np(errno) : "ok");
	}
	return 0;
}
