/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transparent_listener.h - takes the place of a server for sockets of the target.
 *
 * It listens where the server would be and answers nobody, as a server does that is far
 * away: what comes is dropped.  A socket that has begun to connect to it waits, until
 * it is met by another that begins to connect to it at the same time (RFC 9293, 3.5:
 * simultaneous open), which is how it learns the true moment; or it is refused.  So
 * nobody but who is meant ever gets through.
 *
 * In a network of the sandbox's own it has the very address of the server.  In the
 * host's it is on the loopback, at a port of its own.
 *
 * All functions may be called by any thread at any time.
 */
#ifndef AW_SUPERVISOR_NET_RELAY_TRANSPARENT_LISTENER_H
#define AW_SUPERVISOR_NET_RELAY_TRANSPARENT_LISTENER_H

#include <sys/socket.h>

#include "supervisor/linux/netns/netns.h"

struct aw_transparent_listeners;
struct aw_transparent_listener;

/* inner: NULL in the host's network.  NULL when there is no memory. */
struct aw_transparent_listeners *aw_transparent_listeners_create(
	struct aw_netns *netns);
void aw_transparent_listeners_free(
	struct aw_transparent_listeners *all); /* NULL is fine */

/* One for this server, which may be in use already; 0 or an errno. */
int aw_transparent_listener_open(struct aw_transparent_listeners *all,
	const struct sockaddr *server, socklen_t len,
	struct aw_transparent_listener **ret);
void aw_transparent_listener_close(
	struct aw_transparent_listener *listener); /* NULL is fine */

/* A socket that does not block, on its way. */
struct aw_visit {
	const struct aw_transparent_listener *listener;
	int client;		    /* borrowed */
	struct sockaddr_storage at; /* where it has begun from */
	socklen_t len;
};

/* Let a socket begin to connect: 0 or an errno; EINPROGRESS is the good one. */
int aw_visit_begin(const struct aw_transparent_listener *listener, int client,
	struct aw_visit *ret);

/* Meet it; the other end of the connection, or -errno: it has gone. */
int aw_visit_meet(const struct aw_visit *visit);

/* It learns that nobody is there, unless it has gone. */
void aw_visit_refuse(const struct aw_visit *visit);

/* Connect a socket that blocks; the other end, or -errno. */
int aw_transparent_listener_let_in(
	struct aw_transparent_listener *listener, int client);

#endif
