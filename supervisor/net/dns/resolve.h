/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - questions put to the host's own name servers.
 *
 * The C library does the asking (res_nsend, and getaddrinfo where nsswitch.conf knows
 * more sources than files and dns), in threads of ours: a server that is silent holds
 * up nobody who asks for something else.  The same question is asked once at a time,
 * and answers are kept as long as they say.  Each asker has a share of the threads and
 * of the questions that wait (share.h), and so has each domain of the threads.
 *
 * All functions may be called by any thread at any time.
 */
#ifndef AW_SUPERVISOR_NET_DNS_RESOLVE_H
#define AW_SUPERVISOR_NET_DNS_RESOLVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/error.h"
#include "supervisor/net/proto/dns.h"

enum {
	AW_RESOLVE_THREADS = 48,
	AW_RESOLVE_DOMAIN = 36,	   /* of them for names with the same last two labels */
	AW_RESOLVE_PENDING = 3072, /* different questions at the same time */
	AW_RESOLVE_KEPT = 4096,	   /* answers, and their bytes all together: */
	AW_RESOLVE_BYTES = 4 * 1024 * 1024,
	AW_RESOLVE_LONGEST = 3600, /* seconds that an answer is kept at most */
};

struct aw_resolver;

/* An answer; it does not change. */
struct aw_resolved {
	_Atomic unsigned users;
	int64_t made; /* seconds of CLOCK_MONOTONIC */
	uint32_t ttl;
	size_t len; /* 0: no server has answered */
	unsigned char bytes[];
};

/* done is called by threads of the resolver, with a reference of its own. */
int aw_resolver_start(void (*done)(void *ctx, struct aw_resolved *answer),
	struct aw_resolver **ret, struct aw_error *err);

/*
 * Ask for a plain name.  1: *ret is known already, a reference; 0: done(ctx) follows;
 * -1: too much is being asked, by this asker or at all.
 */
int aw_resolve(struct aw_resolver *resolver, const char *name, unsigned type,
	pid_t asker, void *ctx, struct aw_resolved **ret);

/* No reference more; NULL is fine. */
void aw_resolved_release(struct aw_resolved *answer);

/* done is not called any more; NULL is fine. */
void aw_resolver_stop(struct aw_resolver *resolver);

#endif
