/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_file.c - compound file functions of libc.
 *
 * fopen and opendir are an open and a coat around the descriptor, so under FAST we open
 * through the gate and have libc put its coat on.  The rest is libc's own; their system
 * calls are seen by the kernel layer, or judged here in the preload engine.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/gate.h"
#include "preload/linux/arch.h"
#include "preload/linux/symbol.h"

extern FILE *fdopen(int, const char *) __attribute__((weak));
extern DIR *fdopendir(int) __attribute__((weak));

/* open(2) flags of an fopen mode of the plain kind; -1 for all that is libc's business. */
static int flags_of(const char *mode)
{
	int flags;

	if (*mode == 'r')
		flags = O_RDONLY;
	else if (*mode == 'w')
		flags = O_WRONLY | O_CREAT | O_TRUNC;
	else if (*mode == 'a')
		flags = O_WRONLY | O_CREAT | O_APPEND;
	else
		return -1;
	for (mode++; *mode; mode++) {
		if (*mode == '+')
			flags = (flags & ~O_ACCMODE) | O_RDWR;
		else if (*mode == 'e')
			flags |= O_CLOEXEC;
		else if (*mode == 'x')
			flags |= O_EXCL;
		else if (*mode != 'b')
			return -1;
	}
	return flags;
}

/*
 * Whether a mode can be looked at; with a kernel layer it is left alone under a filter
 * of the program's own and in a child that has not said hello yet. Without one it must
 * be.
 */
static bool readable_text(const char *text)
{
	bool alone = aw_work() == AW_WORK_PRELOAD;
	struct aw_self *self = alone ? aw_self() : aw_self_if_ready();

	return self && aw_work() != AW_WORK_KERNEL &&
	       (alone || !aw_has_own_filter(self)) &&
	       aw_string_length(self, text, 64) > 0;
}

/* What is judged: as much as libc may make of a mode, all when that is not known. */
static int most_of(const char *mode, bool readable)
{
	int flags = O_RDONLY;

	if (!readable)
		return O_RDWR | O_CREAT;
	if (*mode == 'w')
		flags = O_WRONLY | O_CREAT | O_TRUNC;
	else if (*mode == 'a')
		flags = O_WRONLY | O_CREAT | O_APPEND;
	for (; *mode && *mode != ','; mode++)
		if (*mode == '+')
			flags = (flags & ~O_ACCMODE) | O_RDWR;
	return flags;
}

AW_EXPORT FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *);
	struct aw_passage passage;
	FILE *ret;
	bool readable = readable_text(mode);
	struct aw_before before;
	int flags = readable ? flags_of(mode) : -1;

	/* fdopen(3) does not seek; a stream that appends starts at the end */
	if (fdopen && flags >= 0 && *mode != 'a') {
		long fd = aw_fast_open(AW_FN_fopen, AT_FDCWD, path, flags, 0666);

		if (fd != AW_PASS) {
			if (fd < 0)
				return aw_answer(fd), NULL;
			ret = fdopen((int)fd, mode);
			if (!ret)
				aw_raw(__NR_close, fd);
			return ret;
		}
	}
	const long a[6] = {AT_FDCWD, (long)path, most_of(mode, readable)};

	if (!aw_enter(AW_FN_fopen, AW_SYS_openat, a, &passage))
		return NULL;
	*(void **)&real = aw_real(AW_FN_fopen);
	before = aw_before();
	do
		ret = real(path, mode);
	while (!ret && aw_open_again(before, AT_FDCWD, path));
	aw_made_again(!ret, before);
	aw_leave(&passage, !ret);
	return ret;
}

AW_EXPORT FILE *freopen(const char *path, const char *mode, FILE *stream)
{
	FILE *(*real)(const char *, const char *, FILE *);
	const long a[6] = {AT_FDCWD, (long)path, most_of(mode, readable_text(mode))};
	struct aw_passage passage = {.denied = 0};
	FILE *ret;

	if (path && !aw_enter(AW_FN_freopen, AW_SYS_openat, a, &passage)) {
		int (*close_stream)(FILE *), saved = *aw_errno();

		*(void **)&close_stream = aw_find("fclose");
		close_stream(stream); /* as freopen(3) does when the open fails */
		*aw_errno() = saved;
		return NULL;
	}
	*(void **)&real = aw_real(AW_FN_freopen);
	ret = real(path, mode, stream);
	aw_leave(&passage, !ret);
	return ret;
}

AW_EXPORT DIR *opendir(const char *path)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC;
	const long a[6] = {AT_FDCWD, (long)path, flags};
	DIR *(*real)(const char *);
	struct aw_passage passage;
	struct aw_before before;
	DIR *ret;

	if (fdopendir) {
		long fd = aw_fast_open(AW_FN_opendir, AT_FDCWD, path, flags, 0);

		if (fd != AW_PASS) {
			if (fd < 0)
				return aw_answer(fd), NULL;
			ret = fdopendir((int)fd);
			if (!ret)
				aw_raw(__NR_close, fd);
			return ret;
		}
	}
	if (!aw_enter(AW_FN_opendir, AW_SYS_openat, a, &passage))
		return NULL;
	*(void **)&real = aw_real(AW_FN_opendir);
	before = aw_before();
	do
		ret = real(path);
	while (!ret && aw_open_again(before, AT_FDCWD, path));
	aw_made_again(!ret, before);
	aw_leave(&passage, !ret);
	return ret;
}

AW_EXPORT int remove(const char *path)
{
	if (unlink(path) == 0)
		return 0;
	return *aw_errno() == EISDIR ? rmdir(path) : -1;
}

AW_EXPORT FILE *tmpfile(void)
{
	const long a[6] = {AT_FDCWD, (long)P_tmpdir, O_RDWR | O_TMPFILE, 0600};
	struct aw_passage passage;
	FILE *(*real)(void);
	FILE *ret;

	if (!aw_enter(AW_FN_tmpfile, AW_SYS_openat, a, &passage))
		return NULL;
	*(void **)&real = aw_real(AW_FN_tmpfile);
	ret = real();
	aw_leave(&passage, !ret);
	return ret;
}

/* The name is only known afterwards; the pattern is what can be judged before. */
#define MAKE_TEMP(name, params, args, sys, flags)                                      \
	AW_EXPORT int name params                                                      \
	{                                                                              \
		const long a[6] = {AT_FDCWD, (long)pattern, flags, 0600};              \
		struct aw_passage passage;                                             \
		int(*real) params;                                                     \
		int ret;                                                               \
                                                                                       \
		if (!aw_enter(AW_FN_##name, sys, a, &passage))                         \
			return -1;                                                     \
		*(void **)&real = aw_real(AW_FN_##name);                               \
		ret = real args;                                                       \
		aw_leave(&passage, ret == -1);                                         \
		return ret;                                                            \
	}

#define NEW_FILE (O_RDWR | O_CREAT | O_EXCL)
MAKE_TEMP(mkstemp, (char *pattern), (pattern), AW_SYS_openat, NEW_FILE)
MAKE_TEMP(mkostemp, (char *pattern, int how), (pattern, how), AW_SYS_openat, NEW_FILE)
MAKE_TEMP(mkstemps, (char *pattern, int tail), (pattern, tail), AW_SYS_openat, NEW_FILE)
MAKE_TEMP(mkostemps, (char *pattern, int tail, int how), (pattern, tail, how),
	AW_SYS_openat, NEW_FILE)

AW_EXPORT char *mkdtemp(char *pattern)
{
	const long a[6] = {AT_FDCWD, (long)pattern, 0700};
	struct aw_passage passage;
	char *(*real)(char *);
	char *ret;

	if (!aw_enter(AW_FN_mkdtemp, AW_SYS_mkdirat, a, &passage))
		return NULL;
	*(void **)&real = aw_real(AW_FN_mkdtemp);
	ret = real(pattern);
	aw_leave(&passage, !ret);
	return ret;
}

AW_SAME(fopen64, fopen);
AW_SAME(freopen64, freopen);
AW_SAME(tmpfile64, tmpfile);
AW_SAME(mkstemp64, mkstemp);
AW_SAME(mkostemp64, mkostemp);
AW_SAME(mkstemps64, mkstemps);
AW_SAME(mkostemps64, mkostemps);
