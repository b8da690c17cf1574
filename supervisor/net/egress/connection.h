/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.h - what becomes of connections to outside: the event `connection`.
 *
 * One that we relay tells when it ends.  Of the others the kernel tells: it sends the
 * counts of a TCP socket that goes away to who listens (sock_diag(7), the groups for
 * destroyed sockets), so that none has to be held for it.
 */
#ifndef AW_SUPERVISOR_NET_EGRESS_CONNECTION_H
#define AW_SUPERVISOR_NET_EGRESS_CONNECTION_H

#include "supervisor/decide/watch.h"

/* Who has connected where, and when. */
struct aw_connection {
	struct aw_process_info who;
	int family, port;
	char address[64];
	char host[256]; /* "" without */
	uint64_t began; /* as aw_watch_now() */
};

/* From the event of the call that begins it. */
void aw_connection_note(struct aw_connection *c, const struct aw_process_info *who,
	const struct aw_event *event);

/* Into an event, which borrows its strings. */
void aw_connection_tell(const struct aw_connection *c, struct aw_event *event);

struct aw_conntrack; /* that the kernel tells */

int aw_conntrack_create(
	struct aw_watch *watch, struct aw_conntrack **ret, struct aw_error *err);

/* A TCP socket of our network namespace is about to be connected, or is. */
void aw_conntrack_add(struct aw_conntrack *ends, int fd, const struct aw_connection *c);

/* What is left is told as it stands; NULL is fine. */
void aw_conntrack_free(struct aw_conntrack *ends);

/* The event of one that has ended. */
void aw_connection_log(struct aw_watch *watch, const struct aw_connection *c,
	uint64_t out, uint64_t in, uint64_t nanoseconds);

#endif
