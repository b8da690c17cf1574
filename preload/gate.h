/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - one door for every watched call.
 *
 * Rules for all of preload/: no malloc, no stdio, no lock held across a call, errno
 * untouched when a call is allowed, no flag that means "allow", no descriptor kept,
 * nothing read from a pointer of the program's that might fault.  Only names of
 * calls.def leave the library.  Our own system calls are raw, so a signal handler may
 * come in at any point.
 *
 * What a wrapper does depends on aw_work():
 *   FAST     opens go through aw_fast_open(); everything else is libc's own call, which the
 *            kernel layer sees
 *   READS    the same, for opens that change nothing
 *   KERNEL   libc's own call
 *   PRELOAD  opens go through aw_fast_open() where the path is what it looks like; for the
 *            rest aw_enter() judges and logs, then libc's own call, aw_leave() adds the result
 */
#ifndef AW_PRELOAD_GATE_H
#define AW_PRELOAD_GATE_H

#include <stdbool.h>

#include "policy/calls.h"
#include "policy/shared/ring.h"
#include "preload/linux/process_state.h"

/* A second name for a wrapper of this file, whatever types a header gives it. */
#define AW_SAME(name, of) __asm__(".globl " #name "\n.set " #name ", " #of "\n")

/* aw_fast_open() did not do it: make libc's call. */
#define AW_PASS (-100000L)

/*
 * Decide, log and open, through the gate page where there is a filter.  Returns a
 * descriptor, a negative errno, or AW_PASS.  call is the function's id, for the log.
 */
long aw_fast_open(
	enum aw_call call, int dir, const char *path, int flags, unsigned mode);

/* One judged call on its way. */
struct aw_passage {
	struct aw_ticket ticket;
	int denied; /* errno to fail with; 0: go on */
};

/*
 * PRELOAD only (a no-op otherwise): judge and log a call.  sys is its row, args its six
 * system call arguments.  False: refused, errno is set.
 */
bool aw_enter_slow(
	enum aw_call call, int sys, const long args[6], struct aw_passage *ret);

static inline bool aw_enter(
	enum aw_call call, int sys, const long args[6], struct aw_passage *ret)
{
	ret->ticket.ring = NULL;
	if (__builtin_expect(aw_work() != AW_WORK_PRELOAD, 1))
		return true;
	return aw_enter_slow(call, sys, args, ret);
}

/* The call is back; failed true takes its errno. */
static inline void aw_leave(const struct aw_passage *passage, bool failed)
{
	if (passage->ticket.ring)
		aw_ring_result(&passage->ticket, AW_REC_DONE,
			failed ? (unsigned)*aw_errno() : 0);
}

/* PRELOAD: an exec with its vector goes over the socket.  False: refused, errno is set. */
bool aw_enter_exec(
	enum aw_call call, int dir, const char *path, int how, char *const *argv);

/* What was so before a call that may have to be made again. */
struct aw_before {
	int error;	      /* errno */
	uint32_t interrupted; /* of the session's page */
};

static inline struct aw_before aw_before(void)
{
	const struct aw_page *page = aw_session();

	return (struct aw_before){.error = *aw_errno(),
		.interrupted = page ? atomic_load_explicit(
					      &page->interrupted, memory_order_relaxed)
				    : 0};
}

/*
 * A call that has just failed was interrupted before the kernel layer took it: nothing
 * has been done, and a call that cannot be interrupted without us is made again.  A
 * signal that ends the wait for a human's answer is the program's to handle: such a
 * call fails, so that Ctrl-C reaches programs whose handlers run between calls.
 */
static inline bool aw_interrupted(struct aw_before before)
{
	enum aw_work work;

	if (__builtin_expect(*aw_errno() != 4 /* EINTR */, 1))
		return false;
	work = aw_work();
	return work != AW_WORK_PRELOAD && work != AW_WORK_NONE &&
	       aw_before().interrupted == before.interrupted;
}

/* The same for an open: the file is of a kind that nobody waits for. */
bool aw_open_again(struct aw_before before, int dir, const char *path);

/* Such a call has been made again, and has not failed: errno is as it was before. */
static inline void aw_made_again(bool failed, struct aw_before before)
{
	if (!failed && *aw_errno() == 4 /* EINTR */)
		*aw_errno() = before.error;
}

/* The errno of a refused call. */
int aw_refusal(enum aw_verdict verdict);

/* PRELOAD: the program is about to install a filter of its own. */
void aw_note_filter(bool now);

/*
 * A name is looked up; logged in every engine that has a ring.  False: refused.  When
 * it is back, aw_leave_lookup() adds the result, and in audit the addresses, by which a
 * later connection gets its name in the log.
 */
bool aw_enter_lookup(enum aw_call call, const char *host, const char *service,
	struct aw_passage *ret);

struct addrinfo;
struct hostent;

/* What it gave; NULL: it failed. */
void aw_leave_lookup(enum aw_call call, const struct aw_passage *passage,
	const char *host, const struct addrinfo *list);
void aw_leave_host(enum aw_call call, const struct aw_passage *passage,
	const char *host, const struct hostent *found);

#endif
