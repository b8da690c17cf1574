/* SPDX-License-Identifier: Apache-2.0 */
/* quota.c - connections in a sliding minute, bytes of a session. */
#include "supervisor/net/egress/quota.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1 << 20 };

static const uint64_t minute = 60ull * 1000000000;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void aw_quota_init(struct aw_quota *quota)
{
	memset(quota, 0, sizeof(*quota));
	pthread_mutex_init(&quota->lock, NULL);
}

void aw_quota_release(struct aw_quota *quota)
{
	free(quota->begun);
	quota->begun = NULL;
	pthread_mutex_destroy(&quota->lock);
}

/* The youngest that fit stay, in their order. */
static void resize(struct aw_quota *quota, uint64_t size)
{
	uint64_t kept = size < quota->size ? size : quota->size;
	struct aw_begun *begun = NULL;

	if (size && !(begun = calloc(size, sizeof(*begun))))
		return;
	for (uint64_t i = 0; i < kept; i++)
		begun[size - 1 - i] =
			quota->begun[(quota->at + quota->size - 1 - i) % quota->size];
	free(quota->begun);
	quota->begun = begun;
	quota->size = size;
	quota->at = 0;
}

void aw_quota_limit(struct aw_quota *quota, const struct aw_limits *limits)
{
	pthread_mutex_lock(&quota->lock);
	quota->connections = limits->connections_per_minute;
	quota->bytes = limits->bytes_out;
	/* nobody begins more than these in a minute */
	if (quota->connections > MOST)
		quota->connections = 0;
	if (quota->connections != quota->size)
		resize(quota, quota->connections);
	pthread_mutex_unlock(&quota->lock);
}

/* With the lock held. */
static bool take(struct aw_quota *quota, const struct aw_address *peer)
{
	static const struct aw_address none;
	struct aw_begun *oldest;
	uint64_t time = now();

	if (!quota->size) /* no memory for them: none is counted, none may begin */
		return false;
	oldest = &quota->begun[quota->at];
	if (oldest->time && time - oldest->time < minute)
		return false;
	*oldest = (struct aw_begun){.time = time, .peer = peer ? *peer : none};
	quota->at = (quota->at + 1) % quota->size;
	return true;
}

bool aw_quota_connect(struct aw_quota *quota)
{
	bool may;

	pthread_mutex_lock(&quota->lock);
	may = !quota->connections || take(quota, NULL);
	pthread_mutex_unlock(&quota->lock);
	return may;
}

/* With the lock held. */
static bool is_known(const struct aw_quota *quota, const struct aw_address *peer)
{
	uint64_t time = now();

	for (uint64_t i = 0; i < quota->size; i++) {
		const struct aw_begun *b = &quota->begun[i];

		if (b->time && time - b->time < minute && b->peer.port == peer->port &&
			b->peer.family == peer->family &&
			memcmp(b->peer.bytes, peer->bytes, sizeof(peer->bytes)) == 0)
			return true;
	}
	return false;
}

bool aw_quota_datagram(struct aw_quota *quota, const struct aw_address *peer)
{
	bool may;

	pthread_mutex_lock(&quota->lock);
	may = !quota->connections || is_known(quota, peer) || take(quota, peer);
	pthread_mutex_unlock(&quota->lock);
	return may;
}

bool aw_quota_send(struct aw_quota *quota, uint64_t bytes)
{
	bool may;

	pthread_mutex_lock(&quota->lock);
	may = !quota->bytes ||
	      (quota->sent <= quota->bytes && bytes <= quota->bytes - quota->sent);
	if (may)
		quota->sent += bytes;
	pthread_mutex_unlock(&quota->lock);
	return may;
}
