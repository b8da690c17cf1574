/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - the names that are asked for over a connection, against the policy.
 *
 * A server may have many names, and a rule that allows one of them lets a program reach
 * the address of all.  So what a client says in the clear is looked at
 * (supervisor/net/proto/tls_hello.h, supervisor/net/proto/http_host.h): each name has
 * to be allowed at the port. What names nobody, which is so for other protocols, goes
 * where a rule is about the address itself.
 */
#ifndef AW_SUPERVISOR_NET_RELAY_VERIFY_H
#define AW_SUPERVISOR_NET_RELAY_VERIFY_H

#include "policy/image/image.h"
#include "supervisor/net/proto/http_host.h"
#include "supervisor/net/relay/relay.h"

/* One connection; set up by aw_verify_init(). */
struct aw_verify {
	const struct aw_image *const _Atomic *image; /* borrowed: that of the moment */
	uint32_t profiles, rule;
	const struct aw_image *asked; /* the image that rule is of; not followed */
	struct aw_address to;	      /* where it leads; without a name */
	bool begun, http;
	uint16_t port; /* of what is spoken to: to's, or that of a CONNECT */
	bool beyond;   /* a CONNECT went through */
	struct aw_http_stream stream;
	/* why it was cut */
	const char *how; /* "tls", "http"; NULL: neither */
	char name[AW_PROXY_HOST + 1];
	char why[192];
	struct aw_decision decision;
};

/*
 * image is followed inside of these functions alone: watch->readers.  to->host is left
 * out.  asked: the rule that a human was asked because of, and said
 * yes; or AW_NO_RULE.
 */
void aw_verify_init(struct aw_verify *verify,
	const struct aw_image *const _Atomic *image, uint32_t profiles, uint32_t asked,
	const struct aw_address *to);

/* May what names nobody go there? */
bool aw_verify_nameless(struct aw_verify *verify);

/* The hook of a relay; ctx is the struct aw_verify. */
enum aw_relay_look aw_verify_look(
	void *ctx, const unsigned char *bytes, size_t len, size_t *ret_on);

#endif
