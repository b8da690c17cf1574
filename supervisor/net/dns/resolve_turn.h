/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_turn.h - which question a thread asks next, and how many one may ask. */
#ifndef AW_SUPERVISOR_NET_DNS_RESOLVE_TURN_H
#define AW_SUPERVISOR_NET_DNS_RESOLVE_TURN_H

#include <pthread.h>
#include <stdbool.h>

#include <utlist.h>

#include "supervisor/net/dns/resolve.h"
#include "supervisor/util/hash.h"

enum { AW_RESOLVE_KEY = 8 + AW_DNS_NAME };

struct aw_dns_waiter {
	void *ctx;
	pid_t asker;
	struct aw_dns_waiter *next;
};

/* One question: waited for, or answered and kept. */
struct aw_resolve_question {
	char key[AW_RESOLVE_KEY]; /* type and name */
	unsigned type;
	const char *name;   /* in key */
	pid_t asker;	    /* whose share it is part of */
	const char *domain; /* in key: its last two labels, a share of their own */
	size_t domain_hash;
	bool begun;		       /* a thread is asking */
	struct aw_dns_waiter *waiters; /* owned */
	struct aw_resolved *answer;
	struct aw_resolve_question *next, *prev; /* in a list of the resolver's */
	UT_hash_handle hh;
};

struct aw_resolver {
	pthread_mutex_t lock;
	pthread_cond_t more;
	void (*done)(void *ctx, struct aw_resolved *answer);
	struct aw_resolve_question *all;   /* waited for and kept; owned */
	struct aw_resolve_question *queue; /* nobody asks for them yet */
	struct aw_resolve_question *busy;  /* a thread is asking */
	struct aw_resolve_question *kept;  /* the oldest first */
	size_t pending, kept_count, kept_bytes, waiters;
	unsigned threads, idle, users;
	bool stop;
};

/* All with the resolver's lock held. */

/*
 * May a thread ask this for that one?  Servers may be slow for as long as somebody
 * likes: some threads are always left for other processes, and some for other domains,
 * whose servers are others.
 */
bool aw_resolve_may_begin(const struct aw_resolver *resolver,
	const struct aw_resolve_question *question, pid_t asker);

/*
 * The oldest question of which one who waits for it has room left, and whose share it
 * is part of then; NULL: none.  Who asks what another has asked already does not wait
 * for that one's turn.
 */
struct aw_resolve_question *aw_resolve_next(struct aw_resolver *resolver);

/* One more question that waits, and leaves room for those of others? */
bool aw_resolve_has_room(const struct aw_resolver *resolver, pid_t asker);

/* The last two labels of a name. */
const char *aw_resolve_domain(const char *name);

#endif
