/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_client.c - reading what a client of the proxy wants, and telling it no. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "supervisor/net/proxy/proxy_internal.h"

enum { SOCKS = 5 };

/* --- its words --- */

/*
 * A look at what has come, behind what is known already.  False: nothing, or the end.
 * What is behind the request stays in the socket, for those who look into connections.
 */
static bool peek(struct aw_conn *conn, size_t *ret_fresh)
{
	ssize_t n = recv(conn->client.fd, conn->in + conn->in_len,
		sizeof(conn->in) - conn->in_len, MSG_DONTWAIT | MSG_PEEK);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		aw_conn_close(conn);
		return false;
	}
	*ret_fresh = (size_t)n;
	return true;
}

static void take(struct aw_conn *conn, size_t len)
{
	if (len && recv(conn->client.fd, conn->in + conn->in_len, len, MSG_DONTWAIT) !=
			   (ssize_t)len)
		aw_conn_close(conn);
	conn->in_len += len;
}

static void say(const struct aw_conn *conn, const void *bytes, size_t len)
{
	send(conn->client.fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* All that may come before a request fits into a socket's empty buffer. */
static enum aw_proxy_said read_greeting(struct aw_conn *conn, size_t len)
{
	static const unsigned char is_open[] = {SOCKS, 0}, none[] = {SOCKS, 0xff};
	bool good = false;
	enum aw_proxy_said said =
		aw_socks_greeting_read((const void *)conn->in, len, &conn->used, &good);

	if (said == AW_PROXY_MORE)
		return said;
	if (said == AW_PROXY_WHOLE)
		say(conn, good ? is_open : none, 2);
	conn->greeted = good;
	if (!good)
		aw_conn_close(conn);
	return said;
}

static enum aw_proxy_said read_socks(struct aw_conn *conn, size_t len)
{
	enum aw_socks_reply reply = AW_SOCKS_FAILED;
	enum aw_proxy_said said;

	if (!conn->greeted)
		return read_greeting(conn, len);
	said = aw_socks_request_read(
		(const void *)conn->in, len, &conn->to, &conn->used, &reply);
	if (said == AW_PROXY_BAD)
		aw_conn_bad(conn, 0, reply,
			"the SOCKS request is not one to connect to a name or address");
	return said;
}

static enum aw_proxy_said read_http(struct aw_conn *conn, size_t len)
{
	struct aw_http_mistake mistake;
	enum aw_proxy_said said =
		aw_http_request_read(conn->in, len, &conn->http, &mistake);

	conn->used = conn->http.head;
	conn->to = conn->http.to;
	if (said == AW_PROXY_BAD)
		aw_conn_bad(conn, mistake.status, AW_SOCKS_FAILED, mistake.reason);
	return said;
}

void aw_conn_read(struct aw_conn *conn)
{
	bool greeted = conn->greeted;
	size_t fresh = 0;
	enum aw_proxy_said said;

	if (!peek(conn, &fresh))
		return;
	conn->socks = greeted || conn->in[0] == SOCKS;
	said = conn->socks ? read_socks(conn, conn->in_len + fresh)
			   : read_http(conn, conn->in_len + fresh);
	if (conn->state != AW_CONN_HEAD)
		return;
	take(conn, said == AW_PROXY_WHOLE ? conn->used - conn->in_len : fresh);
	if (said != AW_PROXY_WHOLE || conn->state != AW_CONN_HEAD)
		return;
	if (conn->socks && !greeted)
		conn->in_len = 0; /* that was the greeting */
	else
		aw_conn_begin(conn);
}

/* --- ours --- */

static const char *phrase(int status)
{
	static const struct {
		int status;
		const char *phrase;
	} phrases[] = {{400, "Bad Request"}, {403, "Forbidden"},
		{408, "Request Timeout"}, {411, "Length Required"},
		{431, "Request Header Fields Too Large"}, {501, "Not Implemented"},
		{502, "Bad Gateway"}, {503, "Service Unavailable"},
		{504, "Gateway Timeout"}, {505, "HTTP Version Not Supported"}};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(*phrases); i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Error";
}

/* One line of signs that any client takes in a header. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

static void answer_http(const struct aw_conn *conn, int status, const char *reason)
{
	char text[2 * AW_CONN_REASON + 256];
	int n = snprintf(text, sizeof(text),
		"HTTP/1.1 %d %s\r\n"
		"Content-Type: text/plain; charset=utf-8\r\n"
		"X-Agentwatch-Reason: %s\r\n"
		"Content-Length: %zu\r\n"
		"Connection: close\r\n\r\n"
		"%s\n",
		status, phrase(status), reason, strlen(reason) + 1, reason);

	say(conn, text, (size_t)n);
}

static void answer_socks(const struct aw_conn *conn, enum aw_socks_reply reply)
{
	const unsigned char bytes[10] = {SOCKS, (unsigned char)reply, 0, 1};

	say(conn, bytes, sizeof(bytes));
}

void aw_conn_refuse(struct aw_conn *conn, int status, enum aw_socks_reply reply,
	const char *fmt, ...)
{
	char reason[AW_CONN_REASON];
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	make_plain(reason);
	if (conn->socks)
		answer_socks(conn, reply);
	else
		answer_http(conn, status, reason);
	shutdown(conn->client.fd, SHUT_WR);
	conn->state = AW_CONN_ANSWER;
	conn->deadline = aw_conn_now() + AW_CONN_ANSWER_MS;
	aw_conn_watch(conn, &conn->client, EPOLLIN);
}

void aw_conn_drain(struct aw_conn *conn)
{
	ssize_t n = recv(conn->client.fd, conn->in, sizeof(conn->in), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		aw_conn_close(conn);
}

size_t aw_conn_agree(const struct aw_conn *conn, char *to, size_t size)
{
	static const unsigned char done[10] = {SOCKS, AW_SOCKS_DONE, 0, 1};

	if (conn->socks) {
		memcpy(to, done, sizeof(done));
		return sizeof(done);
	}
	if (!conn->http.connect)
		return 0;
	return (size_t)snprintf(
		to, size, "HTTP/1.1 200 Connection established\r\n\r\n");
}
