/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_lookup.c - a thread for each look-up.
 *
 * getaddrinfo(3) cannot be called off, so its threads own a share of what they write
 * to, and the last one to leave frees it.
 */
#include "supervisor/net/proxy/async_lookup.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/util/share.h"

enum { STACK = 256 * 1024 };

struct job {
	struct aw_async_lookup *all;
	struct aw_found found;
	size_t place; /* among the askers */
	struct job *next;
	char name[]; /* terminated */
};

struct aw_async_lookup {
	pthread_mutex_t lock;
	unsigned users; /* the owner, and each thread */
	bool closed;	/* the owner is gone */
	int wake;
	pid_t askers[AW_ASYNC_LOOKUP_MAX]; /* of those under way; 0: a free place */
	struct job *ended, **end;	   /* oldest first; owned */
};

/* With the lock held, which is released. */
static void leave(struct aw_async_lookup *all)
{
	bool last = --all->users == 0;
	struct job *next;

	pthread_mutex_unlock(&all->lock);
	if (!last)
		return;
	for (struct job *job = all->ended; job; job = next) {
		next = job->next;
		free(job);
	}
	close(all->wake);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

static void add(struct aw_found *found, const struct sockaddr *address)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	unsigned char *to;

	if (found->count == AW_FOUND_MAX)
		return;
	to = found->addresses[found->count];
	if (address->sa_family == AF_INET) {
		memcpy(to, mapped, 12);
		memcpy(to + 12, &in->sin_addr, 4);
		found->count++;
	} else if (address->sa_family == AF_INET6) {
		memcpy(to, &in6->sin6_addr, 16);
		found->count++;
	}
}

static void look_up(const char *name, struct aw_found *found)
{
	static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *all = NULL;
	int failed = getaddrinfo(name, NULL, &hints, &all);

	if (failed) {
		found->trouble = gai_strerror(failed);
		return;
	}
	for (const struct addrinfo *a = all; a; a = a->ai_next)
		add(found, a->ai_addr);
	freeaddrinfo(all);
	if (!found->count)
		found->trouble = "it has no address";
}

static void *run(void *arg)
{
	struct job *job = arg;
	struct aw_async_lookup *all = job->all;

	look_up(job->name, &job->found);
	pthread_mutex_lock(&all->lock);
	all->askers[job->place] = 0;
	if (all->closed) {
		free(job);
	} else {
		*all->end = job;
		all->end = &job->next;
		eventfd_write(all->wake, 1);
	}
	leave(all);
	return NULL;
}

int aw_async_lookup_create(struct aw_async_lookup **ret, struct aw_error *err)
{
	struct aw_async_lookup *all = calloc(1, sizeof(*all));

	if (!all)
		return aw_fail(err, ENOMEM, "preparing to look up names");
	all->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (all->wake < 0) {
		free(all);
		return aw_fail(
			err, errno, "preparing to look up names: %s", strerror(errno));
	}
	pthread_mutex_init(&all->lock, NULL);
	all->users = 1;
	all->end = &all->ended;
	*ret = all;
	return 0;
}

int aw_async_lookup_fd(const struct aw_async_lookup *all)
{
	return all->wake;
}

static bool start(struct job *job)
{
	pthread_attr_t attributes;
	pthread_t thread;
	bool started;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK);
	started = pthread_create(&thread, &attributes, run, job) == 0;
	pthread_attr_destroy(&attributes);
	return started;
}

/* With the lock held: a place for one more of this asker's; false: there is none. */
static bool take_place(struct aw_async_lookup *all, pid_t asker, size_t *ret)
{
	size_t mine = 0, left = 0;

	for (size_t i = 0; i < AW_ASYNC_LOOKUP_MAX; i++) {
		mine += all->askers[i] == asker;
		if (all->askers[i])
			continue;
		left++;
		*ret = i;
	}
	return aw_share_has_room(mine, left);
}

bool aw_async_lookup_begin(
	struct aw_async_lookup *all, const char *name, pid_t asker, uint64_t id)
{
	size_t size = strlen(name) + 1;
	struct job *job = calloc(1, sizeof(*job) + size);
	bool started = false;

	if (!job)
		return false;
	memcpy(job->name, name, size);
	job->all = all;
	job->found.id = id;
	pthread_mutex_lock(&all->lock);
	if (take_place(all, asker, &job->place) && start(job)) {
		all->users++; /* the thread needs the lock before it leaves */
		all->askers[job->place] = asker;
		started = true;
	}
	pthread_mutex_unlock(&all->lock);
	if (!started)
		free(job);
	return started;
}

bool aw_async_lookup_next(struct aw_async_lookup *all, struct aw_found *ret)
{
	eventfd_t ignored;
	struct job *job;

	pthread_mutex_lock(&all->lock);
	job = all->ended;
	if (job) {
		all->ended = job->next;
		if (!all->ended)
			all->end = &all->ended;
	} else {
		eventfd_read(all->wake, &ignored);
	}
	pthread_mutex_unlock(&all->lock);
	if (!job)
		return false;
	*ret = job->found;
	free(job);
	return true;
}

void aw_async_lookup_free(struct aw_async_lookup *all)
{
	if (!all)
		return;
	pthread_mutex_lock(&all->lock);
	all->closed = true;
	leave(all);
}
