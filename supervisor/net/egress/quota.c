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

void aw_meter_init(struct aw_meter *meter)
{
	memset(meter, 0, sizeof(*meter));
	pthread_mutex_init(&meter->lock, NULL);
}

void aw_meter_release(struct aw_meter *meter)
{
	free(meter->begun);
	meter->begun = NULL;
	pthread_mutex_destroy(&meter->lock);
}

/* The youngest that fit stay, in their order. */
static void resize(struct aw_meter *meter, uint64_t size)
{
	uint64_t kept = size < meter->size ? size : meter->size;
	struct aw_begun *begun = NULL;

	if (size && !(begun = calloc(size, sizeof(*begun))))
		return;
	for (uint64_t i = 0; i < kept; i++)
		begun[size - 1 - i] =
			meter->begun[(meter->at + meter->size - 1 - i) % meter->size];
	free(meter->begun);
	meter->begun = begun;
	meter->size = size;
	meter->at = 0;
}

void aw_meter_limit(struct aw_meter *meter, const struct aw_limits *limits)
{
	pthread_mutex_lock(&meter->lock);
	meter->connections = limits->connections_per_minute;
	meter->bytes = limits->bytes_out;
	/* nobody begins more than these in a minute */
	if (meter->connections > MOST)
		meter->connections = 0;
	if (meter->connections != meter->size)
		resize(meter, meter->connections);
	pthread_mutex_unlock(&meter->lock);
}

/* With the lock held. */
static bool take(struct aw_meter *meter, const struct aw_address *peer)
{
	static const struct aw_address none;
	struct aw_begun *oldest;
	uint64_t time = now();

	if (!meter->size) /* no memory for them: none is counted, none may begin */
		return false;
	oldest = &meter->begun[meter->at];
	if (oldest->time && time - oldest->time < minute)
		return false;
	*oldest = (struct aw_begun){.time = time, .peer = peer ? *peer : none};
	meter->at = (meter->at + 1) % meter->size;
	return true;
}

bool aw_meter_connect(struct aw_meter *meter)
{
	bool may;

	pthread_mutex_lock(&meter->lock);
	may = !meter->connections || take(meter, NULL);
	pthread_mutex_unlock(&meter->lock);
	return may;
}

/* With the lock held. */
static bool is_known(const struct aw_meter *meter, const struct aw_address *peer)
{
	uint64_t time = now();

	for (uint64_t i = 0; i < meter->size; i++) {
		const struct aw_begun *b = &meter->begun[i];

		if (b->time && time - b->time < minute && b->peer.port == peer->port &&
			b->peer.family == peer->family &&
			memcmp(b->peer.bytes, peer->bytes, sizeof(peer->bytes)) == 0)
			return true;
	}
	return false;
}

bool aw_meter_datagram(struct aw_meter *meter, const struct aw_address *peer)
{
	bool may;

	pthread_mutex_lock(&meter->lock);
	may = !meter->connections || is_known(meter, peer) || take(meter, peer);
	pthread_mutex_unlock(&meter->lock);
	return may;
}

bool aw_meter_send(struct aw_meter *meter, uint64_t bytes)
{
	bool may;

	pthread_mutex_lock(&meter->lock);
	may = !meter->bytes ||
	      (meter->sent <= meter->bytes && bytes <= meter->bytes - meter->sent);
	if (may)
		meter->sent += bytes;
	pthread_mutex_unlock(&meter->lock);
	return may;
}
