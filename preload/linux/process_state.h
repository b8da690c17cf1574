/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_state.h - what the shim knows of the process it is in.
 *
 * One private page per process that the kernel wipes in a forked child
 * (madvise(2), MADV_WIPEONFORK): a wiped page means "say hello first".  No descriptor
 * is kept.  Everything here is async-signal-safe; nothing allocates or takes a lock.
 */
#ifndef AW_PRELOAD_LINUX_PROCESS_STATE_H
#define AW_PRELOAD_LINUX_PROCESS_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/image/image.h"
#include "policy/shared/page.h"
#include "policy/shared/ring.h"
#include "preload/linux/session_map.h"

#define AW_EXPORT __attribute__((visibility("default")))
#define AW_PATH_MAX 4096

/* Room to build one record in; claimed for the length of one decision. */
struct aw_scratch {
	char path[AW_PATH_MAX], path2[AW_PATH_MAX];
	char base[AW_PATH_MAX];
};

#define AW_SCRATCHES 16
#define AW_PROVEN 128 /* a power of two */

struct aw_self {
	_Atomic uint32_t state; /* enum aw_self_state; WIPED in a forked child */
	int32_t pid;
	struct aw_ring *_Atomic ring;
	_Atomic uint32_t scratch_used;	/* a bit each */
	_Atomic uintptr_t readable[16]; /* pages that could be read before */
	/* Working directory: even sequence numbers are stable. */
	_Atomic uint32_t cwd_sequence;
	uint32_t cwd_generation;
	uint32_t cwd_len; /* 0: not known */
	char cwd[1024];
	_Atomic uint64_t proven[AW_PROVEN]; /* preload/linux/verified_paths.h */
};

enum aw_self_state { AW_SELF_WIPED, AW_SELF_BUSY, AW_SELF_READY, AW_SELF_UNWATCHED };

/* The library's few variables; use the functions below. */
extern struct aw_self *_Atomic aw_self_page;
extern __thread int aw_vfork_count __attribute__((tls_model("initial-exec")));

struct aw_self *aw_self_slowly(void);

/*
 * The process's state when it is watched, else NULL.  Says hello when that has not
 * happened in this process.
 */
static inline struct aw_self *aw_self(void)
{
	struct aw_self *self =
		atomic_load_explicit(&aw_self_page, memory_order_acquire);

	if (__builtin_expect(self != NULL, 1) &&
		__builtin_expect(atomic_load_explicit(&self->state,
					 memory_order_acquire) == AW_SELF_READY,
			1) &&
		__builtin_expect(
			!atomic_load_explicit(
				&atomic_load_explicit(&self->ring, memory_order_relaxed)
					 ->retired,
				memory_order_relaxed),
			1))
		return self;
	return aw_self_slowly();
}

/* As above, but never says hello: NULL in a forked child that has not done so. */
static inline struct aw_self *aw_self_if_ready(void)
{
	struct aw_self *self =
		atomic_load_explicit(&aw_self_page, memory_order_acquire);

	return self && atomic_load_explicit(&self->state, memory_order_acquire) ==
				       AW_SELF_READY
		       ? self
		       : NULL;
}

/* The policy; valid while aw_session() is not NULL. */
const struct aw_image *aw_policy(void);

/* The ring of the process that we were forked from, or our own; NULL before any hello. */
struct aw_ring *aw_ring_inherited(void);

/*
 * The profiles that we are in, as hello has told.  They come with a program and not
 * with a fork, so a child that has not said hello yet is in its parent's.
 */
static inline uint32_t aw_profiles(void)
{
	const struct aw_ring *ring = aw_ring_inherited();

	return ring ? ring->profiles : 0;
}

/* True in a vfork child, which shares our memory but is not us. */
static inline bool aw_is_vfork_child(void)
{
	return aw_vfork_count != 0;
}

/* Claim and give back room to build in; NULL when all is taken. */
struct aw_scratch *aw_scratch_claim(struct aw_self *self);
void aw_scratch_release(struct aw_self *self, struct aw_scratch *scratch);

bool aw_readable_slowly(struct aw_self *self, const void *address);

/* True when the byte at address can be read without a fault (rt_sigprocmask(2) trick). */
static inline bool aw_readable(struct aw_self *self, const void *address)
{
	uintptr_t page = (uintptr_t)address >> 12;

	return (page && atomic_load_explicit(&self->readable[page & 15],
				memory_order_relaxed) == page) ||
	       aw_readable_slowly(self, address);
}

/* Memory has been unmapped or barred: what was readable may be so no more. */
void aw_readable_forget(void);

/* A vector of strings up to its NULL (or none at all) and their first bytes can be
 * read. */
bool aw_vector_readable(char *const *vector);

/*
 * Length of a string of at most max - 1 bytes, or -1 when it is longer or cannot be
 * read.
 */
long aw_string_length(struct aw_self *self, const char *text, size_t max);

/* Copy the working directory; its length, or 0 when it has no name. */
size_t aw_cwd(struct aw_self *self, char *to, size_t size);

/* The working directory has changed. */
void aw_cwd_forget(void);

/*
 * True once the program, or a parent of it, has installed a filter of its own; self may
 * be NULL.
 */
bool aw_has_own_filter(const struct aw_self *self);

/* Nanoseconds of CLOCK_REALTIME. */
uint64_t aw_now(void);

/* The C library's errno of this thread. */
int *aw_errno(void);

/* errno and -1 for a kernel answer that is an error. */
long aw_answer(long kernel);

/* After a put: wake the drainer when the ring fills up. */
void aw_ring_pushed(const struct aw_ring *ring);

/* The ring is full: wait a moment for room. False: there is still none. */
bool aw_ring_wait(struct aw_ring *ring);

#endif
