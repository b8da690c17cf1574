/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_request.h - what a client says to a proxy: HTTP/1 requests and SOCKS 5.
 *
 * Pure functions over bytes that came from somebody hostile: no I/O, no allocation,
 * time is bounded by the length.  What two readers could take for two different
 * things (RFC 9112, section 11) is refused, so that where a request goes is never a
 * matter of opinion.  Any number of threads may ask.
 */
#ifndef AW_SUPERVISOR_NET_PROTO_PROXY_REQUEST_H
#define AW_SUPERVISOR_NET_PROTO_PROXY_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/net/proto/http_span.h"

#define AW_PROXY_HOST 253 /* longest name, RFC 1035 */

/* Where a client wants to go. */
struct aw_proxy_to {
	char host[AW_PROXY_HOST + 1]; /* lower case, no dot at the end */
	int family;		      /* of a literal address; 0: host is a name */
	unsigned char bytes[16];      /* of a literal address; 4 used for AF_INET */
	uint16_t port;
};

/*
 * A name or a literal address (IPv6 with or without brackets) into host, family and
 * bytes.  False for what is neither: empty or long labels, odd bytes, numbers that only
 * some take for an address (127.1, 0x7f000001).
 */
bool aw_proxy_host_read(const char *text, size_t len, struct aw_proxy_to *ret);

/* As aw_proxy_host_read(), then ":port"; 0 as fallback: there has to be one. */
bool aw_proxy_authority_read(
	const char *text, size_t len, uint16_t fallback, struct aw_proxy_to *ret);

/* A reader's answer. */
enum aw_proxy_said {
	AW_PROXY_MORE,	/* no mistake so far, but it goes on */
	AW_PROXY_WHOLE, /* *ret is filled in */
	AW_PROXY_BAD,
};

/* --- HTTP/1 --- */

enum {
	AW_HTTP_HEAD = 16384, /* a longer head is refused */
	AW_HTTP_FIELDS = 100, /* and so are more fields */
};

/* The head of a request; spans point into the bytes that were read. */
struct aw_http_request {
	struct aw_proxy_to to;
	bool connect; /* CONNECT: bytes follow that are nobody's business */
	bool old;     /* HTTP/1.0 */
	struct aw_http_span method, path; /* path: "/..." with its query */
	struct aw_http_span names[AW_HTTP_FIELDS], values[AW_HTTP_FIELDS];
	size_t fields;
	size_t head;	 /* length of the head, with the empty line */
	bool chunked;	 /* the body has its length in it */
	uint64_t length; /* of the body, else */
};

struct aw_http_mistake {
	int status;	    /* 400, 414, 431, 501, 505 */
	const char *reason; /* one sentence, without a full stop */
};

/* A head is whole within AW_HTTP_HEAD bytes or bad; *ret_mistake is for AW_PROXY_BAD. */
enum aw_proxy_said aw_http_request_read(const char *bytes, size_t len,
	struct aw_http_request *ret, struct aw_http_mistake *ret_mistake);

/* Room that writing any request of such a length may need, without extra. */
#define AW_HTTP_WRITTEN(head) ((head) + AW_HTTP_FIELDS + 2 * AW_PROXY_HOST + 64)

/*
 * The head of a request (not of a CONNECT) for the next one on the way: fields that are
 * between client and proxy are left out, and it is the last of its connection.
 * absolute: for another proxy, to which `extra` says who we are (whole lines, or "").
 * The length, or 0 where size is too small.
 */
size_t aw_http_request_write(const struct aw_http_request *request, bool absolute,
	const char *extra, char *to, size_t size);

/* --- SOCKS 5 (RFC 1928) --- */

enum aw_socks_reply {
	AW_SOCKS_DONE,
	AW_SOCKS_FAILED,
	AW_SOCKS_NOT_ALLOWED,
	AW_SOCKS_NO_NETWORK,
	AW_SOCKS_NO_HOST,
	AW_SOCKS_REFUSED,
	AW_SOCKS_TIMEOUT,
	AW_SOCKS_NO_COMMAND,
	AW_SOCKS_NO_ADDRESS, /* of that type */
};

/* Longest greeting and request. */
enum { AW_SOCKS_GREETING = 257, AW_SOCKS_REQUEST = 262 };

/* *ret_open: the client goes on without a password. */
enum aw_proxy_said aw_socks_greeting_read(
	const unsigned char *bytes, size_t len, size_t *ret_len, bool *ret_open);

/* A CONNECT; *ret_reply says what to answer to a bad one. */
enum aw_proxy_said aw_socks_request_read(const unsigned char *bytes, size_t len,
	struct aw_proxy_to *ret, size_t *ret_len, enum aw_socks_reply *ret_reply);

/* The same for a proxy upstream, where a name is left to it; the length. */
size_t aw_socks_request_write(
	const struct aw_proxy_to *to, unsigned char bytes[AW_SOCKS_REQUEST]);

/* The answer to a request, ret_reply being what it says. */
enum aw_proxy_said aw_socks_answer_read(const unsigned char *bytes, size_t len,
	size_t *ret_len, unsigned char *ret_reply);

#endif
