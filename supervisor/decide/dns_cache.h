/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns_cache.h - which names an address was the answer for.
 *
 * A table with as much room as is good for a session: what is old goes, and when a
 * program asks for more names than fit, the oldest.  The caller sees to it that one
 * thread at a time is in here.
 */
#ifndef AW_SUPERVISOR_DECIDE_DNS_CACHE_H
#define AW_SUPERVISOR_DECIDE_DNS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/net/proto/dns.h"

enum { AW_DNS_CACHE_MAX = 16384 }; /* pairs of an address and a name */

struct aw_dns_cache;

/* NULL: no memory. */
struct aw_dns_cache *aw_dns_cache_new(void);
void aw_dns_cache_free(struct aw_dns_cache *learned);

/*
 * address: IPv4-mapped.  It counts until then, in seconds; -1: no memory.
 * guarded: the name alone admits nothing there, as aw_names_learn() says.
 */
int aw_dns_cache_add(struct aw_dns_cache *learned, const unsigned char address[16],
	const char *name, bool guarded, int64_t now, int64_t until);

/* Up to max names of an address, copied; ret_guarded may be NULL. */
size_t aw_dns_cache_find(const struct aw_dns_cache *learned,
	const unsigned char address[16], int64_t now, char (*ret)[AW_DNS_NAME],
	bool *ret_guarded, size_t max);

#endif
