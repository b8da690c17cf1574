/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c - which names a process has looked up. */
#include "supervisor/learn/lookup.h"

#include <string.h>

#include "supervisor/learn/memory.h"

#define uthash_fatal(msg) aw_learn_no_memory()
#include <uthash.h>

/* More are not kept at a time: a name is used soon after it was looked up. */
enum { LOOKUPS_MOST = 4096 };

struct key {
	pid_t pid;
	uint32_t port;
};

struct aw_lookup {
	struct key key;
	char *host; /* owned */
	UT_hash_handle hh;
};

void aw_lookups_free(struct aw_lookups *lookups)
{
	struct aw_lookup *lookup, *next;

	HASH_ITER(hh, lookups->items, lookup, next)
	{
		HASH_DEL(lookups->items, lookup);
		free(lookup->host);
		free(lookup);
	}
}

void aw_lookups_add(struct aw_lookups *lookups, const struct aw_seen *seen)
{
	const struct key key = {seen->pid, seen->address.port};
	const char *host = seen->address.host;
	struct aw_lookup *lookup;

	if (strcmp(seen->call, "getaddrinfo") != 0 || !host)
		return;
	HASH_FIND(hh, lookups->items, &key, sizeof(key), lookup);
	if (!lookup) {
		if (HASH_COUNT(lookups->items) >= LOOKUPS_MOST)
			aw_lookups_free(lookups);
		lookup = aw_learn_new(sizeof(*lookup));
		lookup->key = key;
		HASH_ADD(hh, lookups->items, key, sizeof(key), lookup);
	}
	free(lookup->host);
	lookup->host = aw_learn_copy(host, strlen(host));
}

const char *aw_lookups_find(
	const struct aw_lookups *lookups, const struct aw_seen *seen)
{
	const struct key keys[] = {{seen->pid, seen->address.port}, {seen->pid, 0}};
	struct aw_lookup *lookup = NULL;

	for (size_t i = 0; i < 2 && !lookup; i++)
		HASH_FIND(hh, lookups->items, &keys[i], sizeof(*keys), lookup);
	return lookup ? lookup->host : NULL;
}
