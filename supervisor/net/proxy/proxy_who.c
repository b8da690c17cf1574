/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_who.c - who asks the proxy? */
#include "supervisor/net/proxy/proxy_internal.h"

static void refuse_bad(struct aw_conn *conn, bool known)
{
	const struct aw_conn_mistake *mistake = &conn->mistake;

	aw_watch_warn(conn->server->watch, known ? &conn->who : NULL, "proxy",
		"a request to the proxy was refused: %s", mistake->reason);
	aw_conn_refuse(conn, mistake->status, mistake->reply, "%s", mistake->reason);
}

static void refuse_unknown(struct aw_conn *conn)
{
	aw_watch_warn(conn->server->watch, NULL, "proxy",
		"the proxy was asked for %s:%u by a process that is not of the "
		"session, or cannot be looked at; it was refused",
		conn->to.host, (unsigned)conn->to.port);
	aw_conn_refuse(conn, 403, AW_SOCKS_NOT_ALLOWED,
		"this proxy is for the processes of an agentwatch session, and "
		"the one that asks is none that it can see");
}

static void with_client(struct aw_conn *conn, bool known)
{
	if (conn->mistake.reason)
		refuse_bad(conn, known);
	else if (known)
		aw_conn_set_out(conn);
	else
		refuse_unknown(conn);
}

void aw_conn_looked_at(struct aw_conn *conn, const struct aw_looked *looked)
{
	conn->looked_at = false;
	if (looked->found)
		conn->who = looked->who;
	with_client(conn, looked->found);
}

void aw_conn_begin(struct aw_conn *conn)
{
	struct aw_proxy_server *server = conn->server;
	struct aw_client client;

	aw_conn_watch(conn, &conn->client, 0);
	if (!aw_client_of(server->watch, conn->client.fd, &client)) {
		with_client(conn, false);
	} else if (aw_client_is_known(server->watch, &client, &conn->who)) {
		with_client(conn, true);
	} else if (aw_looks_begin(server->looks, &client, conn->id)) {
		conn->looked_at = true;
		conn->state = AW_CONN_WHO;
		conn->deadline = aw_conn_now() + AW_CONN_WHO_MS;
	} else {
		aw_conn_refuse(conn, 503, AW_SOCKS_FAILED,
			"there are no means to find out which process asks");
	}
}

void aw_conn_bad(
	struct aw_conn *conn, int status, enum aw_socks_reply reply, const char *reason)
{
	conn->mistake = (struct aw_conn_mistake){status, reply, reason};
	aw_conn_begin(conn);
}
