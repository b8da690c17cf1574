/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.c - the wrappers that the table makes: ask the gate, pass the call on unchanged.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>
#include <utime.h>

#include "preload/gate.h"
#include "preload/linux/arch.h"
#include "preload/linux/symbol.h"

#define A(pointer) ((long)(pointer))
#define AW_ARGS(...)                                                                   \
	{                                                                              \
		__VA_ARGS__                                                            \
	}

/* A working directory that has changed must be read again by the fast path. */
static inline void after(int sys)
{
	if (sys == AW_SYS_chdir || sys == AW_SYS_fchdir || sys == AW_SYS_chroot)
		aw_cwd_forget();
}

/* This libc has no such function: its system call does the same. */
static long without_libc(int sys, const long a[6])
{
	if (aw_syscalls[sys].nr < 0)
		return aw_answer(-ENOSYS);
	return aw_answer(
		aw_raw6(aw_syscalls[sys].nr, a[0], a[1], a[2], a[3], a[4], a[5]));
}

#define AW_FN(ret, name, params, args, sys, sysargs)                                   \
	AW_EXPORT ret name params                                                      \
	{                                                                              \
		const long a[6] = AW_ARGS sysargs;                                     \
		ret(*real) params;                                                     \
		struct aw_passage passage;                                             \
		ret result;                                                            \
		const struct aw_before before = aw_before();                           \
                                                                                       \
		if (!aw_enter(AW_FN_##name, AW_SYS_##sys, a, &passage))                \
			return -1;                                                     \
		*(void **)&real = aw_real(AW_FN_##name);                               \
		do                                                                     \
			result =                                                       \
				real ? real args : (ret)without_libc(AW_SYS_##sys, a); \
		while (result == -1 && aw_interrupted(before));                        \
		aw_made_again(result == -1, before);                                   \
		aw_leave(&passage, result == -1);                                      \
		after(AW_SYS_##sys);                                                   \
		return result;                                                         \
	}
#include "policy/calls.def"

/* --- opens: variadic, or of two kinds of arguments --- */

static int open_once(
	enum aw_call call, int dir, const char *path, int flags, mode_t mode)
{
	union {
		void *any;
		int (*open)(const char *, int, ...);
		int (*openat)(int, const char *, int, ...);
		int (*creat)(const char *, mode_t);
		int (*open_2)(const char *, int);
		int (*openat_2)(int, const char *, int);
	} real = {aw_real(call)};

	if (!real.any) /* musl has no fortified ones */
		return (int)aw_answer(aw_raw(__NR_openat, dir, path, flags, mode));
	switch (call) {
	case AW_FN_open:
		return real.open(path, flags, mode);
	case AW_FN_openat:
		return real.openat(dir, path, flags, mode);
	case AW_FN_creat:
		return real.creat(path, mode);
	case AW_FN___open_2:
		return real.open_2(path, flags);
	default:
		return real.openat_2(dir, path, flags);
	}
}

/* Without us nobody interrupts the open of a file or directory, there or not. */
bool aw_open_again(struct aw_before before, int dir, const char *path)
{
	struct stat st;
	long ret;

	if (!aw_interrupted(before))
		return false;
	ret = aw_raw(__NR_newfstatat, dir, path, &st, 0);
	return ret == -ENOENT ||
	       (ret == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)));
}

static int real_open(
	enum aw_call call, int dir, const char *path, int flags, mode_t mode)
{
	const struct aw_before before = aw_before();
	int ret;

	do
		ret = open_once(call, dir, path, flags, mode);
	while (ret == -1 && aw_open_again(before, dir, path));
	aw_made_again(ret == -1, before);
	return ret;
}

static int open_with(
	enum aw_call call, int dir, const char *path, int flags, mode_t mode)
{
	const long a[6] = {dir, A(path), flags, mode};
	long fd = aw_fast_open(call, dir, path, flags, mode);
	struct aw_passage passage;
	int ret;

	if (fd != AW_PASS)
		return (int)aw_answer(fd);
	if (!aw_enter(call, AW_SYS_openat, a, &passage))
		return -1;
	ret = real_open(call, dir, path, flags, mode);
	aw_leave(&passage, ret == -1);
	return ret;
}

static bool makes_file(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

AW_EXPORT int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = makes_file(flags) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return open_with(AW_FN_open, AT_FDCWD, path, flags, mode);
}

AW_EXPORT int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = makes_file(flags) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return open_with(AW_FN_openat, dir, path, flags, mode);
}

AW_EXPORT int creat(const char *path, mode_t mode)
{
	return open_with(
		AW_FN_creat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* glibc ends a program that wants to create a file without a mode: its own has to. */
AW_EXPORT int __open_2(const char *path, int flags)
{
	return makes_file(flags) ? real_open(AW_FN___open_2, AT_FDCWD, path, flags, 0)
				 : open_with(AW_FN___open_2, AT_FDCWD, path, flags, 0);
}

AW_EXPORT int __openat_2(int dir, const char *path, int flags)
{
	return makes_file(flags) ? real_open(AW_FN___openat_2, dir, path, flags, 0)
				 : open_with(AW_FN___openat_2, dir, path, flags, 0);
}

AW_SAME(open64, open);
AW_SAME(__open, open);
AW_SAME(__open64, open);
AW_SAME(openat64, openat);
AW_SAME(creat64, creat);
AW_SAME(__open64_2, __open_2);
AW_SAME(__openat64_2, __openat_2);
AW_SAME(truncate64, truncate);
AW_SAME(stat64, stat);
AW_SAME(lstat64, lstat);
AW_SAME(fstatat64, fstatat);
AW_SAME(__xstat64, __xstat);
AW_SAME(__lxstat64, __lxstat);
AW_SAME(__fxstatat64, __fxstatat);
