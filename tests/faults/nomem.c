/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nomem.c - preloaded into agentwatch: no memory from the N-th allocation on.
 *
 * NOMEM=N:MANY:FILE; MANY allocations fail, 0: all from there on.  FILE, which is there
 * and holds eight bytes, gets the number of allocations in all of agentwatch's
 * processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static _Atomic long *counter;
static long from, many;

static bool fails(void)
{
	long now;

	if (!counter)
		return false;
	now = atomic_fetch_add(counter, 1) + 1;
	if (!from || now < from || (many && now >= from + many))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

__attribute__((constructor)) static void begin(void)
{
	const char *told = getenv("NOMEM");
	char name[16] = "", *rest;
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	void *file;

	if (fd < 0 || read(fd, name, sizeof(name)) < 0 || !told ||
		strncmp(name, "agentwatch\n", 11) != 0)
		return;
	close(fd);
	from = strtol(told, &rest, 10);
	many = strtol(rest + 1, &rest, 10);
	fd = open(rest + 1, O_RDWR | O_CLOEXEC);
	file = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (file != MAP_FAILED)
		counter = file;
}
