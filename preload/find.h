/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.h - the real function behind a wrapper.
 *
 * Looks in the loader's link map behind this library, as dlsym(RTLD_NEXT) would, but with
 * no lock and no allocation, so that it works in signal handlers, in vfork children and in
 * the child of a threaded fork (gABI "Symbol Table", GNU hash: binutils' ld documentation).
 */
#ifndef AW_PRELOAD_FIND_H
#define AW_PRELOAD_FIND_H

#include <stdbool.h>

#include "policy/calls.h"

/* The next definition of a function of calls.def, or NULL when there is none. */
void *aw_real(enum aw_call call);

/* True when that definition is libc's own, so that we may make its call ourselves. */
bool aw_real_is_libc(enum aw_call call);

/* The next definition of any name, uncached. */
void *aw_find(const char *name);

#endif
