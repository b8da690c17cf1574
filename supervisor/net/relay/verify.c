/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - the names that are asked for over a connection, against the policy. */
#include "supervisor/net/relay/verify.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/net/proto/tls_hello.h"

void aw_verify_init(struct aw_verify *verify,
	const struct aw_image *const _Atomic *image, uint32_t profiles, uint32_t asked,
	const struct aw_address *to)
{
	memset(verify, 0, sizeof(*verify));
	verify->image = image;
	verify->profiles = profiles;
	verify->rule = asked;
	verify->asked = atomic_load(image);
	verify->to = *to;
	verify->to.host = NULL;
	verify->port = to->port;
	verify->decision = (struct aw_decision){AW_DENY, AW_NO_RULE};
}

static bool admits(struct aw_verify *v, const struct aw_address *to)
{
	const struct aw_image *image = atomic_load(v->image);

	aw_image_decide_address_in(image, v->profiles, AW_CONNECT, to, &v->decision);
	return v->decision.verdict == AW_ALLOW ||
	       (v->decision.verdict == AW_ASK && v->decision.rule != AW_NO_RULE &&
		       v->decision.rule == v->rule && image == v->asked);
}

bool aw_verify_nameless(struct aw_verify *v)
{
	/* what goes on beyond a proxy was judged when it was asked to connect */
	return v->beyond || admits(v, &v->to);
}

static enum aw_relay_look cut(struct aw_verify *v, const char *how, const char *why)
{
	v->how = how;
	if (v->decision.verdict == AW_ALLOW) /* that was about something before */
		v->decision.rule = AW_NO_RULE;
	snprintf(v->why, sizeof(v->why), "%s", why);
	return AW_RELAY_CUT;
}

static enum aw_relay_look nameless(
	struct aw_verify *v, const char *how, const char *what)
{
	char why[sizeof(v->why)];

	if (aw_verify_nameless(v))
		return AW_RELAY_PASS;
	snprintf(why, sizeof(why), "%s, and no rule allows the address itself", what);
	return cut(v, how, why);
}

/* far: it is spoken to by way of somebody else, wherever that is. */
static bool may_name(struct aw_verify *v, const struct aw_proxy_to *name, bool far)
{
	struct aw_address to = v->to;

	to.port = far ? name->port : v->port;
	if (name->family) {
		to.family = name->family;
		memcpy(to.bytes, name->bytes, sizeof(to.bytes));
	} else {
		to.host = name->host;
		if (far || v->beyond)
			memset(to.bytes, 0, sizeof(to.bytes));
	}
	if (admits(v, &to))
		return true;
	snprintf(v->name, sizeof(v->name), "%s", name->host);
	return false;
}

static enum aw_relay_look refuse_name(
	struct aw_verify *v, const char *how, const char *says, uint16_t port)
{
	char why[sizeof(v->why)];

	snprintf(why, sizeof(why), "%s names a host that is not allowed at port %u%s",
		says, (unsigned)port, v->name[0] ? "" : " (network.match_sni)");
	return cut(v, how, why);
}

static enum aw_relay_look mistake(
	struct aw_verify *v, const char *how, const char *what, const char *why)
{
	char text[sizeof(v->why)];

	snprintf(text, sizeof(text), "%s cannot be judged: %s", what, why);
	return cut(v, how, text);
}

static enum aw_relay_look look_at_tls(
	struct aw_verify *v, const unsigned char *bytes, size_t len, bool *ret_other)
{
	struct aw_tls_hello hello;

	switch (aw_tls_hello_read(bytes, len, &hello)) {
	case AW_TLS_MORE:
		return AW_RELAY_MORE;
	case AW_TLS_OTHER:
		*ret_other = true;
		return AW_RELAY_MORE;
	case AW_TLS_NAMED:
		return may_name(v, &hello.to, false)
			       ? AW_RELAY_PASS
			       : refuse_name(v, "tls", "server_name", v->port);
	case AW_TLS_NAMELESS:
		return nameless(v, "tls", "the client names no server");
	case AW_TLS_BROKEN:
		break;
	}
	return mistake(v, "tls", "what the client says first", hello.mistake);
}

/* All that one request asks for. */
static enum aw_relay_look look_at_request(
	struct aw_verify *v, const struct aw_http_asks *asks)
{
	for (unsigned i = 0; i < asks->count; i++) {
		bool far = asks->connect ? i + 1 == asks->count
					 : asks->to[i].port != v->port;
		/* of a CONNECT the name before the last is what Host says */

		if (!may_name(v, &asks->to[i], far))
			return refuse_name(v, "http", far ? "the request" : "Host",
				far ? asks->to[i].port : v->port);
	}
	if (!asks->count)
		return nameless(v, "http", "the request names no host");
	if (asks->connect) {
		v->port = asks->to[asks->count - 1].port;
		v->beyond = true;
	}
	return AW_RELAY_PASS;
}

static enum aw_relay_look look_at_other(
	struct aw_verify *v, const unsigned char *bytes, size_t len)
{
	enum aw_relay_look look;
	bool other = false;

	if (!v->http)
		return nameless(v, NULL, "this is neither TLS nor HTTP/1");
	look = look_at_tls(v, bytes, len, &other); /* through a proxy */
	return other ? AW_RELAY_PASS : look;
}

/* As many requests and bodies as are there. */
static enum aw_relay_look look_at_http(
	struct aw_verify *v, const unsigned char *bytes, size_t len, size_t *ret_on)
{
	struct aw_http_asks asks;
	enum aw_relay_look look;

	for (;;) {
		switch (aw_http_stream_next(&v->stream, (const char *)bytes + *ret_on,
			len - *ret_on, v->port, &asks)) {
		case AW_HTTP_MORE:
			return *ret_on ? AW_RELAY_PART : AW_RELAY_MORE;
		case AW_HTTP_OTHER:
			look = look_at_other(v, bytes + *ret_on, len - *ret_on);
			return look == AW_RELAY_MORE && *ret_on ? AW_RELAY_PART : look;
		case AW_HTTP_BROKEN:
			return mistake(v, "http", "the request", asks.mistake);
		case AW_HTTP_ASKS:
			look = look_at_request(v, &asks);
			if (look == AW_RELAY_CUT)
				return look;
			v->http = true;
			break;
		case AW_HTTP_PASSES:
			break;
		}
		*ret_on += asks.len;
	}
}

enum aw_relay_look aw_verify_look(
	void *ctx, const unsigned char *bytes, size_t len, size_t *ret_on)
{
	struct aw_verify *v = ctx;
	enum aw_relay_look look;
	bool other = v->http;

	*ret_on = 0;
	if (!v->begun)
		v->stream.usual = admits(v, &v->to);
	v->begun = true;
	if (!other) {
		look = look_at_tls(v, bytes, len, &other);
		if (!other)
			return look;
	}
	return look_at_http(v, bytes, len, ret_on);
}
