/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress.h - what all connections to outside have in common: their limits, a look at
 * the names in them, an event when they end.  Mode enforce, with hands.
 *
 * All functions may be called by any thread at any time.
 */
#ifndef AW_SUPERVISOR_NET_EGRESS_EGRESS_H
#define AW_SUPERVISOR_NET_EGRESS_EGRESS_H

#include "policy/load/load.h"
#include "supervisor/net/egress/client_note.h"
#include "supervisor/net/egress/connection.h"
#include "supervisor/net/egress/quota.h"
#include "supervisor/net/relay/relay.h"
#include "supervisor/net/relay/transparent_listener.h"
#include "supervisor/net/relay/verify.h"

/* A key of the policy that refuses something, as a rule of the log. */
struct aw_key_rule {
	struct aw_given given;
	char text[128]; /* "limits.bytes_out: 1048576" */
	struct aw_rule rule;
};

/* What one reading of the policy says; stays until the end. */
struct aw_egress_rules {
	bool verify; /* network.match_sni */
	bool bytes;  /* limits.bytes_out is there */
	struct aw_key_rule by_verify, by_bytes, by_connections;
	struct aw_egress_rules *before;
};

struct aw_egress {
	struct aw_watch *watch;
	struct aw_quota quota;
	struct aw_egress_rules *_Atomic rules;
	struct aw_relay *_Atomic relay; /* once there was something for it */
	struct aw_transparent_listeners *listeners;
	_Atomic unsigned waiting;	/* threads that will need it */
	struct aw_conntrack *ends;	/* NULL: the kernel does not tell */
	struct aw_client_notes clients; /* of the proxy */
};

/* After the sandbox's network was entered, if there is one. */
int aw_egress_create(struct aw_watch *watch, const struct aw_policy *policy,
	struct aw_egress **ret, struct aw_error *err);

/* Another reading of the policy: it holds for what begins from now on. */
int aw_egress_reload(struct aw_egress *traffic, const struct aw_policy *policy,
	struct aw_error *err);

/* Cuts what is left; NULL is fine. */
void aw_egress_free(struct aw_egress *traffic);

/* Is it one that has to pass through us? */
bool aw_egress_relays(const struct aw_egress *traffic);

/* A connection on its way through us. */
struct aw_relayed_connection {
	struct aw_egress *traffic;
	const struct aw_egress_rules *rules;
	struct aw_connection is;
	struct aw_verify verify;
	bool too_much; /* limits.bytes_out was met */
	bool told;     /* the log knows why it was cut */
};

/*
 * The hooks of a relay for one that begins now, with ret as their context; `ended` is
 * left to the caller, which calls aw_relayed_connection_ended() in it.
 */
void aw_relayed_connection_begin(struct aw_relayed_connection *ret,
	struct aw_egress *traffic, const struct aw_connection *c,
	const struct aw_address *to, uint32_t asked, struct aw_relay_pair *pair);

/* Tells the log of it, and why it was cut. */
void aw_relayed_connection_ended(
	struct aw_relayed_connection *passage, const struct aw_relay_end *end);

#endif
