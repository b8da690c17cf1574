/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_map.h - the session's memory in this process: control page, policy and gate.
 *
 * The gate lies at one address in every process, low in memory. Where the program has
 * something there, before us or later, we step aside: page and policy are then
 * elsewhere, nothing goes through the gate, and the kernel layer sees every call.
 * Everything here is async-signal-safe.
 */
#ifndef AW_PRELOAD_LINUX_SESSION_MAP_H
#define AW_PRELOAD_LINUX_SESSION_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/shared/page.h"

/* Use the functions below. */
extern const struct aw_page *_Atomic aw_session_page;
extern _Atomic bool aw_gate_mapped;
extern char __libc_single_threaded __attribute__((weak));

/* mmap(2), NULL when it fails. */
void *aw_map(void *at, size_t size, int prot, int flags, int fd, long offset);

/*
 * Map control page and image, and the gate where it belongs, if there may be one; the
 * descriptor stays open.  size is what the supervisor says it is, 0 when it has not
 * said so.
 */
bool aw_session_map(int fd, size_t size, bool gated);

void aw_session_step_aside(uintptr_t begin, uintptr_t end);

/* What lies below is the gate's and nobody else's of us. */
#define AW_LOW_END (AW_GATE_ADDRESS - AW_GATE_OFFSET + AW_AROUND_GATE)

/*
 * The program is about to map, bar or take away this memory.  When some of it is the
 * gate's, that is given up first, so that the call finds what it would find without us.
 */
static inline void aw_session_make_room(const void *at, size_t size)
{
	uintptr_t begin = (uintptr_t)at, end = begin + size;

	if (__builtin_expect(begin && begin < AW_LOW_END, 0))
		aw_session_step_aside(begin, end < begin ? UINTPTR_MAX : end);
}

/* The session's control page, or NULL outside a session. */
static inline const struct aw_page *aw_session(void)
{
	return atomic_load_explicit(&aw_session_page, memory_order_acquire);
}

/* How to work just now: what goes through the gate needs one that is ours. */
static inline enum aw_work aw_work(void)
{
	const struct aw_page *page = aw_session();
	enum aw_work work;

	if (!page)
		return AW_WORK_NONE;
	work = (enum aw_work)atomic_load_explicit(&page->work, memory_order_relaxed);
	if ((work == AW_WORK_FAST || work == AW_WORK_READS) &&
		!atomic_load_explicit(&aw_gate_mapped, memory_order_relaxed))
		return AW_WORK_KERNEL;
	return work;
}

/*
 * Around everything that uses the gate, where aw_work() is asked within: who gives it
 * up waits for those.  A place for each of some threads, so that they do not share one.
 */
#define AW_PASSERS 16
struct aw_passers {
	_Alignas(64) _Atomic uint32_t count;
};
extern struct aw_passers aw_passers[AW_PASSERS];
extern __thread int aw_vfork_count __attribute__((tls_model("initial-exec")));

static inline _Atomic uint32_t *aw_gate_enter(void)
{
	_Atomic uint32_t *count;

	if (&__libc_single_threaded && __libc_single_threaded)
		return NULL;
	count = &aw_passers[(uintptr_t)&aw_vfork_count >> 12 & (AW_PASSERS - 1)].count;
	atomic_fetch_add(count, 1);
	return count;
}

static inline void aw_gate_leave(_Atomic uint32_t *count)
{
	if (count)
		atomic_fetch_sub_explicit(count, 1, memory_order_release);
}

#endif
