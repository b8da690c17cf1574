/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - two connected stream sockets become one connection.
 *
 * For connections whose bytes have to pass through us: to look at the name in them, to
 * count them, to reach a port inside, to serve a proxy.  One thread moves them all, by
 * splice(2) and epoll(7), so that nothing is copied; an end of one direction is passed
 * on as an end of that direction.  When the session ends all are cut.
 *
 * All functions may be called by any thread at any time; hooks run on the relay's.
 */
#ifndef AW_SUPERVISOR_NET_RELAY_RELAY_H
#define AW_SUPERVISOR_NET_RELAY_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"

struct aw_relay;

enum aw_relay_look {
	AW_RELAY_MORE, /* not enough to tell; at AW_RELAY_PEEK bytes it is a cut */
	AW_RELAY_PART, /* let the first *ret_on of them go on, and look at the rest anew
			*/
	AW_RELAY_PASS, /* let these and all that follow go on */
	AW_RELAY_CUT,  /* reset both ends */
};

enum { AW_RELAY_PEEK = 16384 };

struct aw_relay_end {
	/* bytes that went from inside to outside, and back; with those of ours */
	uint64_t out, in;
	uint64_t nanoseconds; /* since it was added */
	bool cut;	      /* by us: by look, or by the limit */
};

struct aw_relay_pair {
	int inside, outside; /* connected, owned from now on; made non-blocking */
	/*
	 * NULL, or `outside` is still being connected, and `inside` is -1: told how
	 * that ended (0 or an errno), it returns the other socket, or -1: it is over.
	 */
	int (*begin)(void *ctx, int err);
	/* sent first, to inside or to outside; copied; NULL without */
	const void *to_inside, *to_outside;
	size_t to_inside_len, to_outside_len;
	/*
	 * Told all that has come from inside and has not gone on so far, until it says
	 * PASS; NULL: pass.  After PART it is asked again when there is more to be
	 * told. What outside says goes on meanwhile, as it may be the first to speak.
	 * An end before any byte is passed on, later it is a cut.
	 */
	enum aw_relay_look (*look)(
		void *ctx, const unsigned char *bytes, size_t len, size_t *ret_on);
	/*
	 * May these bytes go out, too?  Asked once for each, before.  False: it is cut,
	 * and none of them goes; NULL: yes.
	 */
	bool (*may_send)(void *ctx, size_t bytes);
	void (*ended)(void *ctx, const struct aw_relay_end *end); /* the last call */
	void *ctx;
};

int aw_relay_create(struct aw_relay **ret, struct aw_error *err);

/* 0 or -errno; with an error both sockets are closed and ended() is not called. */
int aw_relay_add(struct aw_relay *relay, const struct aw_relay_pair *pair);

/* Cuts all that is left; NULL is fine. */
void aw_relay_free(struct aw_relay *relay);

#endif
