/* SPDX-License-Identifier: Apache-2.0 */
/* bound.c - a list of the sockets that were bound, the oldest one overwritten. */
#include "supervisor/kernel/bound.h"

#include <pthread.h>
#include <string.h>

enum { BOUND_MAX = 1024, SUN_NAME = 108 };

struct bound {
	dev_t dev;
	ino_t ino;
	size_t len; /* of name; 0: a file */
	char name[SUN_NAME];
};

static struct bound list[BOUND_MAX];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(const struct bound *bound)
{
	pthread_mutex_lock(&lock);
	list[used++ % BOUND_MAX] = *bound;
	pthread_mutex_unlock(&lock);
}

static bool has(const struct bound *bound)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < used && i < BOUND_MAX && !found; i++)
		found = list[i].dev == bound->dev && list[i].ino == bound->ino &&
			list[i].len == bound->len &&
			memcmp(list[i].name, bound->name, bound->len) == 0;
	pthread_mutex_unlock(&lock);
	return found;
}

static struct bound of_name(const char *name, size_t len)
{
	struct bound bound = {.len = len < SUN_NAME ? len : SUN_NAME};

	memcpy(bound.name, name, bound.len);
	return bound;
}

void aw_bound_add_file(const struct stat *st)
{
	add(&(struct bound){.dev = st->st_dev, .ino = st->st_ino});
}

void aw_bound_add_name(const char *name, size_t len)
{
	const struct bound bound = of_name(name, len);

	add(&bound);
}

bool aw_bound_has_file(const struct stat *st)
{
	return has(&(struct bound){.dev = st->st_dev, .ino = st->st_ino});
}

bool aw_bound_has_name(const char *name, size_t len)
{
	const struct bound bound = of_name(name, len);

	return has(&bound);
}
