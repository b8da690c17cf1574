/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch.h - what a reload has replaced, kept until nobody can be reading it.
 *
 * A thread that reads watch->image or watch->shared is inside from before it takes the
 * pointer until it has done with everything that it leads to.  There are two doors, and
 * new readers use the one that is open.  What has been replaced is released once those
 * that came in by the other door are gone, after the doors have changed places: whoever
 * comes in later finds the new pointer (the idea is that of sleepable RCU, by Paul
 * McKenney).  Nobody waits for anybody: a reader that stays, since its call waits for
 * something, only keeps what has been replaced for as long.
 */
#ifndef AW_SUPERVISOR_SESSION_EPOCH_H
#define AW_SUPERVISOR_SESSION_EPOCH_H

#include <stdatomic.h>
#include <stdint.h>

struct aw_policy;
struct aw_shared;

struct aw_epoch {
	_Atomic uint32_t open; /* the door for new readers: 0 or 1 */
	_Atomic uint32_t inside[2];
};

/* Any thread; what enter returns is for leave.  May be nested. */
unsigned aw_epoch_enter(struct aw_epoch *readers);
void aw_epoch_leave(struct aw_epoch *readers, unsigned door);

/* What waits for its readers.  One thread alone, that which replaces, uses it. */
struct aw_epoch_garbage {
	struct aw_epoch_garbage_one
		*coming; /* owned: replaced since the doors changed */
	struct aw_epoch_garbage_one *going; /* owned: replaced before that */
};

/*
 * Both have been replaced; shared (malloc'd, may be NULL) and what policy holds are
 * owned from now on.  Without memory they are kept for good.
 */
void aw_epoch_retire(struct aw_epoch_garbage *retired, struct aw_shared *shared,
	const struct aw_policy *policy);

/* Release what nobody reads any more. */
void aw_epoch_collect(struct aw_epoch_garbage *retired, struct aw_epoch *readers);

#endif
