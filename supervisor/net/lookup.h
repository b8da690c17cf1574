/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - looking names up for a proxy, so that a slow one holds up nobody.
 *
 * Each look-up is done by the system's resolver in a thread of its own, a few dozen at
 * a time; what has been found waits until it is fetched.  One thread uses all of this.
 */
#ifndef AW_SUPERVISOR_NET_LOOKUP_H
#define AW_SUPERVISOR_NET_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"

enum { AW_LOOKUP_ADDRESSES = 16, AW_LOOKUPS_MOST = 64 };

struct aw_lookups;

/* The end of a look-up. */
struct aw_looked_up {
	uint64_t id;	   /* as aw_lookups_begin() was given it */
	const char *trouble; /* why nothing was found, or NULL */
	size_t count;
	unsigned char addresses[AW_LOOKUP_ADDRESSES][16]; /* IPv4 in IPv6 clothing */
};

int aw_lookups_create(struct aw_lookups **ret, struct aw_error *err);

/* Readable when there is something to fetch. */
int aw_lookups_fd(const struct aw_lookups *all);

/* False: too many are under way. */
bool aw_lookups_begin(struct aw_lookups *all, const char *name, uint64_t id);

/* The next one that has ended; false: no more. */
bool aw_lookups_next(struct aw_lookups *all, struct aw_looked_up *ret);

/* Nobody waits for those that are under way; NULL is fine. */
void aw_lookups_free(struct aw_lookups *all);

#endif
