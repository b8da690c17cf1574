/* SPDX-License-Identifier: Apache-2.0 */
/* looks.c - looks that wait, those that have a thread, and those that have ended. */
#include "supervisor/net/proxy/looks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utlist.h>

#include "supervisor/util/share.h"

enum { STACK = 256 * 1024 };

struct look {
	struct aw_client client;
	_Atomic bool over;
	struct aw_looked told;
	struct look *prev, *next; /* in a list of the looks' */
};

struct aw_looks {
	struct aw_watch *watch;
	pthread_mutex_t lock;
	pthread_cond_t left; /* no thread is there any more */
	unsigned threads;
	int wake;
	bool ending;
	struct look *waiting, *busy, *ended; /* owned; the oldest first */
};

int aw_looks_create(struct aw_watch *watch, struct aw_looks **ret, struct aw_error *err)
{
	struct aw_looks *looks = calloc(1, sizeof(*looks));

	if (!looks)
		return aw_fail(err, ENOMEM, "network.proxy: out of memory");
	looks->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (looks->wake < 0) {
		free(looks);
		return aw_fail(err, errno, "network.proxy: %s", strerror(errno));
	}
	looks->watch = watch;
	pthread_mutex_init(&looks->lock, NULL);
	pthread_cond_init(&looks->left, NULL);
	*ret = looks;
	return 0;
}

int aw_looks_fd(const struct aw_looks *looks)
{
	return looks->wake;
}

/* With the lock held: the oldest whose client has room for one more; or NULL. */
static struct look *next_turn(const struct aw_looks *looks)
{
	struct look *look;
	const struct look *b;

	DL_FOREACH(looks->waiting, look)
	{
		size_t all = 0, of_client = 0;

		DL_FOREACH(looks->busy, b)
		{
			all++;
			of_client += b->client.connected == look->client.connected;
		}
		if (aw_share_has_room(of_client, AW_LOOKS_MAX - all))
			return look;
	}
	return NULL;
}

static bool call_for_work(struct aw_looks *looks);

static void *work(void *arg)
{
	struct aw_looks *looks = arg;
	struct look *look;

	pthread_mutex_lock(&looks->lock);
	while (!looks->ending && (look = next_turn(looks))) {
		DL_DELETE(looks->waiting, look);
		DL_APPEND(looks->busy, look);
		call_for_work(looks); /* what has ended may have made room for two */
		pthread_mutex_unlock(&looks->lock);
		look->told.found = aw_client_find(
			looks->watch, &look->client, &look->over, &look->told.who);
		pthread_mutex_lock(&looks->lock);
		DL_DELETE(looks->busy, look);
		DL_APPEND(looks->ended, look);
		eventfd_write(looks->wake, 1);
	}
	if (--looks->threads == 0)
		pthread_cond_signal(&looks->left);
	pthread_mutex_unlock(&looks->lock);
	return NULL;
}

/* With the lock held: one more thread, if it has something to do; false: none is there. */
static bool call_for_work(struct aw_looks *looks)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (looks->threads >= AW_LOOKS_MAX || !next_turn(looks))
		return true;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&thread, &attributes, work, looks) == 0) {
		pthread_setname_np(thread, "aw-looks");
		looks->threads++;
	}
	pthread_attr_destroy(&attributes);
	return looks->threads > 0;
}

bool aw_looks_begin(struct aw_looks *looks, const struct aw_client *client, uint64_t id)
{
	struct look *look = calloc(1, sizeof(*look));
	bool begun;

	if (!look)
		return false;
	look->client = *client;
	look->told.id = id;
	pthread_mutex_lock(&looks->lock);
	DL_APPEND(looks->waiting, look);
	begun = call_for_work(looks);
	if (!begun)
		DL_DELETE(looks->waiting, look);
	pthread_mutex_unlock(&looks->lock);
	if (!begun)
		free(look);
	return begun;
}

static struct look *find(struct look *among, uint64_t id)
{
	struct look *look;

	DL_FOREACH(among, look)
	if (look->told.id == id)
		return look;
	return NULL;
}

void aw_looks_cancel(struct aw_looks *looks, uint64_t id)
{
	struct look *waiting, *busy;

	pthread_mutex_lock(&looks->lock);
	waiting = find(looks->waiting, id);
	busy = find(looks->busy, id);
	if (waiting)
		DL_DELETE(looks->waiting, waiting);
	if (busy)
		atomic_store(&busy->over, true);
	pthread_mutex_unlock(&looks->lock);
	free(waiting);
}

bool aw_looks_next(struct aw_looks *looks, struct aw_looked *ret)
{
	eventfd_t ignored;
	struct look *look;

	pthread_mutex_lock(&looks->lock);
	look = looks->ended;
	if (look)
		DL_DELETE(looks->ended, look);
	else
		eventfd_read(looks->wake, &ignored);
	pthread_mutex_unlock(&looks->lock);
	if (!look)
		return false;
	*ret = look->told;
	free(look);
	return true;
}

static void free_all(struct look *list)
{
	struct look *look, *next;

	DL_FOREACH_SAFE(list, look, next)
	free(look);
}

void aw_looks_free(struct aw_looks *looks)
{
	struct look *look;

	if (!looks)
		return;
	pthread_mutex_lock(&looks->lock);
	looks->ending = true;
	DL_FOREACH(looks->busy, look)
	atomic_store(&look->over, true);
	while (looks->threads)
		pthread_cond_wait(&looks->left, &looks->lock);
	pthread_mutex_unlock(&looks->lock);
	free_all(looks->waiting);
	free_all(looks->ended);
	close(looks->wake);
	pthread_cond_destroy(&looks->left);
	pthread_mutex_destroy(&looks->lock);
	free(looks);
}
