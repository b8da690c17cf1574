/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - what the load says of itself, in memory that outlives each of its
 * processes.
 *
 * A kind is a name below the load's folder (or a port), so that the log can be counted
 * by it.  Who makes a call counts it in `begun` before and in `done` behind it: both
 * are the same for whoever was not killed in between.
 */
#ifndef AW_TESTS_SOAK_TALLY_H
#define AW_TESTS_SOAK_TALLY_H

#include <stdatomic.h>
#include <stdint.h>

/* id | name | what is counted */
#define SOAK_KINDS(X)                                                                  \
	X(OPEN, "k-open")	     /* the library's way */                           \
	X(RAW, "k-raw")		     /* a system call that no library sees */          \
	X(DENIED, "k-denied")	     /* the policy refuses it */                       \
	X(FLIP, "k-flip")	     /* refused after every other reload */            \
	X(MADE, "k-made")	     /* created, renamed and deleted again */          \
	X(MOVED, "k-moved")	     /* the name in between */                         \
	X(FORKED, "k-forked")	     /* by a child that has executed nothing */        \
	X(THREAD, "k-thread")	     /* by threads */                                  \
	X(LEAF, "k-leaf")	     /* by a program of its own, dynamic */            \
	X(STATIC, "k-static")	     /* and static */                                  \
	X(VICTIM, "k-victim")	     /* by one that is killed meanwhile */             \
	X(RUN, "soak-load")	     /* starts of the dynamic program */               \
	X(RUN_STATIC, "soak-static") /* and of the static one */                       \
	X(UNIX, "k-socket")	     /* connections to a Unix socket */                \
	X(TCP, "port")		     /* to a port */                                   \
	X(TCP_DENIED, "port+1")	     /* to one that the policy refuses */              \
	X(SEEN, "seen")		     /* processes that were killed behind a call */    \
	X(KILLS, "kills")	     /* processes that were killed */                  \
	X(PROCESSES, "processes")    /* that the load has started */

enum soak_kind {
#define X(id, name) SOAK_##id,
	SOAK_KINDS(X)
#undef X
		SOAK_KIND_COUNT
};

static const char *const soak_names[] = {
#define X(id, name) name,
	SOAK_KINDS(X)
#undef X
};

struct soak_tally {
	_Atomic uint64_t begun[SOAK_KIND_COUNT], done[SOAK_KIND_COUNT];
};

#endif
