/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory for learning a policy, which is there or ends the command.
 *
 * By then the watched command has ended and nothing else depends on this process, so a
 * machine without memory is told in one sentence instead of in every caller.
 */
#ifndef AW_SUPERVISOR_LEARN_MEMORY_H
#define AW_SUPERVISOR_LEARN_MEMORY_H

#include <stddef.h>

/* Zeroed; never NULL.  Owned by the caller, as are the others. */
void *aw_learn_new(size_t size);
void *aw_learn_grow(void *memory, size_t size);
char *aw_learn_copy(const char *text, size_t len);
char *aw_learn_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Ends the command. */
void aw_learn_no_memory(void) __attribute__((noreturn));

#endif
