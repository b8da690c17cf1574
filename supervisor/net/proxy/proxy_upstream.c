/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_upstream.c - asking another proxy for the way: CONNECT, or SOCKS 5. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/array.h"
#include "supervisor/net/proxy/proxy_internal.h"

enum { SOCKS = 5, OPEN = 0, PASSWORD = 2, PASSWORD_VERSION = 1 };

/* Steps of both talks: what is to be said, then what is to be heard. */
enum { SAY_FIRST, HEAR_METHOD, HEAR_PASSWORD, HEAR_ANSWER };

/* Small words on a fresh connection; false with the reason. */
static bool say(
	struct aw_conn *conn, const void *bytes, size_t len, char *reason, size_t size)
{
	if (send(conn->outside.fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len)
		return true;
	snprintf(reason, size, "the proxy upstream does not listen: %s",
		strerror(errno));
	return false;
}

/*
 * A look at what has come, behind what is known; what is not part of an answer stays
 * in the socket.  1, 0: nothing yet, -1 with the reason.
 */
static int peek(struct aw_conn *conn, size_t *ret_len, char *reason, size_t size)
{
	ssize_t n = recv(conn->outside.fd, conn->talk, sizeof(conn->talk),
		MSG_PEEK | MSG_DONTWAIT);

	if (n > 0) {
		*ret_len = (size_t)n;
		return 1;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	snprintf(reason, size, "the proxy upstream has hung up without an answer");
	return -1;
}

static void take(struct aw_conn *conn, size_t len)
{
	recv(conn->outside.fd, conn->talk, len, MSG_DONTWAIT);
}

static int no(char *reason, size_t size, const char *what)
{
	snprintf(reason, size, "%s", what);
	return -1;
}

/* --- HTTP --- */

static bool say_connect(struct aw_conn *conn, char *reason, size_t size)
{
	const struct aw_proxy_to *to = &conn->sent;
	const char *form = strchr(to->host, ':') ? "[%s]:%u" : "%s:%u";
	char place[AW_PROXY_HOST + 16], text[2 * sizeof(place) + 1024];
	int n;

	snprintf(place, sizeof(place), form, to->host, (unsigned)to->port);
	n = snprintf(text, sizeof(text), "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n",
		place, place, conn->upstream->authorization);
	return say(conn, text, (size_t)n, reason, size);
}

/* "HTTP/1.1 200 ..." up to the empty line. */
static int hear_http(struct aw_conn *conn, size_t len, char *reason, size_t size)
{
	const char *end = memmem(conn->talk, len, "\r\n\r\n", 4);

	if (!end)
		return len < sizeof(conn->talk)
			       ? 0
			       : no(reason, size,
					 "the answer of the proxy upstream has no end");
	len = (size_t)(end - conn->talk) + 4;
	if (len < 16 || memcmp(conn->talk, "HTTP/1.", 7) != 0 || conn->talk[8] != ' ')
		return no(reason, size, "the proxy upstream does not speak HTTP/1");
	if (conn->talk[9] != '2') {
		snprintf(reason, size, "the proxy upstream (%s:%u) answers: %.*s",
			conn->upstream->at.host, (unsigned)conn->upstream->at.port,
			(int)strcspn(conn->talk + 9, "\r\n"), conn->talk + 9);
		return -1;
	}
	take(conn, len);
	return 1;
}

static int talk_http(struct aw_conn *conn, char *reason, size_t size)
{
	size_t len;
	int r;

	if (conn->step == SAY_FIRST) {
		conn->step = HEAR_ANSWER;
		return say_connect(conn, reason, size) ? 0 : -1;
	}
	r = peek(conn, &len, reason, size);
	return r > 0 ? hear_http(conn, len, reason, size) : r;
}

/* --- SOCKS --- */

static bool say_request(struct aw_conn *conn, char *reason, size_t size)
{
	unsigned char bytes[AW_SOCKS_REQUEST];

	conn->step = HEAR_ANSWER;
	return say(
		conn, bytes, aw_socks_request_write(&conn->sent, bytes), reason, size);
}

static bool say_password(struct aw_conn *conn, char *reason, size_t size)
{
	const struct aw_upstream *up = conn->upstream;
	unsigned char bytes[3 + 2 * AW_UPSTREAM_WORD];
	size_t user = strlen(up->user), password = strlen(up->password);

	conn->step = HEAR_PASSWORD;
	bytes[0] = PASSWORD_VERSION;
	bytes[1] = (unsigned char)user;
	memcpy(bytes + 2, up->user, user);
	bytes[2 + user] = (unsigned char)password;
	memcpy(bytes + 3 + user, up->password, password);
	return say(conn, bytes, 3 + user + password, reason, size);
}

static int hear_method(struct aw_conn *conn, size_t len, char *reason, size_t size)
{
	unsigned char version = (unsigned char)conn->talk[0],
		      method = len > 1 ? (unsigned char)conn->talk[1] : 0;

	if (len < 2)
		return 0;
	if (version != SOCKS)
		return no(reason, size, "the proxy upstream does not speak SOCKS 5");
	take(conn, 2);
	if (method == OPEN)
		return say_request(conn, reason, size) ? 0 : -1;
	if (method == PASSWORD && conn->upstream->user[0])
		return say_password(conn, reason, size) ? 0 : -1;
	return no(reason, size,
		"the proxy upstream wants another kind of login than the URL has");
}

static int hear_password(struct aw_conn *conn, size_t len, char *reason, size_t size)
{
	if (len < 2)
		return 0;
	if (conn->talk[1])
		return no(reason, size,
			"the proxy upstream takes neither the user nor the password");
	take(conn, 2);
	return say_request(conn, reason, size) ? 0 : -1;
}

static int hear_socks(struct aw_conn *conn, size_t len, char *reason, size_t size)
{
	static const char *const replies[] = {"", "it failed", "it may not",
		"no network", "no such host", "connection refused", "timed out",
		"no such command", "no such address type"};
	unsigned char reply = 0;
	size_t used;

	switch (aw_socks_answer_read((const void *)conn->talk, len, &used, &reply)) {
	case AW_PROXY_MORE:
		return 0;
	case AW_PROXY_BAD:
		return no(reason, size, "the proxy upstream does not speak SOCKS 5");
	case AW_PROXY_WHOLE:
		break;
	}
	if (reply) {
		snprintf(reason, size, "the proxy upstream (%s:%u) answers: %s (%u)",
			conn->upstream->at.host, (unsigned)conn->upstream->at.port,
			reply < ARRAY_SIZE(replies) ? replies[reply] : "no", reply);
		return -1;
	}
	take(conn, used);
	return 1;
}

static int talk_socks(struct aw_conn *conn, char *reason, size_t size)
{
	const unsigned char greeting[4] = {
		SOCKS, conn->upstream->user[0] ? 2 : 1, OPEN, PASSWORD};
	size_t len;
	int r;

	if (conn->step == SAY_FIRST) {
		conn->step = HEAR_METHOD;
		return say(conn, greeting, 2 + (size_t)greeting[1], reason, size) ? 0
										  : -1;
	}
	r = peek(conn, &len, reason, size);
	if (r <= 0)
		return r;
	if (conn->step == HEAR_METHOD)
		return hear_method(conn, len, reason, size);
	if (conn->step == HEAR_PASSWORD)
		return hear_password(conn, len, reason, size);
	return hear_socks(conn, len, reason, size);
}

int aw_conn_talk(struct aw_conn *conn, char *reason, size_t size)
{
	if (conn->upstream->kind == AW_UPSTREAM_SOCKS)
		return talk_socks(conn, reason, size);
	return talk_http(conn, reason, size);
}
