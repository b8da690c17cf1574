/* SPDX-License-Identifier: Apache-2.0 */
/* looked_up.c - which names a process has looked up. */
#include "supervisor/learn/looked_up.h"

#include <stdio.h>
#include <string.h>

#include "supervisor/learn/memory.h"
#include "supervisor/learn/access_need.h"

#define uthash_fatal(msg) aw_learn_no_memory()
#include <uthash.h>

/* More are not kept at a time: a name is used soon after it was looked up. */
enum { LOOKUPS_MOST = 4096 };

struct aw_lookup {
	char key[40]; /* process and port */
	char *host;   /* owned */
	UT_hash_handle hh;
};

static struct aw_lookup *find(
	const struct aw_lookups *lookups, pid_t pid, unsigned port, char key[40])
{
	struct aw_lookup *lookup;

	snprintf(key, 40, "%d %u", pid, port);
	HASH_FIND_STR(lookups->items, key, lookup);
	return lookup;
}

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
	const char *host = seen->address.host;
	struct aw_lookup *lookup;
	char key[40];

	/* a call about a name alone */
	if (seen->address.family || !host || !aw_host_is_plain(host))
		return;
	lookup = find(lookups, seen->pid, seen->address.port, key);
	if (!lookup) {
		if (HASH_COUNT(lookups->items) >= LOOKUPS_MOST)
			aw_lookups_free(lookups);
		lookup = aw_learn_new(sizeof(*lookup));
		memcpy(lookup->key, key, sizeof(key));
		HASH_ADD_STR(lookups->items, key, lookup);
	}
	free(lookup->host);
	lookup->host = aw_learn_copy(host, strlen(host));
}

const char *aw_lookups_find(
	const struct aw_lookups *lookups, const struct aw_seen *seen)
{
	char key[40];
	const struct aw_lookup *lookup =
		find(lookups, seen->pid, seen->address.port, key);

	if (!lookup)
		lookup = find(lookups, seen->pid, 0, key);
	return lookup ? lookup->host : NULL;
}
