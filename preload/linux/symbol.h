/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - the real function behind a wrapper.
 *
 * Looks in the loader's link map behind this library, as dlsym(RTLD_NEXT) would, but
 * with no lock and no allocation, so that it works in signal handlers, in vfork
 * children and in the child of a threaded fork (gABI "Symbol Table", GNU hash:
 * binutils' ld documentation).
 */
#ifndef AW_PRELOAD_LINUX_SYMBOL_H
#define AW_PRELOAD_LINUX_SYMBOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/calls.h"

enum aw_owner { AW_OWNER_UNKNOWN, AW_OWNER_LIBC, AW_OWNER_OTHER };

/* What has been found so far; use the functions below. */
extern _Atomic(void *) aw_reals[AW_CALL_COUNT];
extern _Atomic unsigned char aw_owners[AW_CALL_COUNT];

void *aw_real_slowly(enum aw_call call);

/* The next definition of a function of calls.def, or NULL when there is none. */
static inline void *aw_real(enum aw_call call)
{
	void *real = atomic_load_explicit(&aw_reals[call], memory_order_acquire);

	return __builtin_expect(real != NULL, 1) ? real : aw_real_slowly(call);
}

/* True when that definition is libc's own, so that we may make its call ourselves. */
static inline bool aw_real_is_libc(enum aw_call call)
{
	return aw_real(call) && atomic_load_explicit(&aw_owners[call],
					memory_order_relaxed) == AW_OWNER_LIBC;
}

/* The next definition of any name, uncached. */
void *aw_find(const char *name);

/*
 * The C library's own function, whatever stands in front of it: for what we call
 * ourselves, which must not come back to us by way of another library.
 */
void *aw_find_in_libc(const char *name);

#endif
