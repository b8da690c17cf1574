/* SPDX-License-Identifier: Apache-2.0 */
/* fair.c - who has a notification thread, and whose calls wait for one. */
#include "supervisor/linux/seccomp/fair.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include "supervisor/linux/procfs.h"

/*
 * A call that has its thread for so long is held up.  All others are soon through,
 * though on a busy machine all threads may have one at a time; and when no thread was
 * short for so long, there are enough.
 */
enum { HELD_UP_MS = 50, CALM_MS = 1000 };

struct place {
	pid_t tid, pid; /* whose call it has, 0: none; pid 0: not looked up yet */
	uint64_t since;
};

struct later {
	struct later *next;
	pid_t pid;
	struct seccomp_notif request; /* last, and larger with a newer kernel */
};

struct aw_fair {
	pthread_mutex_t lock;
	unsigned most;
	size_t request_size;
	struct later *first, **end; /* owned */
	atomic_uint waiting;	    /* how many of these there are */
	uint64_t short_at;	    /* when the last thread was taken */
	struct place places[];
};

struct aw_fair *aw_fair_create(unsigned most, size_t request_size)
{
	struct aw_fair *fair = calloc(1, sizeof(*fair) + most * sizeof(struct place));

	if (!fair)
		return NULL;
	pthread_mutex_init(&fair->lock, NULL);
	fair->most = most;
	fair->request_size = request_size;
	fair->end = &fair->first;
	return fair;
}

void aw_fair_free(struct aw_fair *fair)
{
	struct later *next;

	if (!fair)
		return;
	for (struct later *l = fair->first; l; l = next) {
		next = l->next;
		free(l);
	}
	pthread_mutex_destroy(&fair->lock);
	free(fair);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static pid_t process_of(pid_t tid)
{
	pid_t pid, parent;

	return aw_proc_parent(tid, &pid, &parent) ? pid : tid;
}

/* With the lock held. */
static unsigned count_busy(const struct aw_fair *fair)
{
	unsigned busy = 0;

	for (unsigned i = 0; i < fair->most; i++)
		busy += fair->places[i].tid != 0;
	return busy;
}

/* With the lock held. */
static unsigned count_held_up(const struct aw_fair *fair, uint64_t now)
{
	unsigned count = 0;

	for (unsigned i = 0; i < fair->most; i++)
		count += fair->places[i].tid &&
			 fair->places[i].since + HELD_UP_MS <= now;
	return count;
}

/* With the lock held: has this process as many as it may? */
static bool has_its_share(struct aw_fair *fair, pid_t pid, unsigned threads)
{
	unsigned own = 0;

	for (unsigned i = 0; i < fair->most; i++) {
		struct place *place = &fair->places[i];

		if (place->tid && !place->pid)
			place->pid = process_of(place->tid);
		own += place->tid && place->pid == pid;
	}
	return own >= (threads > 3 ? threads / 2 : 1);
}

/* With the lock held; no memory: it is dealt with now. */
static bool put_aside(
	struct aw_fair *fair, pid_t pid, const struct seccomp_notif *request)
{
	size_t more = fair->request_size > sizeof(*request)
			      ? fair->request_size - sizeof(*request)
			      : 0;
	struct later *later = calloc(1, sizeof(*later) + more);

	if (!later)
		return false;
	later->pid = pid;
	memcpy(&later->request, request, fair->request_size);
	*fair->end = later;
	fair->end = &later->next;
	atomic_fetch_add(&fair->waiting, 1);
	return true;
}

/* With the lock held: the last free thread has this call. */
static enum aw_fair_turn last_turn(struct aw_fair *fair, struct place *place,
	unsigned threads, const struct seccomp_notif *request)
{
	fair->short_at = place->since;
	place->pid = process_of(place->tid);
	if (has_its_share(fair, place->pid, threads) &&
		put_aside(fair, place->pid, request))
		return AW_FAIR_LATER;
	return count_held_up(fair, place->since) * 2 >= threads ? AW_FAIR_LAST
								: AW_FAIR_NOW;
}

enum aw_fair_turn aw_fair_begin(struct aw_fair *fair, unsigned slot, unsigned threads,
	const struct seccomp_notif *request)
{
	struct place place = {.tid = (pid_t)request->pid, .since = now_ms()};
	enum aw_fair_turn turn = AW_FAIR_NOW;

	pthread_mutex_lock(&fair->lock);
	if (count_busy(fair) + 1 >= threads && threads > 1)
		turn = last_turn(fair, &place, threads, request);
	if (turn != AW_FAIR_LATER)
		fair->places[slot] = place;
	pthread_mutex_unlock(&fair->lock);
	return turn;
}

/* With the lock held: the first one whose process may have a thread. */
static struct later *take(struct aw_fair *fair, unsigned threads)
{
	for (struct later **at = &fair->first; *at; at = &(*at)->next) {
		struct later *later = *at;

		if (has_its_share(fair, later->pid, threads))
			continue;
		*at = later->next;
		if (fair->end == &later->next)
			fair->end = at;
		atomic_fetch_sub(&fair->waiting, 1);
		return later;
	}
	return NULL;
}

bool aw_fair_next(struct aw_fair *fair, unsigned slot, unsigned threads,
	struct seccomp_notif *request)
{
	struct later *later = NULL;
	bool taken;

	pthread_mutex_lock(&fair->lock);
	fair->places[slot] = (struct place){0};
	if (atomic_load(&fair->waiting))
		later = take(fair, threads);
	taken = later != NULL;
	if (taken) {
		memcpy(request, &later->request, fair->request_size);
		fair->places[slot] =
			(struct place){(pid_t)later->request.pid, later->pid, now_ms()};
	}
	pthread_mutex_unlock(&fair->lock);
	free(later);
	return taken;
}

bool aw_fair_is_calm(struct aw_fair *fair)
{
	bool calm;

	pthread_mutex_lock(&fair->lock);
	calm = fair->short_at + CALM_MS <= now_ms();
	pthread_mutex_unlock(&fair->lock);
	return calm;
}
