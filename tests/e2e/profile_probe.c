/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_probe.c - one step after the other, an argument each; what each gave is a
 * line.
 *
 *   in:NAME          nothing: for the profile's rule to see
 *   read=PATH        open for reading
 *   gate=PATH        the same by a system call made where the shim's gate would be
 *   net=PORT         connect to that port of this machine
 *   exec PROGRAM...  become that program, with the rest as its arguments
 *   thread PROGRAM...  the same by another thread, while this one opens files
 *   fail=PATH        try to become that file, with "in:files" as its argument
 *   vfail=PATH       the same in a vfork child
 *   orphan           go on in a grandchild whose parents have made no call and ended
 *   vm=PID, fd=PID   read the memory of a process, take its descriptor 0
 *   mem=PID          open its memory as a file
 *   pipe=PID         open what its descriptor 0 is
 *   wait=PATH        wait until that is there
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/shared/page.h"

static void say(const char *what, long result)
{
	printf("%s %s\n", what, result < 0 ? strerrorname_np(errno) : "ok");
	fflush(stdout);
}

static long read_it(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd;
}

/* Hostile code can bring its own gate: the filter looks at the address alone. */
static long read_by_gate(const char *path)
{
#ifdef __x86_64__
	static const unsigned char code[] = {0x0f, 0x05, 0xc3}; /* syscall; ret */
	register long flags __asm__("r10") = 0;
	void *gate =
		mmap((void *)AW_GATE_ADDRESS, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	long fd;

	if (gate == MAP_FAILED)
		return -1;
	memcpy(gate, code, sizeof(code));
	__asm__ volatile("call *%1"
			 : "=a"(fd)
			 : "r"(gate), "a"((long)SYS_openat), "D"((long)AT_FDCWD),
			 "S"(path), "d"((long)O_RDONLY), "r"(flags)
			 : "rcx", "r11", "memory");
	if (fd >= 0)
		close((int)fd);
	else
		errno = (int)-fd;
	return fd < 0 ? -1 : fd;
#else
	return read_it(path);
#endif
}

static long speak(const char *port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long result = connect(fd, (struct sockaddr *)&to, sizeof(to));
	int saved = errno;

	close(fd);
	errno = saved;
	return result;
}

static long become(char *path)
{
	char *const argv[] = {path, (char *)"in:files", NULL};
	char *const env[] = {NULL};

	return syscall(SYS_execve, path, argv, env);
}

static long become_in_child(char *path)
{
	pid_t child = vfork();

	if (child == 0) {
		become(path);
		_exit(1);
	}
	return waitpid(child, NULL, 0);
}

static void *become_in_thread(void *argv)
{
	usleep(2000);
	execv(((char **)argv)[0], argv);
	exit(1);
}

static void exec_by_thread(char **argv)
{
	pthread_t thread;

	pthread_create(&thread, NULL, become_in_thread, argv);
	for (;;) /* each open is a call of a program that is about to be replaced */
		read_it("/etc/passwd");
}

/* No call that is watched until the next step. */
static void orphan(void)
{
	int done[2];
	char byte;

	if (pipe(done) < 0)
		exit(1);
	if (fork()) {
		close(done[1]);
		if (read(done[0], &byte, 1) < 0)
			exit(1);
		exit(0);
	}
	close(done[0]);
	if (fork())
		_exit(0);
	while (getppid() == getpgrp() || usleep(20000) < 0)
		;
}

static long read_memory(pid_t pid)
{
	char byte, *there = (char *)0x1000;
	struct iovec here = {&byte, 1}, remote = {there, 1};
	long n = process_vm_readv(pid, &here, 1, &remote, 1, 0);

	/* nothing is there: who may look is told so */
	return n < 0 && errno == EFAULT ? 0 : n;
}

static long take_descriptor(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	return syscall(SYS_pidfd_getfd, pidfd, 0, 0);
}

static long open_memory(const char *pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd;
}

static long open_pipe(const char *pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/fd/0", pid);
	return read_it(path);
}

static void step(char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return;
	*value++ = '\0';
	if (!strcmp(word, "read"))
		say(word, read_it(value));
	else if (!strcmp(word, "gate"))
		say(word, read_by_gate(value));
	else if (!strcmp(word, "net"))
		say(word, speak(value));
	else if (!strcmp(word, "fail"))
		say(word, become(value));
	else if (!strcmp(word, "vfail"))
		say(word, become_in_child(value));
	else if (!strcmp(word, "vm"))
		say(word, read_memory(atoi(value)));
	else if (!strcmp(word, "fd"))
		say(word, take_descriptor(atoi(value)));
	else if (!strcmp(word, "mem"))
		say(word, open_memory(value));
	else if (!strcmp(word, "pipe"))
		say(word, open_pipe(value));
	while (!strcmp(word, "wait") && access(value, F_OK) < 0)
		usleep(5000);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "exec")) {
			execv(argv[i + 1], argv + i + 1);
			say(argv[i], -1);
		} else if (!strcmp(argv[i], "thread")) {
			exec_by_thread(argv + i + 1);
		} else if (!strcmp(argv[i], "orphan")) {
			orphan();
		} else {
			step(argv[i]);
		}
	}
	return 0;
}
