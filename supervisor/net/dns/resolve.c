/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - questions that wait, threads that ask, and answers that are kept. */
#include "supervisor/net/dns/resolve.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "supervisor/net/dns/resolve_ask.h"
#include "supervisor/net/dns/resolve_turn.h"

enum { IDLE_SECONDS = 3, WAITERS_MAX = 4096 };

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
static void drop_kept(struct aw_resolver *r, struct aw_resolve_question *q)
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
	struct aw_resolve_question *q, *next;

	HASH_ITER(hh, r->all, q, next)
	{
		HASH_DEL(r->all, q);
		while (q->waiters) {
			struct aw_dns_waiter *w = q->waiters;

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
static void tell(struct aw_resolver *r, struct aw_resolve_question *q,
	struct aw_resolved *answer)
{
	while (q->waiters) {
		struct aw_dns_waiter *w = q->waiters;

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
static void keep(struct aw_resolver *r, struct aw_resolve_question *q,
	struct aw_resolved *answer)
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

/* With the lock held; NULL: nothing has come for a while, or it is over. */
static struct aw_resolve_question *wait_for_work(struct aw_resolver *r)
{
	struct aw_resolve_question *q = NULL;
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_SECONDS;
	r->idle++;
	while (!r->stop && !(q = aw_resolve_next(r)) && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&r->more, &r->lock, &until);
	r->idle--;
	return r->stop ? NULL : q;
}

static void call_for_work(struct aw_resolver *r);

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
	struct aw_dns_client *asking = aw_asking_new();

	struct aw_resolve_question *q;

	pthread_mutex_lock(&r->lock);
	while ((q = wait_for_work(r))) {
		struct aw_resolved *answer;

		DL_DELETE(r->queue, q);
		DL_APPEND(r->busy, q);
		q->begun = true;
		if (aw_resolve_next(r)) /* what has ended may have made room for two */
			call_for_work(r);
		pthread_mutex_unlock(&r->lock);
		answer = asking ? aw_asking_ask(asking, q->name, q->type) : NULL;
		if (answer)
			answer->made = seconds();
		else
			answer = no_answer();
		pthread_mutex_lock(&r->lock);
		DL_DELETE(r->busy, q);
		tell(r, q, answer);
		keep(r, q, answer);
	}
	r->threads--;
	pthread_mutex_unlock(&r->lock);
	aw_asking_free(asking);
	leave(r);
	return NULL;
}

/* With the lock held, something can be asked: one more thread when all are busy. */
static void call_for_work(struct aw_resolver *r)
{
	pthread_attr_t detached;
	pthread_t thread;

	if (r->idle) {
		pthread_cond_signal(&r->more);
		return;
	}
	if (r->threads >= AW_RESOLVE_THREADS)
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

/* --- questions --- */

/* With the lock held: the question, kept or waited for; NULL: it is a new one. */
static struct aw_resolve_question *find_question(struct aw_resolver *r, const char *key)
{
	struct aw_resolve_question *q = NULL;

	HASH_FIND_STR(r->all, key, q);
	if (q && q->answer && seconds() - q->answer->made >= q->answer->ttl) {
		drop_kept(r, q);
		q = NULL;
	}
	return q;
}

/* With the lock held: a new one, queued for this asker; NULL: too much is asked. */
static struct aw_resolve_question *add_question(
	struct aw_resolver *r, const char *key, size_t name_at, pid_t asker)
{
	struct aw_resolve_question *q =
		aw_resolve_has_room(r, asker) ? calloc(1, sizeof(*q)) : NULL;

	if (!q)
		return NULL;
	memcpy(q->key, key, sizeof(q->key));
	q->name = q->key + name_at;
	q->type = (unsigned)atoi(key);
	q->asker = asker;
	q->domain = aw_resolve_domain(q->name);
	for (const char *c = q->domain; *c; c++)
		q->domain_hash = q->domain_hash * 31 + (unsigned char)*c;
	HASH_ADD_STR(r->all, key, q);
	if (!q->hh.tbl) {
		free(q);
		return NULL;
	}
	DL_APPEND(r->queue, q);
	r->pending++;
	return q;
}

/* With the lock held: done(ctx) will follow, and the sooner of two askers counts. */
static void await(
	struct aw_resolver *r, struct aw_resolve_question *q, struct aw_dns_waiter *w)
{
	LL_PREPEND(q->waiters, w);
	r->waiters++;
	if (!q->begun && aw_resolve_may_begin(r, q, w->asker))
		call_for_work(r);
}

int aw_resolve(struct aw_resolver *r, const char *name, unsigned type, pid_t asker,
	void *ctx, struct aw_resolved **ret)
{
	struct aw_dns_waiter *w = malloc(sizeof(*w));
	struct aw_resolve_question *q = NULL;
	char key[AW_RESOLVE_KEY] = "";
	int at = snprintf(key, sizeof(key), "%u ", type), result = -1;

	snprintf(key + at, sizeof(key) - (size_t)at, "%s", name);
	pthread_mutex_lock(&r->lock);
	if (!r->stop)
		q = find_question(r, key);
	if (!q && !r->stop && w && r->waiters < WAITERS_MAX)
		q = add_question(r, key, (size_t)at, asker);
	if (q && q->answer) {
		*ret = q->answer;
		atomic_fetch_add(&q->answer->users, 1);
		result = 1;
	} else if (q && w && r->waiters < WAITERS_MAX) {
		*w = (struct aw_dns_waiter){.ctx = ctx, .asker = asker};
		await(r, q, w);
		w = NULL;
		result = 0;
	}
	pthread_mutex_unlock(&r->lock);
	free(w);
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
