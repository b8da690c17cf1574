/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_flow.h - one direction of a relayed connection.  relay.c has two for each.
 *
 * What is read waits in a pipe, which is borrowed while it holds something, so that an
 * idle connection costs its two sockets; what has to be looked at first, or comes from
 * us, waits in memory in front of it.  Nothing more is read before that is gone: who
 * sends faster than the other end reads is held up.
 *
 * For the relay's thread alone.
 */
#ifndef AW_SUPERVISOR_NET_RELAY_RELAY_FLOW_H
#define AW_SUPERVISOR_NET_RELAY_RELAY_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/net/relay/relay.h"

enum { AW_RELAY_PIPES = 64 }; /* empty ones that are kept */

struct aw_relay_pipes {
	int free[AW_RELAY_PIPES][2];
	size_t count;
};

/* A socket; edges of epoll(7) set what it can do, a call that would block clears it. */
struct aw_relay_side {
	int fd;
	bool readable, writable;
	bool failed; /* reset by its other end: nothing can be sent to it */
};

struct aw_relay_flow {
	struct aw_relay_side *from, *to;
	int pipe[2];	     /* borrowed; -1 */
	size_t held;	     /* bytes in it */
	unsigned char *head; /* owned: goes out before what the pipe holds; or NULL */
	size_t len, sent;    /* of head */
	size_t clear;	     /* so much of head may go, whatever look will say */
	size_t room;	     /* allocated */
	uint64_t *moved;     /* counts what has gone out */
	bool looking;	     /* what was read is told to look before it goes on */
	bool ended;	     /* nothing more comes */
	bool done; /* ... and that has been passed on, or cannot be any more */
};

enum aw_relay_step {
	AW_RELAY_IDLE, /* until an edge */
	AW_RELAY_BUSY, /* there is more to do */
	AW_RELAY_STOP, /* look or may_send forbids it */
};

/* Bytes of ours that go first; -ENOMEM.  To be called once, before the first move. */
int aw_relay_flow_start(struct aw_relay_flow *flow, const void *bytes, size_t len);

/*
 * Moves what can be moved, up to a fair share.  pair: the hooks to ask, for the
 * direction to outside; NULL for the other.
 */
enum aw_relay_step aw_relay_flow_move(struct aw_relay_flow *flow,
	const struct aw_relay_pair *pair, struct aw_relay_pipes *pipes);

/* Gives back or closes what it holds. */
void aw_relay_flow_release(struct aw_relay_flow *flow, struct aw_relay_pipes *pipes);

void aw_relay_pipes_release(struct aw_relay_pipes *pipes);

#endif
