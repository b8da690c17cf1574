/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peek.c - the memory of a program that may not run, before its first instruction.
 *
 * An exec goes on in the kernel, so another path can be put there after the verdict.
 * The program is killed at its first watched call; a tracer has it stopped before that.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

extern char **environ;

enum { PEEK_WORDS, PEEK_VECTOR, PEEK_FILE };

static _Atomic uint64_t *word;
static uint64_t good, bad;
static atomic_bool stop;

static void *flipper(void *arg)
{
	while (!stop) {
		*word = bad;
		*word = good;
	}
	return arg;
}

/* Bytes of the child's memory; how many. */
static long read_memory(pid_t child, int how, unsigned long at, char *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)at, size};
	char path[64];
	long got;
	int fd;

	if (how == PEEK_VECTOR)
		return syscall(
			SYS_process_vm_readv, child, &here, 1UL, &there, 1UL, 0UL);
	if (how == PEEK_FILE) {
		snprintf(path, sizeof path, "/proc/%d/mem", child);
		fd = open(path, O_RDONLY);
		got = fd < 0 ? -1 : pread(fd, to, size, at);
		if (fd >= 0)
			close(fd);
		return got;
	}
	for (size_t i = 0; i < size; i += sizeof(long)) {
		errno = 0;
		got = ptrace(PTRACE_PEEKDATA, child, at + i, 0);
		if (errno)
			return -1;
		memcpy(to + i, &got, sizeof got);
	}
	return (long)size;
}

/* Is the text of the program there?  It goes to stdout. */
static bool look(struct target *t, pid_t child, int how)
{
	char path[64], line[700], wanted[128];
	static char bytes[65536];
	unsigned long from, to;
	bool found = false;
	FILE *maps;

	snprintf(
		wanted, sizeof wanted, "-%s:%s:", t->denied ? "deny" : "open", t->name);
	snprintf(path, sizeof path, "/proc/%d/maps", child);
	maps = fopen(path, "r");
	while (maps && !found && fgets(line, sizeof line, maps)) {
		long got;
		const char *hit;

		if (!strstr(line, " rw-p ") || !strstr(line, t->name) ||
			sscanf(line, "%lx-%lx", &from, &to) != 2 ||
			to - from > sizeof bytes)
			continue;
		got = read_memory(child, how, from, bytes, to - from);
		hit = got > 0 ? memmem(bytes, got, wanted, strlen(wanted)) : NULL;
		if (!hit || hit < bytes + 12)
			continue;
		snprintf(t->got, sizeof t->got, "%.60s", hit - 12);
		found = true;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* One exec under a tracer. */
static bool once(struct target *t, char *path, int how)
{
	char *argv[] = {path, NULL};
	bool found = false;
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raw(SYS_execve, (long)path, (long)argv, (long)environ, 0, 0, 0);
		_exit(1);
	}
	if (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
		found = look(t, child, how);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return found;
}

static int peek(struct target *t, int how)
{
	/* shared with the child, which would have a copy of its own */
	char *text = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t lead = strlen(t->root) + 3, more = (8 - lead % 8) % 8;
	int limit = t->denied ? tries / 10 + 50 : 20;
	bool found = false;
	pthread_t thread;

	if (text == MAP_FAILED)
		return EAGAIN;
	snprintf(text, 640, "%.*s%s/w/bin//////%s", (int)more, "////////", t->root,
		t->name);
	word = (_Atomic uint64_t *)(text + more + lead);
	memcpy(&good, "bin/////", 8);
	memcpy(&bad, t->denied ? "deny-bin" : "bin/.///", 8);
	stop = false;
	if (pthread_create(&thread, NULL, flipper, NULL) != 0)
		return EAGAIN;
	while (limit-- && !found)
		found = once(t, text, how);
	stop = true;
	pthread_join(thread, NULL);
	munmap(text, 4096);
	return found ? 0 : EACCES;
}

const struct attempt peek_table[] = {
	{"peek_words", "x", "the text of a program under ptrace, word by word", peek,
		PEEK_WORDS},
	{"peek_vector", "x", "the same by process_vm_readv", peek, PEEK_VECTOR},
	{"peek_file", "x", "the same by /proc/PID/mem", peek, PEEK_FILE},
	{0},
};
