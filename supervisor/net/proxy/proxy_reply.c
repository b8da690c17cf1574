/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_reply.c - what the client of a proxied connection is told, and the end of it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/net/proxy/proxy_internal.h"

uint64_t aw_conn_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void close_end(const struct aw_proxy_server *server, struct aw_conn_end *end)
{
	if (end->fd < 0)
		return;
	epoll_ctl(server->epoll, EPOLL_CTL_DEL, end->fd, NULL);
	close(end->fd);
	end->fd = -1;
}

void aw_conn_close(struct aw_conn *conn)
{
	close_end(conn->server, &conn->client);
	close_end(conn->server, &conn->outside);
	conn->state = AW_CONN_OVER;
}

void aw_conn_watch(struct aw_conn *conn, struct aw_conn_end *end, unsigned events)
{
	struct epoll_event event = {.events = events, .data.ptr = end};
	int epoll = conn->server->epoll;

	if (epoll_ctl(epoll, EPOLL_CTL_MOD, end->fd, &event) < 0 &&
		epoll_ctl(epoll, EPOLL_CTL_ADD, end->fd, &event) < 0)
		aw_conn_close(conn);
}

void aw_conn_say(const struct aw_conn *conn, const void *bytes, size_t len)
{
	send(conn->client.fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

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

	for (size_t i = 0; i < ARRAY_SIZE(phrases); i++)
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

	aw_conn_say(conn, text, (size_t)n);
}

static void answer_socks(const struct aw_conn *conn, enum aw_socks_reply reply)
{
	const unsigned char bytes[10] = {AW_SOCKS_VERSION, (unsigned char)reply, 0, 1};

	aw_conn_say(conn, bytes, sizeof(bytes));
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

size_t aw_conn_agree(const struct aw_conn *conn, char *to, size_t size)
{
	static const unsigned char done[10] = {AW_SOCKS_VERSION, AW_SOCKS_DONE, 0, 1};

	if (conn->socks) {
		memcpy(to, done, sizeof(done));
		return sizeof(done);
	}
	if (!conn->http.connect)
		return 0;
	return (size_t)snprintf(
		to, size, "HTTP/1.1 200 Connection established\r\n\r\n");
}
