/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_host.h - which hosts do the requests on a connection ask for?
 *
 * Follows what an HTTP/1 client says (RFC 9112) from request to request, past their
 * bodies.  Whatever two readers could take for two things is refused, as the server
 * would be the other one: lines end in CRLF, nothing is folded, the length of a body is
 * said once.  Pure functions over bytes: no I/O, no allocation.  Any number of threads
 * may ask, each about its own stream.
 */
#ifndef AW_SUPERVISOR_NET_PROTO_HTTP_HOST_H
#define AW_SUPERVISOR_NET_PROTO_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/net/proto/proxy_request.h"

/* Zero is one that begins. */
struct aw_http_stream {
	enum {
		AW_HTTP_AT_HEAD,
		AW_HTTP_AT_BODY,
		AW_HTTP_AT_CHUNK, /* at the line with its size */
		AW_HTTP_AT_DATA,  /* in it */
		AW_HTTP_AT_END,	  /* at the end of line behind it */
		AW_HTTP_AT_TRAILER,
	} at;
	uint64_t left; /* of the body or chunk */
	/*
	 * Set at the start: what begins as none of the usual methods does is another
	 * protocol, so that one of few letters is not waited for.
	 */
	bool usual;
	enum {
		AW_HTTP_FIRST,
		AW_HTTP_BOUND,	  /* only another request may follow */
		AW_HTTP_SWITCHED, /* after CONNECT or Upgrade: something else, too */
	} next;
};

enum aw_http_said {
	AW_HTTP_MORE,	/* no mistake so far, but it goes on */
	AW_HTTP_OTHER,	/* this is not HTTP/1: at the start, or after CONNECT or Upgrade
			 */
	AW_HTTP_ASKS,	/* the head of a request */
	AW_HTTP_PASSES, /* bytes of a body, or around them */
	AW_HTTP_BROKEN,
};

struct aw_http_asks {
	size_t len; /* AW_HTTP_ASKS, AW_HTTP_PASSES: so many bytes are over and done */
	unsigned count; /* of places that are asked for; a request may do without
			 */
	struct aw_proxy_to to[2]; /* what Host says, what the request line says */
	bool connect;	     /* CONNECT: the last of these is spoken to from now on */
	const char *mistake; /* AW_HTTP_BROKEN: half a sentence */
};

/*
 * What comes next; bytes are those behind the ones that were over and done.  port is
 * that of the connection, which Host does not have to repeat: it is the one in ret.
 */
enum aw_http_said aw_http_stream_next(struct aw_http_stream *stream, const char *bytes,
	size_t len, uint16_t port, struct aw_http_asks *ret);

#endif
