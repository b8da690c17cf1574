/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - questions that wait, threads that ask, and answers that are kept. */
#include "supervisor/net/resolve.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <utlist.h>

#include "supervisor/hash.h"
#include "supervisor/net/resolve_ask.h"

enum { KEY = 8 + AW_DNS_NAME, IDLE_SECONDS = 3, WAITERS_MAX = 4096 };

struct waiter {
	void *ctx;
	struct waiter *next;
};

/* One question: waited for, or answered and kept. */
struct question {
	char key[KEY]; /* type and name */
	unsigned type;
	const char *name;	/* in key */
	struct waiter *waiters; /* owned */
	struct aw_resolved *answer;
	struct question *next, *prev; /* in a list of the resolver's */
	UT_hash_handle hh;
};

struct aw_resolver {
	pthread_mutex_t lock;
	pthread_cond_t more;
	void (*done)(void *ctx, struct aw_resolved *answer);
	struct question *all;	/* waited for and kept; owned */
	struct question *queue; /* nobody asks for them yet */
	struct question *kept;	/* the oldest first */
	size_t pending, kept_count, kept_bytes, waiters;
	unsigned threads, idle, users;
	bool stop;
};

static int64_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

void aw_resolved_release(struct aw_resolved *answer)
{
	if (answer && atomic_fetch_sub(&answer->users, 1) == 1)
		free(answer);
}

/* With the lock held. */
static void drop_kept(struct aw_resolver *r, struct question *q)
{
	DL_DELETE(r->kept, q);
	HASH_DEL(r->all, q);
	r->kept_count--;
	r->kept_bytes -= q->answer->len;
	aw_resolved_release(q->answer);
	free(q);
}

static void free_all(struct aw_resolver *r)
{
	struct question *q, *next;

	HASH_ITER(hh, r->all, q, next)
	{
		HASH_DEL(r->all, q);
		while (q->waiters) {
			struct waiter *w = q->waiters;

			q->waiters = w->next;
			free(w);
		}
		aw_resolved_release(q->answer);
		free(q);
	}
	pthread_cond_destroy(&r->more);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void leave(struct aw_resolver *r)
{
	bool last;

	pthread_mutex_lock(&r->lock);
	last = --r->users == 0;
	pthread_mutex_unlock(&r->lock);
	if (last)
		free_all(r);
}

int aw_resolver_start(void (*done)(void *ctx, struct aw_resolved *answer),
	struct aw_resolver **ret, struct aw_error *err)
{
	struct aw_resolver *r = calloc(1, sizeof(*r));
	pthread_condattr_t clock;

	if (!r)
		return aw_fail(err, ENOMEM, "starting to look names up");
	r->done = done;
	r->users = 1;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&r->more, &clock);
	pthread_condattr_destroy(&clock);
	*ret = r;
	return 0;
}

/* With the lock held: what an answer has told all who waited. */
static void tell(struct aw_resolver *r, struct question *q, struct aw_resolved *answer)
{
	while (q->waiters) {
		struct waiter *w = q->waiters;

		q->waiters = w->next;
		r->waiters--;
		if (!r->stop) {
			atomic_fetch_add(&answer->users, 1);
			r->done(w->ctx, answer);
		}
		free(w);
	}
}

/* With the lock held: it is kept as long as it says, or goes. */
static void keep(struct aw_resolver *r, struct question *q, struct aw_resolved *answer)
{
	r->pending--;
	if (!answer->ttl || r->stop) {
		HASH_DEL(r->all, q);
		free(q);
		aw_resolved_release(answer);
		return;
	}
	q->answer = answer;
	DL_APPEND(r->kept, q);
	r->kept_count++;
	r->kept_bytes += answer->len;
	while (r->kept_count > AW_RESOLVE_KEPT || r->kept_bytes > AW_RESOLVE_BYTES)
		drop_kept(r, r->kept);
}

/* With the lock held; false: nothing has come for a while, or it is over. */
static bool wait_for_work(struct aw_resolver *r)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_SECONDS;
	r->idle++;
	while (!r->queue && !r->stop && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&r->more, &r->lock, &until);
	r->idle--;
	return r->queue && !r->stop;
}

/* One for all, which nobody frees. */
static struct aw_resolved *no_answer(void)
{
	static struct aw_resolved none = {.users = 1};

	atomic_fetch_add(&none.users, 1);
	return &none;
}

static void *work(void *arg)
{
	struct aw_resolver *r = arg;
	struct aw_asking *asking = aw_asking_new();

	pthread_mutex_lock(&r->lock);
	while (wait_for_work(r)) {
		struct question *q = r->queue;
		struct aw_resolved *answer;

		DL_DELETE(r->queue, q);
		pthread_mutex_unlock(&r->lock);
		answer = asking ? aw_asking_ask(asking, q->name, q->type) : NULL;
		if (answer)
			answer->made = seconds();
		else
			answer = no_answer();
		pthread_mutex_lock(&r->lock);
		tell(r, q, answer);
		keep(r, q, answer);
	}
	r->threads--;
	pthread_mutex_unlock(&r->lock);
	aw_asking_free(asking);
	leave(r);
	return NULL;
}

/* With the lock held: one more thread when all are busy. */
static void call_for_work(struct aw_resolver *r)
{
	pthread_attr_t detached;
	pthread_t thread;
	size_t queued;
	struct question *q;

	DL_COUNT(r->queue, q, queued);
	pthread_cond_signal(&r->more);
	if (r->idle >= queued || r->threads >= AW_RESOLVE_THREADS)
		return;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&detached, 512 * 1024);
	r->users++;
	r->threads++;
	if (pthread_create(&thread, &detached, work, r) == 0) {
		pthread_setname_np(thread, "aw-resolve");
	} else {
		r->users--;
		r->threads--;
	}
	pthread_attr_destroy(&detached);
}

/* With the lock held: the question, kept or waited for; a new one is queued. */
static struct question *need_question(
	struct aw_resolver *r, const char *name, unsigned type)
{
	struct question *q = NULL;
	char key[KEY];
	int at = snprintf(key, sizeof(key), "%u ", type);

	snprintf(key + at, sizeof(key) - (size_t)at, "%s", name);
	HASH_FIND_STR(r->all, key, q);
	if (q && q->answer && seconds() - q->answer->made >= q->answer->ttl) {
		drop_kept(r, q);
		q = NULL;
	}
	if (q || r->pending >= AW_RESOLVE_PENDING)
		return q;
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	memcpy(q->key, key, sizeof(key));
	q->name = q->key + at;
	q->type = type;
	HASH_ADD_STR(r->all, key, q);
	if (!q->hh.tbl) {
		free(q);
		return NULL;
	}
	DL_APPEND(r->queue, q);
	r->pending++;
	call_for_work(r);
	return q;
}

static int await(struct aw_resolver *r, struct question *q, void *ctx)
{
	struct waiter *w = r->waiters < WAITERS_MAX ? malloc(sizeof(*w)) : NULL;

	if (!w)
		return -1;
	w->ctx = ctx;
	LL_PREPEND(q->waiters, w);
	r->waiters++;
	return 0;
}

int aw_resolve(struct aw_resolver *r, const char *name, unsigned type, void *ctx,
	struct aw_resolved **ret)
{
	struct question *q;
	int result = -1;

	pthread_mutex_lock(&r->lock);
	q = r->stop ? NULL : need_question(r, name, type);
	if (q && q->answer) {
		*ret = q->answer;
		atomic_fetch_add(&q->answer->users, 1);
		result = 1;
	} else if (q) {
		result = await(r, q, ctx);
	}
	pthread_mutex_unlock(&r->lock);
	return result;
}

void aw_resolver_stop(struct aw_resolver *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->more);
	pthread_mutex_unlock(&r->lock);
	leave(r);
}
