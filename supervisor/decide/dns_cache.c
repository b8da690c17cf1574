/* SPDX-License-Identifier: Apache-2.0 */
/* dns_cache.c - pairs of an address and a name, in a table and in the order of their
 * age.
 */
#include "supervisor/decide/dns_cache.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "supervisor/util/hash.h"

struct pair {
	unsigned char address[16];
	int64_t until;
	bool guarded;
	struct pair *same;	  /* of this address, the next one */
	struct pair *prev, *next; /* by age, the oldest first */
	char name[];
};

struct place {
	unsigned char address[16];
	struct pair *pairs;
	UT_hash_handle hh;
};

struct aw_dns_cache {
	struct place *places; /* owned */
	struct pair *oldest;  /* owned */
	size_t count;
};

struct aw_dns_cache *aw_dns_cache_new(void)
{
	return calloc(1, sizeof(struct aw_dns_cache));
}

static struct place *find_place(
	const struct aw_dns_cache *learned, const unsigned char address[16])
{
	struct place *place;

	HASH_FIND(hh, learned->places, address, 16, place);
	return place;
}

static void forget(struct aw_dns_cache *learned, struct pair *pair)
{
	struct place *place = find_place(learned, pair->address);

	DL_DELETE(learned->oldest, pair);
	learned->count--;
	if (place) {
		LL_DELETE2(place->pairs, pair, same);
		if (!place->pairs) {
			HASH_DEL(learned->places, place);
			free(place);
		}
	}
	free(pair);
}

void aw_dns_cache_free(struct aw_dns_cache *learned)
{
	if (!learned)
		return;
	while (learned->oldest)
		forget(learned, learned->oldest);
	free(learned);
}

static struct place *need_place(
	struct aw_dns_cache *learned, const unsigned char address[16])
{
	struct place *place = find_place(learned, address);

	if (place)
		return place;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	memcpy(place->address, address, 16);
	HASH_ADD(hh, learned->places, address, 16, place);
	if (place->hh.tbl)
		return place;
	free(place);
	return NULL;
}

/* What is old goes first; the list is by age, so it stands in front, or nearly. */
static void make_room(struct aw_dns_cache *learned, int64_t now)
{
	while (learned->oldest &&
		(learned->count >= AW_DNS_CACHE_MAX || learned->oldest->until < now))
		forget(learned, learned->oldest);
}

static struct pair *find_pair(const struct place *place, const char *name)
{
	struct pair *pair = place ? place->pairs : NULL;

	while (pair && strcmp(pair->name, name) != 0)
		pair = pair->same;
	return pair;
}

static struct pair *make_pair(
	struct aw_dns_cache *learned, const unsigned char address[16], const char *name)
{
	size_t len = strlen(name) + 1;
	struct pair *pair = calloc(1, sizeof(*pair) + len);
	struct place *place = pair ? need_place(learned, address) : NULL;

	if (!place) {
		free(pair);
		return NULL;
	}
	memcpy(pair->address, address, 16);
	memcpy(pair->name, name, len);
	LL_PREPEND2(place->pairs, pair, same);
	learned->count++;
	return pair;
}

int aw_dns_cache_add(struct aw_dns_cache *learned, const unsigned char address[16],
	const char *name, bool guarded, int64_t now, int64_t until)
{
	struct pair *pair;

	make_room(learned, now);
	pair = find_pair(find_place(learned, address), name);
	if (pair) {
		DL_DELETE(learned->oldest, pair);
		guarded = guarded && pair->guarded;
	} else {
		pair = make_pair(learned, address, name);
	}
	if (!pair)
		return -1;
	pair->guarded = guarded;
	if (until > pair->until)
		pair->until = until;
	DL_APPEND(learned->oldest, pair);
	return 0;
}

size_t aw_dns_cache_find(const struct aw_dns_cache *learned,
	const unsigned char address[16], int64_t now, char (*ret)[AW_DNS_NAME],
	bool *ret_guarded, size_t max)
{
	struct place *place = find_place(learned, address);
	size_t count = 0;

	for (struct pair *p = place ? place->pairs : NULL; p && count < max;
		p = p->same) {
		if (p->until < now || strlen(p->name) >= AW_DNS_NAME)
			continue;
		if (ret_guarded)
			ret_guarded[count] = p->guarded;
		strcpy(ret[count++], p->name);
	}
	return count;
}
