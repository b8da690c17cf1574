/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - make one call and print "ok" or the name of its errno.
 *
 *   probe CALL [A [B]]        one call, made in a child
 *   probe --batch             the same for each line "CALL A B" of the input: "CALL
 * result" probe --list              CALL KIND ACTION, one line each probe --prepare DIR
 * make in DIR what each call needs, named after the call probe --serve FILE DIR... also
 * listen there; the port of 0.0.0.0 goes to FILE
 *
 * CALL is a libc function, or raw:NAME (our own instruction), sys:NAME (through
 * syscall()) or int80:NAME (32-bit entry of a 64-bit process); ".write" and the like
 * are variations.
 */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probe.h"

int probe_barred;

static const char *const kinds[] = {"file", "new", "pair", "dir", "link", "program",
	"opened", "template", "inet", "stream", "dgram", "host", "none"};

static const char *const prefixes[] = {
	"",
	"raw:",
	"sys:",
#ifdef __x86_64__
	"int80:",
#endif
};

static const char *errno_name(int code)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{EPERM, "EPERM"},
		{ENOENT, "ENOENT"},
		{EINTR, "EINTR"},
		{EIO, "EIO"},
		{ENXIO, "ENXIO"},
		{E2BIG, "E2BIG"},
		{ENOEXEC, "ENOEXEC"},
		{EBADF, "EBADF"},
		{EAGAIN, "EAGAIN"},
		{ENOMEM, "ENOMEM"},
		{EACCES, "EACCES"},
		{EFAULT, "EFAULT"},
		{EBUSY, "EBUSY"},
		{EEXIST, "EEXIST"},
		{EXDEV, "EXDEV"},
		{ENOTDIR, "ENOTDIR"},
		{EISDIR, "EISDIR"},
		{EINVAL, "EINVAL"},
		{EMFILE, "EMFILE"},
		{ENOSPC, "ENOSPC"},
		{EROFS, "EROFS"},
		{ELOOP, "ELOOP"},
		{ENAMETOOLONG, "ENAMETOOLONG"},
		{ENOSYS, "ENOSYS"},
		{ENOTEMPTY, "ENOTEMPTY"},
		{ENODATA, "ENODATA"},
		{EOPNOTSUPP, "EOPNOTSUPP"},
		{ECONNREFUSED, "ECONNREFUSED"},
		{EPROTO, "EPROTO"},
		{EADDRINUSE, "EADDRINUSE"},
		{ENETUNREACH, "ENETUNREACH"},
		{ESTALE, "ESTALE"},
		{EADDRNOTAVAIL, "EADDRNOTAVAIL"},
		{EOVERFLOW, "EOVERFLOW"},
	};
	static char other[16];
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == code)
			return names[i].name;
	snprintf(other, sizeof other, "errno%d", code);
	return other;
}

socklen_t probe_address(const char *a, struct sockaddr_storage *ret)
{
	struct sockaddr_un *local = (struct sockaddr_un *)ret;
	struct sockaddr_in *inet = (struct sockaddr_in *)ret;
	const char *port = getenv("PROBE_PORT");

	memset(ret, 0, sizeof *ret);
	if (strchr(a, '/')) {
		local->sun_family = AF_UNIX;
		strncpy(local->sun_path, a, sizeof local->sun_path - 1);
		return sizeof *local;
	}
	inet->sin_family = AF_INET;
	inet->sin_port = htons((uint16_t)(port ? atoi(port) : 0));
	inet_pton(AF_INET, a, &inet->sin_addr);
	return sizeof *inet;
}

int probe_socket(const char *a, int dgram)
{
	return socket(strchr(a, '/') ? AF_UNIX : AF_INET,
		(dgram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
}

static const struct probe *find(const struct probe *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

/* The row and how to make it; NULL when there is no such call in this build. */
static const struct probe *lookup(const char *call, char how[8])
{
	const char *colon = strchr(call, ':');

	if (!colon || colon - call > 6)
		return find(probe_functions, call);
	memcpy(how, call, (size_t)(colon - call));
	how[colon - call] = 0;
	return find(probe_syscalls, colon + 1);
}

/* In a child: exec may take the process away, and a killed child is an answer as well. */
static void answer(
	const char *call, const char *a, const char *b, char *result, size_t size)
{
	char how[8] = "";
	const struct probe *probe = lookup(call, how);
	int ends[2], status, code = -1;
	ssize_t got;
	pid_t child;

	if (!probe || pipe2(ends, O_CLOEXEC) < 0) {
		snprintf(result, size, "no-such-call");
		return;
	}
	fflush(NULL);
	child = fork();
	if (child == 0) {
		long value;

		close(ends[0]);
		errno = 0;
		value = probe->run ? probe->run(a, b) : probe_syscall(probe, how, a, b);
		code = value >= 0 ? 0 : probe_barred ? probe_barred : errno;
		_exit(write(ends[1], &code, sizeof code) == sizeof code ? 0 : 99);
	}
	close(ends[1]);
	got = read(ends[0], &code, sizeof code);
	close(ends[0]);
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		snprintf(result, size, "signal%d", WTERMSIG(status));
	else if (got == sizeof code && code)
		snprintf(result, size, "%s", errno_name(code));
	else if (got != sizeof code && WEXITSTATUS(status))
		snprintf(result, size, "exit%d", WEXITSTATUS(status));
	else
		snprintf(result, size, "ok");
}

static int batch(void)
{
	char line[9000], call[64], a[4096], b[4096], result[64];

	while (fgets(line, sizeof line, stdin)) {
		a[0] = b[0] = 0;
		if (sscanf(line, "%63s %4095s %4095s", call, a, b) < 1)
			continue;
		answer(call, a, b, result, sizeof result);
		printf("%s %s\n", call, result);
	}
	return 0;
}

static void each(
	void (*visit)(const char *call, const struct probe *, void *), void *data)
{
	const struct probe *probe;
	char call[64];
	size_t i;

	for (i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		for (probe = i ? probe_syscalls : probe_functions; probe->name;
			probe++) {
			/* A 64-bit process has no 32-bit vectors and messages at hand. */
			if (!strcmp(prefixes[i], "int80:") &&
				(probe->nr_i386 < 0 || strlen(probe->spec) > 5 ||
					strpbrk(probe->spec, "QMNT")))
				continue;
			snprintf(call, sizeof call, "%s%s", prefixes[i], probe->name);
			visit(call, probe, data);
		}
}

static void print_row(const char *call, const struct probe *probe, void *data)
{
	(void)data;
	printf("%s %s %s\n", call, kinds[probe->kind], probe->action);
}

static void copy_program(const char *path)
{
	char buffer[65536];
	ssize_t got;
	int in = open("/bin/true", O_RDONLY | O_CLOEXEC);
	int out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	while ((got = read(in, buffer, sizeof buffer)) > 0)
		if (write(out, buffer, (size_t)got) != got)
			abort();
	close(in);
	close(out);
}

static void prepare(const char *call, const struct probe *probe, void *data)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/%s", (const char *)data, call);
	switch (probe->kind) {
	case KIND_FILE:
	case KIND_PAIR:
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (write(fd, "abc\n", 4) != 4)
			abort();
		if (strstr(call, "xattr") && !strstr(call, "set"))
			fsetxattr(fd, "user.probe", "old", 3, 0);
		close(fd);
		break;
	case KIND_DIR:
		mkdir(path, 0755);
		break;
	case KIND_LINK:
		if (symlink("target", path) < 0)
			abort();
		break;
	case KIND_PROGRAM:
	case KIND_OPENED:
		copy_program(path);
		break;
	default:
		break;
	}
}

struct folder {
	const char *path;
	struct pollfd listening[256];
	nfds_t count;
};

static void listen_here(const char *call, const struct probe *probe, void *data)
{
	struct folder *folder = data;
	struct sockaddr_storage address;
	char path[4096];
	int fd;

	if (probe->kind != KIND_STREAM && probe->kind != KIND_DGRAM)
		return;
	snprintf(path, sizeof path, "%s/%s", folder->path, call);
	fd = probe_socket(path, probe->kind == KIND_DGRAM);
	if (bind(fd, (struct sockaddr *)&address, probe_address(path, &address)) < 0)
		abort();
	if (probe->kind == KIND_STREAM)
		listen(fd, 64);
	folder->listening[folder->count++] =
		(struct pollfd){.fd = fd, .events = POLLIN};
}

/* Listen until killed; connections are accepted and dropped. */
static int serve(const char *portfile, char **folders)
{
	static struct folder all;
	struct sockaddr_in any = {.sin_family = AF_INET};
	socklen_t size = sizeof any;
	int stream = socket(AF_INET, SOCK_STREAM, 0),
	    dgram = socket(AF_INET, SOCK_DGRAM, 0);
	FILE *out;

	if (bind(stream, (struct sockaddr *)&any, size) < 0 || listen(stream, 64) < 0)
		return 1;
	getsockname(stream, (struct sockaddr *)&any, &size);
	bind(dgram, (struct sockaddr *)&any, size);
	all.listening[all.count++] = (struct pollfd){.fd = stream, .events = POLLIN};
	for (; *folders; folders++) {
		all.path = *folders;
		each(listen_here, &all);
	}
	out = fopen(portfile, "w");
	fprintf(out, "%d\n", ntohs(any.sin_port));
	fclose(out);
	while (poll(all.listening, all.count, -1) >= 0)
		for (nfds_t i = 0; i < all.count; i++)
			if (all.listening[i].revents) {
				char byte[16];
				int fd = accept(all.listening[i].fd, NULL, NULL);

				if (fd >= 0)
					close(fd);
				else if (recv(all.listening[i].fd, byte, sizeof byte,
						 MSG_DONTWAIT) < 0)
					continue;
			}
	return 0;
}

int main(int argc, char **argv)
{
	char result[64];

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "--list"))
		return each(print_row, NULL), 0;
	if (!strcmp(argv[1], "--batch"))
		return batch();
	if (argc > 2 && !strcmp(argv[1], "--prepare"))
		return each(prepare, argv[2]), 0;
	if (argc > 3 && !strcmp(argv[1], "--serve"))
		return serve(argv[2], argv + 3);
	answer(argv[1], argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "", result,
		sizeof result);
	puts(result);
	return strcmp(result, "ok") != 0;
}
