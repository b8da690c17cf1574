/* SPDX-License-Identifier: Apache-2.0 */
/* early.c - a library of the program's own: opens in its constructor, and wraps open */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int wrapped, constructed;

/* What somebody else's preload does: passes on to the next one, with a change of its
 * own. */
int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	va_list list;
	int mode;

	va_start(list, flags);
	mode = va_arg(list, int);
	va_end(list);
	wrapped++;
	if (!strcmp(path, "/redirected/by/early"))
		path = "/dev/null";
	return next(path, flags, mode);
}

__attribute__((constructor)) static void early(void)
{
	int fd = open("/etc/hostname", O_RDONLY | O_CLOEXEC);

	constructed = fd >= 0;
	close(fd);
}

__attribute__((destructor)) static void late(void)
{
	fprintf(stderr, "early: constructed %d, wrapped %d\n", constructed, wrapped);
}
