/* SPDX-License-Identifier: Apache-2.0 */
/*
 * approval_queue.h - calls that wait for a human, all of them with one thread.
 *
 * A slow human must not hold up anybody else, so a call that asks is put aside and the
 * thread that had it goes on.  One more thread looks after all that wait: whether they
 * are still there, whether a signal wants to be handled, and when there is an answer it
 * has the call judged and carried out once more from the start.
 */
#ifndef AW_SUPERVISOR_APPROVAL_APPROVAL_QUEUE_H
#define AW_SUPERVISOR_APPROVAL_APPROVAL_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/error.h"
#include "supervisor/approval/questions.h"

struct aw_watch;
struct aw_approval_queue;
struct aw_waiter;

enum aw_waiter_state { AW_WAITS, AW_WAITER_DEAD, AW_WAITER_INTERRUPTED };

/* What an engine does for its calls; all are called by the asker's thread alone. */
struct aw_waiter_kind {
	void (*prepare)(void); /* once, at the start of the thread; or NULL */
	enum aw_waiter_state (*look)(struct aw_waiter *waiter);
	/* Answer it with EINTR, as a signal would. */
	void (*interrupt)(struct aw_waiter *waiter);
	/* Judge again, and answer or let it wait again. */
	void (*resume)(struct aw_waiter *waiter);
	void (*free)(struct aw_waiter *waiter);
};

/* The first member of the engine's own struct. */
struct aw_waiter {
	const struct aw_waiter_kind *kind;
	uint64_t question;
	uint64_t cookie;
	struct aw_waiter *next; /* the asker's */
};

/* One for the session; its thread begins with the first call that waits. */
int aw_approval_queue_create(
	struct aw_watch *watch, struct aw_approval_queue **ret, struct aw_error *err);

/* Take a call over; false: it could not be, and is still the caller's. */
bool aw_approval_queue_add(struct aw_approval_queue *queue, struct aw_waiter *waiter);

/* Another policy holds: all are judged again. */
void aw_approval_queue_look_again(struct aw_approval_queue *queue);

/* No call is taken or answered any more; NULL is fine. */
void aw_approval_queue_stop(struct aw_approval_queue *queue);

/* When nobody is left who could add a call; NULL is fine. */
void aw_approval_queue_free(struct aw_approval_queue *queue);

/*
 * How a question was answered, as members of its log line: "answer", "answered_by",
 * "waited_ms" and "question".
 */
void aw_answer_members(const struct aw_answered *answered, char *text, size_t size);

#endif
