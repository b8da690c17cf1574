/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_outside.c - the other half of a connection, and both into the relay. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/net/proxy/proxy_internal.h"
#include "supervisor/util/cleanup.h"

/* One in the relay; freed at its end. */
struct crossing {
	struct aw_relayed_connection passage;	   /* first: the hooks' context */
	bool (*may_send)(void *ctx, size_t bytes); /* the passage's */
	/* a request of HTTP that is no tunnel: its head and its body, and no more */
	bool bounded;
	uint64_t left;
};

static bool is_plain(const struct aw_conn *conn)
{
	return !conn->socks && !conn->http.connect;
}

static bool has_upstream(const struct aw_conn *conn, enum aw_upstream_kind kind)
{
	return conn->upstream && conn->upstream->kind == kind;
}

/* --- into the relay --- */

static void drop_outside(struct aw_conn *conn)
{
	if (conn->outside.fd < 0)
		return;
	close(conn->outside.fd);
	conn->outside.fd = -1;
}

static bool may_send(void *ctx, size_t bytes)
{
	struct crossing *c = ctx;

	if (c->bounded && bytes > c->left) {
		c->passage.verify.how = "http";
		snprintf(c->passage.verify.why, sizeof(c->passage.verify.why),
			"there is more than one request on a connection to the proxy");
		return false;
	}
	c->left -= c->bounded ? bytes : 0;
	return c->may_send(ctx, bytes);
}

static void ended(void *ctx, const struct aw_relay_end *end)
{
	struct crossing *c = ctx;

	aw_relayed_connection_ended(&c->passage, end);
	free(c);
}

static void forget(const struct aw_conn *conn, struct aw_conn_end *end)
{
	epoll_ctl(conn->server->epoll, EPOLL_CTL_DEL, end->fd, NULL);
	end->fd = -1;
}

/* The request's head as the next one has to have it; owned by the caller. */
static char *write_head(const struct aw_conn *conn, size_t *ret_len)
{
	const struct aw_upstream *up = conn->upstream;
	bool other = up && up->kind == AW_UPSTREAM_HTTP;
	const char *extra = other ? up->authorization : "";
	size_t size = AW_HTTP_WRITTEN(conn->http.head) + strlen(extra);
	char *text = malloc(size);

	if (text)
		*ret_len = aw_http_request_write(&conn->http, other, extra, text, size);
	return text;
}

/* False: no memory. */
static bool relay(struct aw_conn *conn, const char *head, size_t len)
{
	char answer[64];
	AW_FREE struct crossing *c = calloc(1, sizeof(*c));
	struct aw_relay_pair pair = {.inside = conn->client.fd,
		.outside = conn->outside.fd,
		.to_inside = answer,
		.to_inside_len = aw_conn_agree(conn, answer, sizeof(answer)),
		.to_outside = head,
		.to_outside_len = len,
		.ended = ended};

	if (!c)
		return false;
	c->bounded = is_plain(conn) && !conn->http.chunked;
	c->left = len + conn->http.length;
	aw_relayed_connection_begin(&c->passage, conn->server->watch->traffic,
		&conn->is, &conn->judged_as, conn->asked, &pair);
	c->may_send = pair.may_send;
	pair.may_send = may_send;
	if (is_plain(conn)) /* its name is the one that was judged */
		pair.look = NULL;
	forget(conn, &conn->client);
	forget(conn, &conn->outside);
	conn->state = AW_CONN_OVER;
	if (aw_relay_add(conn->server->relay, &pair) == 0)
		aw_take_ptr(&c); /* until its end, which ended() is told of */
	return true;
}

/* Then nothing may follow that could be another request. */
static bool verifies(const struct aw_conn *conn)
{
	return atomic_load(&conn->server->watch->traffic->rules)->verify;
}

static void hand_over(struct aw_conn *conn)
{
	size_t len = 0;
	AW_FREE char *head = is_plain(conn) ? write_head(conn, &len) : NULL;

	if (is_plain(conn) && conn->http.chunked && verifies(conn)) {
		drop_outside(conn);
		aw_conn_refuse(conn, 411, AW_SOCKS_FAILED,
			"network.match_sni needs the length of the body in front");
		return;
	}
	if ((!is_plain(conn) || len) && relay(conn, head, len))
		return;
	drop_outside(conn);
	aw_conn_refuse(conn, 503, AW_SOCKS_FAILED, "out of memory");
}

/* --- the connection --- */

static enum aw_socks_reply reply_of(int err)
{
	switch (err) {
	case ECONNREFUSED:
		return AW_SOCKS_REFUSED;
	case ENETUNREACH:
		return AW_SOCKS_NO_NETWORK;
	case EHOSTUNREACH:
		return AW_SOCKS_NO_HOST;
	case ETIMEDOUT:
		return AW_SOCKS_TIMEOUT;
	default:
		return AW_SOCKS_FAILED;
	}
}

static void fail(struct aw_conn *conn)
{
	const struct aw_proxy_to *to = conn->upstream ? &conn->upstream->at : &conn->to;

	aw_conn_refuse(conn, conn->trouble == ETIMEDOUT ? 504 : 502,
		reply_of(conn->trouble), "%s%s:%u cannot be reached: %s",
		conn->upstream ? "the proxy upstream " : "", to->host,
		(unsigned)to->port, strerror(conn->trouble));
}

static void talk(struct aw_conn *conn)
{
	char reason[AW_CONN_REASON];
	int r = aw_conn_talk(conn, reason, sizeof(reason));

	if (r > 0) {
		hand_over(conn);
	} else if (r < 0) {
		drop_outside(conn);
		aw_conn_refuse(conn, 502, AW_SOCKS_FAILED, "%s", reason);
	} else {
		aw_conn_watch(conn, &conn->outside, EPOLLIN);
	}
}

/* Of several addresses it was this one. */
static void note_address(struct aw_conn *conn)
{
	const unsigned char *bytes = conn->addresses[conn->address_next - 1];

	conn->judged_as = aw_conn_address(conn, bytes);
	conn->is.family = conn->judged_as.family;
	inet_ntop(conn->is.family, conn->judged_as.bytes, conn->is.address,
		sizeof(conn->is.address));
}

static void connected(struct aw_conn *conn)
{
	if (!conn->upstream)
		note_address(conn);
	if (!conn->upstream ||
		(is_plain(conn) && has_upstream(conn, AW_UPSTREAM_HTTP))) {
		hand_over(conn);
		return;
	}
	conn->state = AW_CONN_TALK;
	conn->deadline = aw_conn_now() + AW_CONN_TALK_MS;
	talk(conn);
}

static int begin(struct aw_conn *conn, const unsigned char bytes[16], uint16_t port)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool old = memcmp(bytes, mapped, sizeof(mapped)) == 0;
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	memcpy(&in.sin_addr, bytes + 12, 4);
	memcpy(&in6.sin6_addr, bytes, 16);
	conn->outside.fd = socket(old ? AF_INET : AF_INET6,
		SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (conn->outside.fd < 0)
		return errno;
	return connect(conn->outside.fd, old ? (const void *)&in : (const void *)&in6,
		       old ? sizeof(in) : sizeof(in6)) < 0
		       ? errno
		       : 0;
}

/* The next of the addresses, one after the other, until one takes its time. */
static void try_next(struct aw_conn *conn)
{
	uint16_t port = conn->upstream ? conn->upstream->at.port : conn->to.port;

	while (conn->address_next < conn->address_count) {
		int err = begin(conn, conn->addresses[conn->address_next++], port);

		if (!err) {
			connected(conn);
			return;
		}
		if (err == EINPROGRESS) {
			conn->state = AW_CONN_CONNECT;
			conn->deadline = aw_conn_now() +
					 (conn->address_next < conn->address_count
							 ? AW_CONN_TRY_MS
							 : AW_CONN_CONNECT_MS);
			aw_conn_watch(conn, &conn->outside, EPOLLOUT);
			return;
		}
		conn->trouble = err;
		drop_outside(conn);
	}
	fail(conn);
}

/* What the proxy upstream is asked for: a name, or the address that was judged. */
static void note_target(struct aw_conn *conn)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	const unsigned char *a = conn->addresses[0];
	bool old = memcmp(a, mapped, sizeof(mapped)) == 0;

	conn->sent = conn->to;
	if (conn->to.family || conn->upstream->looks_up)
		return;
	conn->sent.family = old ? AF_INET : AF_INET6;
	memcpy(conn->sent.bytes, old ? a + 12 : a, old ? 4 : 16);
}

static void find_upstream(struct aw_conn *conn)
{
	struct aw_found found = {.count = 1, .addresses = {{[10] = 0xff, [11] = 0xff}}};
	const struct aw_proxy_to *at = &conn->upstream->at;

	note_target(conn);
	if (at->family) {
		memcpy(found.addresses[0] + (at->family == AF_INET ? 12 : 0), at->bytes,
			at->family == AF_INET ? 4 : 16);
		conn->address_count = 0;
		aw_conn_looked_up(conn, &found);
		return;
	}
	conn->address_count = 0;
	conn->state = AW_CONN_LOOKUP;
	conn->deadline = aw_conn_now() + AW_CONN_LOOKUP_MS;
	if (!aw_async_lookup_begin(
		    conn->server->finder, at->host, conn->who.pid, conn->id))
		aw_conn_refuse(conn, 503, AW_SOCKS_FAILED,
			"too many names are being looked up");
}

void aw_conn_connect(struct aw_conn *conn)
{
	if (conn->upstream && !conn->sent.port)
		find_upstream(conn);
	else
		try_next(conn);
}

void aw_conn_outside(struct aw_conn *conn)
{
	socklen_t len = sizeof(conn->trouble);

	if (conn->state == AW_CONN_TALK) {
		talk(conn);
		return;
	}
	if (conn->state != AW_CONN_CONNECT)
		return;
	getsockopt(conn->outside.fd, SOL_SOCKET, SO_ERROR, &conn->trouble, &len);
	if (!conn->trouble) {
		connected(conn);
		return;
	}
	drop_outside(conn);
	try_next(conn);
}

void aw_conn_too_late(struct aw_conn *conn)
{
	bool talking = conn->state == AW_CONN_TALK;

	drop_outside(conn);
	conn->trouble = ETIMEDOUT;
	if (talking)
		aw_conn_refuse(conn, 504, AW_SOCKS_TIMEOUT,
			"the proxy upstream gives no answer");
	else
		try_next(conn);
}
