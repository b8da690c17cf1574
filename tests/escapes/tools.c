/* SPDX-License-Identifier: Apache-2.0 */
/* tools.c - what attempts are made of: raw calls, reading, changing, children */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e,
			  r9 __asm__("r9") = f;
	long rc;

	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return rc;
}

long raw_at(const void *code, long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e,
			  r9 __asm__("r9") = f;
	long rc;

	/* the call must not write into a red zone */
	__asm__ volatile("sub $128, %%rsp\n\tcall *%[code]\n\tadd $128, %%rsp"
			 : "=a"(rc)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			 "r"(r9), [code] "b"(code)
			 : "rcx", "r11", "memory", "cc");
	return rc;
}

long raw_int80(long nr, long a, long b, long c, long d, long e)
{
	long rc;

	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "r8", "r9", "r10", "r11", "memory");
	return (int)rc;
}

void *low(const void *bytes, size_t size)
{
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (copy == MAP_FAILED)
		return NULL;
	return memcpy(copy, bytes, size);
}

int result(long rc)
{
	return rc < 0 ? errno : 0;
}

int take(struct target *t, int fd)
{
	ssize_t got;
	int why;

	if (fd < 0)
		return errno;
	got = read(fd, t->got, sizeof t->got - 1);
	why = errno;
	close(fd);
	if (got < 0)
		return why;
	t->got[got] = 0;
	t->got[strcspn(t->got, "\n")] = 0;
	return got == 0 ? ENODATA : 0;
}

int take_path(struct target *t, const char *path)
{
	return take(t, open(path, O_RDONLY | O_CLOEXEC));
}

int poke(int fd)
{
	int rc;

	if (fd < 0)
		return errno;
	rc = result(write(fd, "changed\n", 8));
	close(fd);
	return rc;
}

int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), rc;

	if (fd < 0)
		return errno;
	rc = result(write(fd, text, strlen(text)));
	close(fd);
	return rc;
}

int child_result(pid_t child)
{
	int status;

	if (child < 0)
		return errno;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int connect_to(const void *address, socklen_t size, int type)
{
	int fd = socket(
		((const struct sockaddr *)address)->sa_family, type | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return errno;
	rc = result(connect(fd, address, size));
	if (rc == 0 && type == SOCK_DGRAM)
		rc = result(send(fd, "hello\n", 6, 0));
	close(fd);
	return rc;
}

socklen_t unix_address(const char *name, bool abstract, struct sockaddr_un *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->sun_family = AF_UNIX;
	snprintf(ret->sun_path + abstract, sizeof ret->sun_path - abstract, "%s", name);
	return offsetof(struct sockaddr_un, sun_path) + strlen(name) + 1;
}

/* A child of our own, with the same things to be had as the process outside. */
static char secret[64];

int own_victim(struct target *t)
{
	struct target copy = *t;
	int ready[2], fd;
	char byte;

	if (take_path(&copy, t->read) != 0 || pipe(ready) < 0)
		return errno;
	fd = open(t->read, O_RDONLY);
	t->pid = fork();
	if (t->pid == 0) {
		memcpy(secret, copy.got, sizeof secret - 1);
		dup2(fd, t->fd);
		if (write(ready[1], "!", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	t->memory = (unsigned long)secret;
	close(fd);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return ECHILD;
	close(ready[0]);
	return t->pid > 0 ? 0 : errno;
}

const char *errno_name(int code)
{
#define NAME(n)                                                                        \
	{                                                                              \
		n, #n                                                                  \
	}
	static const struct {
		int code;
		const char *name;
	} names[] = {NAME(EPERM), NAME(ENOENT), NAME(ESRCH), NAME(EINTR), NAME(EIO),
		NAME(ENXIO), NAME(E2BIG), NAME(ENOEXEC), NAME(EBADF), NAME(ECHILD),
		NAME(EAGAIN), NAME(ENOMEM), NAME(EACCES), NAME(EFAULT), NAME(EBUSY),
		NAME(EEXIST), NAME(EXDEV), NAME(ENODEV), NAME(ENOTDIR), NAME(EISDIR),
		NAME(EINVAL), NAME(EMFILE), NAME(ENOTTY), NAME(ETXTBSY), NAME(ENOSPC),
		NAME(EROFS), NAME(EMLINK), NAME(EPIPE), NAME(ENAMETOOLONG),
		NAME(ENOSYS), NAME(ENOTEMPTY), NAME(ELOOP), NAME(ENODATA),
		NAME(EOPNOTSUPP), NAME(EAFNOSUPPORT), NAME(EADDRINUSE),
		NAME(EADDRNOTAVAIL), NAME(ENETUNREACH), NAME(ECONNREFUSED),
		NAME(ETIMEDOUT), NAME(ESTALE), NAME(EOVERFLOW), NAME(EPROTONOSUPPORT),
		NAME(ESOCKTNOSUPPORT), NAME(EPROTOTYPE), NAME(EDESTADDRREQ),
		NAME(EISCONN), NAME(ENOTCONN), NAME(EHOSTUNREACH), NAME(ENOTSOCK),
		NAME(ENOPROTOOPT), NAME(ELIBBAD), NAME(ESPIPE), NAME(EINPROGRESS),
		NAME(ECONNRESET)};
#undef NAME
	static char number[16];
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == code)
			return names[i].name;
	snprintf(number, sizeof number, "%d", code);
	return number;
}
