/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_memory.c - calls that nobody watches but that the shim has to know of: memory
 * that goes away (a path in it must give EFAULT, not a crash of ours), memory where the
 * gate is, and filters.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "preload/gate.h"
#include "preload/linux/arch.h"

AW_EXPORT void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	long ret;

	aw_session_make_room(at, size);
	ret = aw_raw(__NR_mmap, at, size, prot, flags, fd, offset);
	if (flags & MAP_FIXED)
		aw_readable_forget();
	return (void *)aw_answer(ret);
}

AW_EXPORT int munmap(void *at, size_t size)
{
	long ret;

	aw_session_make_room(at, size);
	ret = aw_raw(__NR_munmap, at, size);
	aw_readable_forget();
	return (int)aw_answer(ret);
}

AW_EXPORT int mprotect(void *at, size_t size, int prot)
{
	long ret;

	aw_session_make_room(at, size);
	ret = aw_raw(__NR_mprotect, at, size, prot);
	if (!(prot & PROT_READ))
		aw_readable_forget();
	return (int)aw_answer(ret);
}

AW_EXPORT void *mremap(void *at, size_t size, size_t to, int flags, ...)
{
	void *where = NULL;
	va_list args;
	long ret;

	va_start(args, flags);
	if (flags & (MREMAP_FIXED | 4 /* MREMAP_DONTUNMAP */))
		where = va_arg(args, void *);
	va_end(args);
	aw_session_make_room(at, size ? size : 1);
	aw_session_make_room(where, to);
	ret = aw_raw(__NR_mremap, at, size, to, flags, where);
	aw_readable_forget();
	return (void *)aw_answer(ret);
}

AW_EXPORT int prctl(int option, ...)
{
	va_list args;
	long a[4];

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	aw_note_filter(
		option == PR_SET_SECCOMP && (a[0] == SECCOMP_MODE_STRICT || a[1]));
	return (int)aw_answer(aw_raw(__NR_prctl, option, a[0], a[1], a[2], a[3]));
}

AW_SAME(mmap64, mmap);
