/* SPDX-License-Identifier: Apache-2.0 */
/* close.c - closing what may be a process's socket, without waiting for its peer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

enum { WAITING_MOST = 32, STACK = 64 * 1024 };

static _Atomic unsigned waiting;

static void *close_at_last(void *arg)
{
	close((int)(intptr_t)arg);
	atomic_fetch_sub(&waiting, 1);
	return NULL;
}

static bool hand_over(int fd)
{
	pthread_attr_t attributes;
	pthread_t thread;
	bool done;

	if (atomic_fetch_add(&waiting, 1) >= WAITING_MOST) {
		atomic_fetch_sub(&waiting, 1);
		return false;
	}
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK);
	done = pthread_create(
		       &thread, &attributes, close_at_last, (void *)(intptr_t)fd) == 0;
	pthread_attr_destroy(&attributes);
	if (!done)
		atomic_fetch_sub(&waiting, 1);
	return done;
}

void aw_close(int fd)
{
	static const struct linger none = {0, 0};
	struct linger linger = none;
	socklen_t size = sizeof(linger);
	bool lingers = getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &size) == 0 &&
		       linger.l_onoff && linger.l_linger > 0;

	if (lingers && hand_over(fd))
		return;
	if (lingers) /* too many at once: then the kernel sends the rest by itself */
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}
