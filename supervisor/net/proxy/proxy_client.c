/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_client.c - reading what a client of the proxy wants. */
#include <errno.h>
#include <sys/socket.h>

#include "supervisor/net/proxy/proxy_internal.h"

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

/* All that may come before a request fits into a socket's empty buffer. */
static enum aw_proxy_said read_greeting(struct aw_conn *conn, size_t len)
{
	static const unsigned char is_open[] = {AW_SOCKS_VERSION, 0},
				   none[] = {AW_SOCKS_VERSION, 0xff};
	bool good = false;
	enum aw_proxy_said said =
		aw_socks_greeting_read((const void *)conn->in, len, &conn->used, &good);

	if (said == AW_PROXY_MORE)
		return said;
	if (said == AW_PROXY_WHOLE)
		aw_conn_say(conn, good ? is_open : none, 2);
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
	conn->socks = greeted || conn->in[0] == AW_SOCKS_VERSION;
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

void aw_conn_drain(struct aw_conn *conn)
{
	ssize_t n = recv(conn->client.fd, conn->in, sizeof(conn->in), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		aw_conn_close(conn);
}
