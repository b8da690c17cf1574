/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looks.h - finding out who asks the proxy, so that one that is hard to tell holds up
 * nobody.
 *
 * Each look has a thread of its own, a few at a time; of those whose client connected
 * in our sight one process gets no more than it leaves to others (share.h).  One thread
 * uses all of this.
 */
#ifndef AW_SUPERVISOR_NET_PROXY_LOOKS_H
#define AW_SUPERVISOR_NET_PROXY_LOOKS_H

#include <stdint.h>

#include "policy/error.h"
#include "supervisor/net/proxy/client.h"

enum { AW_LOOKS_MAX = 16 };

struct aw_looks;

/* The end of a look. */
struct aw_looked {
	uint64_t id; /* as aw_looks_begin() was given it */
	bool found;
	struct aw_process_info who;
};

int aw_looks_create(
	struct aw_watch *watch, struct aw_looks **ret, struct aw_error *err);

/* Readable when there is something to fetch. */
int aw_looks_fd(const struct aw_looks *looks);

/* False: it cannot be done. */
bool aw_looks_begin(
	struct aw_looks *looks, const struct aw_client *client, uint64_t id);

/* Nobody waits for it any more; one that has ended already is fine. */
void aw_looks_cancel(struct aw_looks *looks, uint64_t id);

/* The next one that has ended; false: no more. */
bool aw_looks_next(struct aw_looks *looks, struct aw_looked *ret);

/* Waits for its threads, which are told; NULL is fine. */
void aw_looks_free(struct aw_looks *looks);

#endif
