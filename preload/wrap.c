/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.c - the wrappers that the table makes: ask the gate, pass the call on unchanged.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>
#include <utime.h>

#include "preload/arch.h"
#include "preload/gate.h"
#include "preload/find.h"

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
                                                                                       \
		if (!aw_enter(AW_FN_##name, AW_SYS_##sys, a, &passage))                \
			return -1;                                                     \
		*(void **)&real = aw_real(AW_FN_##name);                               \
		result = real ? real args : (ret)without_libc(AW_SYS_##sys, a);        \
		aw_leave(&passage, result == -1);                                      \
		after(AW_SYS_##sys);                                                   \
		return result;                                                         \
	}
#include "policy/calls.def"

/* --- variadic opens --- */

static int open_with(
	enum aw_call call, int dir, const char *path, int flags, mode_t mode)
{
	const long a[6] = {dir, A(path), flags, mode};
	struct aw_passage passage;
	int ret;

	long fd = aw_fast_open(call, dir, path, flags, mode);

	if (fd != AW_PASS)
		return (int)aw_answer(fd);
	if (!aw_enter(call, AW_SYS_openat, a, &passage))
		return -1;
	if (call == AW_FN_open) {
		int (*real)(const char *, int, ...);

		*(void **)&real = aw_real(AW_FN_open);
		ret = real(path, flags, mode);
	} else {
		int (*real)(int, const char *, int, ...);

		*(void **)&real = aw_real(AW_FN_openat);
		ret = real(dir, path, flags, mode);
	}
	aw_leave(&passage, ret == -1);
	return ret;
}

static mode_t mode_argument(int flags, va_list args)
{
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		return va_arg(args, mode_t);
	return 0;
}

AW_EXPORT int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_argument(flags, args);
	va_end(args);
	return open_with(AW_FN_open, AT_FDCWD, path, flags, mode);
}

AW_EXPORT int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_argument(flags, args);
	va_end(args);
	return open_with(AW_FN_openat, dir, path, flags, mode);
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
