/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_hello.h - which server does a TLS client ask for?
 *
 * The first message of a client (RFC 8446, 4.1.2; the same since TLS 1.0) names the
 * server in the clear (RFC 6066, 3: server_name).  With Encrypted Client Hello it is
 * the outer name, that of who the server hides behind.  What comes is hostile: a
 * message that two readers could take for two things is refused.  Pure functions over
 * bytes: no I/O, no allocation, time is bounded by the length.  Any number of threads
 * may ask.
 */
#ifndef AW_SUPERVISOR_NET_PROTO_TLS_HELLO_H
#define AW_SUPERVISOR_NET_PROTO_TLS_HELLO_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/net/proto/proxy_request.h"

enum { AW_TLS_HELLO = 16384 }; /* a longer message is refused */

enum aw_tls_said {
	AW_TLS_MORE,  /* no mistake so far, but it goes on */
	AW_TLS_OTHER, /* this is not TLS */
	AW_TLS_NAMED, /* ret->host is a name, or the text of an address */
	AW_TLS_NAMELESS,
	AW_TLS_BROKEN,
};

struct aw_tls_hello {
	struct aw_proxy_to to; /* AW_TLS_NAMED; without a port */
	bool encrypted;	       /* there is an inner message that we cannot read */
	const char *mistake;   /* AW_TLS_BROKEN: half a sentence */
};

/* bytes: all that the client has said so far. */
enum aw_tls_said aw_tls_hello_read(
	const unsigned char *bytes, size_t len, struct aw_tls_hello *ret);

#endif
