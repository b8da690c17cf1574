/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.h - what a session asks a human, and what was answered.
 *
 * A call whose verdict is `ask` opens a question, or joins the one that is open for the
 * same rule and subject: the same path, argument vector or address, to be read or to be
 * changed.  Whoever waits comes back with its cookie once the question is answered.  A
 * question ends when all have been told, when its deadline is over, or when nobody has
 * waited for it for a moment: a call that a signal interrupts is mostly made again, and
 * finds its question, and its answer, still there.
 *
 * "Once" is for the calls that waited, and for the file that they waited for; "session"
 * is remembered until the end.  A no to an exec is one for AW_QUESTION_NO_MS to the
 * same process and command line, whatever directory the program is in: shells try the
 * next one. Nothing here does I/O but for one eventfd; all functions may be called by
 * any thread.
 */
#ifndef AW_SUPERVISOR_APPROVAL_QUESTIONS_H
#define AW_SUPERVISOR_APPROVAL_QUESTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/error.h"
#include "supervisor/approval/copy.h"

enum {
	AW_QUESTIONS_MAX = 64,	      /* open ones of a session */
	AW_APPROVAL_QUEUE_MAX = 256,  /* calls that wait for them */
	AW_QUESTION_LINGER_MS = 1000, /* without anybody waiting */
	AW_QUESTION_NO_MS = 5000,     /* a no to a process's command */
	AW_ASK_DEADLINE_S = 120	      /* where no file says another */
};

enum aw_answer_state { AW_ANSWER_OPEN, AW_ANSWER_YES, AW_ANSWER_NO };

/* Why it was answered so. */
enum aw_answer_how {
	AW_HOW_ONCE,
	AW_HOW_SESSION,
	AW_HOW_ALWAYS,
	AW_HOW_DEADLINE,   /* nobody said anything in time */
	AW_HOW_LIMIT,	   /* too many questions are open */
	AW_HOW_GONE,	   /* nobody waits for it any more */
	AW_HOW_WOULD_FAIL, /* what it is about is not there: the call fails anyway */
};

/* One call; all borrowed. */
struct aw_asked {
	const struct aw_event *event;
	uint64_t device, inode; /* of the file; 0: nothing is there, or it is none */
	pid_t tid;
	uint64_t cookie; /* of this very call: no other one has it */
};

struct aw_answered {
	enum aw_answer_state state;
	enum aw_answer_how how;
	uint64_t id;   /* 0: remembered, there was no question */
	bool by_human; /* uid says who */
	uid_t uid;
	uint64_t waited_ms; /* from the question to the answer */
};

struct aw_questions;

/* deadline in seconds; 0: AW_ASK_DEADLINE_S. */
int aw_questions_create(
	uint64_t deadline, struct aw_questions **ret, struct aw_error *err);
void aw_questions_free(struct aw_questions *questions);

/* For questions that are still to come. */
void aw_questions_set_deadline(struct aw_questions *questions, uint64_t deadline);

/*
 * The answer for a call, or AW_ANSWER_OPEN: it waits now, and whoever lets it wait
 * calls this again when aw_questions_state() says something else.  Asking again for the
 * same call gives the same answer until aw_questions_leave().
 */
void aw_questions_ask(struct aw_questions *questions, const struct aw_asked *asked,
	struct aw_answered *ret);

/* How a call stops waiting. */
enum aw_leaving {
	AW_LEFT_SERVED,	     /* it has its answer, or needs none */
	AW_LEFT_INTERRUPTED, /* by a signal: it may come again, and finds its answer */
	AW_LEFT_DEAD,
};
/*
 * keep: the question that it waits for now, or 0.  Then only other open ones are left:
 * a call may need several answers, and those that it has still count.
 */
void aw_questions_leave(struct aw_questions *questions, uint64_t cookie,
	enum aw_leaving how, uint64_t keep);

/* Nobody comes back to any that is open: all of these end as those of the dead do. */
void aw_questions_end(struct aw_questions *questions);

/* AW_ANSWER_NO for one that is not known any more. */
enum aw_answer_state aw_questions_state(struct aw_questions *questions, uint64_t id);

/* Answer an open question; remembered where how says so. */
int aw_questions_answer(struct aw_questions *questions, uint64_t id, bool yes,
	enum aw_answer_how how, uid_t uid, struct aw_error *err);

/* What others may see of an open question. */
struct aw_question {
	uint64_t id;
	const struct aw_event *event;
	uint64_t age_ms, left_ms;
	size_t waiting; /* calls */
};

/*
 * Visit the open questions with an id above after, oldest first, until each returns
 * false.  The table is locked meanwhile.
 */
void aw_questions_visit(struct aw_questions *questions, uint64_t after,
	bool (*each)(void *ctx, const struct aw_question *question), void *ctx);

size_t aw_questions_open(struct aw_questions *questions);

/* There is no question, open or answered, that the clock could end. */
bool aw_questions_idle(struct aw_questions *questions);

/* Becomes readable when a question was opened. */
int aw_questions_fd(const struct aw_questions *questions);

/*
 * Look at the clock; what has ended without a human is told one by one: how it ended,
 * and the event, owned by the caller.  False: no more.
 */
bool aw_questions_next_end(struct aw_questions *questions, struct aw_answered *ret,
	struct aw_event_copy **ret_event);

/* Wait until a question is answered or aw_questions_wake(), ms at most (-1: for ever). */
void aw_questions_wait(struct aw_questions *questions, int ms);
void aw_questions_wake(struct aw_questions *questions);

/* "once", "session", "deadline", ... */
const char *aw_answer_how_name(enum aw_answer_how how);

#endif
