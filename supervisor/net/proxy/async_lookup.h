/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_lookup.h - looking names up for a proxy, so that a slow one holds up nobody.
 *
 * Each look-up is done by the system's resolver in a thread of its own, many at
 * a time; what has been found waits until it is fetched.  One thread uses all of this.
 */
#ifndef AW_SUPERVISOR_NET_PROXY_ASYNC_LOOKUP_H
#define AW_SUPERVISOR_NET_PROXY_ASYNC_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/error.h"

enum { AW_FOUND_MAX = 16, AW_ASYNC_LOOKUP_MAX = 192 };

struct aw_async_lookup;

/* The end of a look-up. */
struct aw_found {
	uint64_t id;	     /* as aw_async_lookup_begin() was given it */
	const char *trouble; /* why nothing was found, or NULL */
	size_t count;
	unsigned char addresses[AW_FOUND_MAX][16]; /* IPv4-mapped */
};

int aw_async_lookup_create(struct aw_async_lookup **ret, struct aw_error *err);

/* Readable when there is something to fetch. */
int aw_async_lookup_fd(const struct aw_async_lookup *all);

/* False: too many are under way, for this asker or at all (share.h). */
bool aw_async_lookup_begin(
	struct aw_async_lookup *all, const char *name, pid_t asker, uint64_t id);

/* The next one that has ended; false: no more. */
bool aw_async_lookup_next(struct aw_async_lookup *all, struct aw_found *ret);

/* Nobody waits for those that are under way; NULL is fine. */
void aw_async_lookup_free(struct aw_async_lookup *all);

#endif
