/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upstream.h - the proxy that the user's own environment names, behind ours.
 *
 * HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY as curl(1) and most others take them:
 * lower case win, a URL with http, socks5 or socks5h and perhaps a user and a
 * password.  Read once, never changed; any number of threads may ask.
 */
#ifndef AW_SUPERVISOR_NET_PROXY_UPSTREAM_H
#define AW_SUPERVISOR_NET_PROXY_UPSTREAM_H

#include <stdbool.h>

#include "policy/error.h"
#include "supervisor/net/proto/proxy_request.h"

enum aw_upstream_kind { AW_UPSTREAM_HTTP, AW_UPSTREAM_SOCKS };

enum { AW_UPSTREAM_WORD = 255 }; /* longest user name and password, RFC 1929 */

struct aw_upstream {
	enum aw_upstream_kind kind;
	bool looks_up; /* it is given names; else addresses that were looked up here */
	struct aw_proxy_to at;
	char user[AW_UPSTREAM_WORD + 1], password[AW_UPSTREAM_WORD + 1];
	/* "Proxy-Authorization: Basic ...\r\n", or "" */
	char authorization[4 * (2 * AW_UPSTREAM_WORD + 1) / 3 + 48];
};

struct aw_upstreams {
	struct aw_upstream *http, *other; /* owned; NULL: directly */
	char *without;			  /* owned; NO_PROXY, or NULL */
};

/* The value of a variable, or NULL; for aw_upstreams_read(). */
typedef const char *(*aw_upstream_getenv)(const char *name);

/* -1 where a variable cannot be used; its name and what is wrong with it are told. */
int aw_upstreams_read(
	aw_upstream_getenv get, struct aw_upstreams *ret, struct aw_error *err);

/*
 * The proxy on the way to a place, or NULL.  plain: an http:// URL, not a tunnel.
 * Loopback is never reached by another proxy.
 */
const struct aw_upstream *aw_upstream_for(
	const struct aw_upstreams *all, const struct aw_proxy_to *to, bool plain);

void aw_upstreams_free(struct aw_upstreams *all);

#endif
