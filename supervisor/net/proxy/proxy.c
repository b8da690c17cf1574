/* SPDX-License-Identifier: Apache-2.0 */
/* proxy.c - the proxy's thread: who comes, whose turn it is, whose time is over. */
#include "supervisor/net/proxy/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/linux/netns/netns.h"
#include "supervisor/net/proxy/proxy_internal.h"
#include "supervisor/util/cleanup.h"

enum { CONNECTIONS_MOST = 512, BACKLOG = 128, TICK_MS = 100 };

static struct sockaddr_in home(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
}

/* --- who comes --- */

static void add(struct aw_proxy_server *server, int fd)
{
	struct aw_conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		close(fd);
		return;
	}
	conn->server = server;
	conn->id = ++server->last_id;
	conn->client = (struct aw_conn_end){conn, fd};
	conn->outside = (struct aw_conn_end){conn, -1};
	conn->deadline = aw_conn_now() + AW_CONN_HEAD_MS;
	conn->next = server->all;
	server->all = conn;
	server->count++;
	aw_conn_watch(conn, &conn->client, EPOLLIN);
}

static void listen_for_more(struct aw_proxy_server *server, bool more)
{
	struct epoll_event event = {
		.events = more ? EPOLLIN : 0, .data.ptr = &server->listener};

	epoll_ctl(server->epoll, EPOLL_CTL_MOD, server->listener, &event);
	server->full = !more;
}

/* The oldest that has not said yet what it wants; false: all have. */
static bool let_one_go(struct aw_proxy_server *server)
{
	struct aw_conn *oldest = NULL;

	for (struct aw_conn *c = server->all; c; c = c->next)
		if (c->state == AW_CONN_HEAD)
			oldest = c;
	if (oldest)
		aw_conn_close(oldest); /* sweep() makes the room */
	return oldest;
}

/* With too many of them at work the others wait in the kernel's queue. */
static void accept_some(struct aw_proxy_server *server)
{
	while (server->count < CONNECTIONS_MOST) {
		int fd = accept4(
			server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0)
			add(server, fd);
		else if (errno != ECONNABORTED && errno != EINTR)
			return;
	}
	if (!let_one_go(server))
		listen_for_more(server, false);
}

/* --- whose turn it is --- */

static void on_client(struct aw_conn *conn, unsigned events)
{
	if (conn->state == AW_CONN_HEAD)
		aw_conn_read(conn);
	else if (conn->state == AW_CONN_ANSWER)
		aw_conn_drain(conn);
	else if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP))
		aw_conn_close(conn); /* nobody waits any more */
}

static void on_event(struct aw_proxy_server *server, const struct epoll_event *event)
{
	struct aw_conn_end *end = event->data.ptr;

	if (event->data.ptr == &server->listener) {
		accept_some(server);
		return;
	}
	if (event->data.ptr == &server->wake || event->data.ptr == server->finder ||
		event->data.ptr == server->looks)
		return;
	if (end->conn->state == AW_CONN_OVER)
		return;
	if (end == &end->conn->client)
		on_client(end->conn, event->events);
	else
		aw_conn_outside(end->conn);
}

static void fetch_clients(struct aw_proxy_server *server)
{
	struct aw_looked looked;

	while (aw_looks_next(server->looks, &looked))
		for (struct aw_conn *c = server->all; c; c = c->next)
			if (c->id == looked.id && c->state == AW_CONN_WHO)
				aw_conn_looked_at(c, &looked);
}

static void fetch_addresses(struct aw_proxy_server *server)
{
	struct aw_found found;

	while (aw_async_lookup_next(server->finder, &found))
		for (struct aw_conn *c = server->all; c; c = c->next)
			if (c->id == found.id && c->state == AW_CONN_LOOKUP)
				aw_conn_looked_up(c, &found);
}

/* --- whose time is over --- */

static void too_late(struct aw_conn *conn)
{
	switch (conn->state) {
	case AW_CONN_HEAD:
		if (conn->in_len)
			aw_conn_refuse(conn, 408, AW_SOCKS_FAILED,
				"the request was not whole after %d seconds",
				AW_CONN_HEAD_MS / 1000);
		else
			aw_conn_close(conn);
		break;
	case AW_CONN_WHO:
		aw_conn_refuse(conn, 504, AW_SOCKS_FAILED,
			"finding out which processes hold this connection takes too long");
		break;
	case AW_CONN_LOOKUP:
		aw_conn_refuse(conn, 504, AW_SOCKS_NO_HOST,
			"looking %s up takes too long",
			conn->judged ? conn->upstream->at.host : conn->to.host);
		break;
	case AW_CONN_ASK:
		aw_conn_judge(conn);
		break;
	case AW_CONN_CONNECT:
	case AW_CONN_TALK:
		aw_conn_too_late(conn);
		break;
	default:
		aw_conn_close(conn);
	}
}

/* Nobody need find out anything for it any more. */
static void forget(struct aw_conn *conn)
{
	aw_conn_leave(conn);
	if (conn->looked_at)
		aw_looks_cancel(conn->server->looks, conn->id);
}

static void sweep(struct aw_proxy_server *server)
{
	struct aw_conn **at = &server->all, *conn;
	uint64_t now = aw_conn_now();

	while ((conn = *at)) {
		if (conn->state != AW_CONN_OVER && now >= conn->deadline)
			too_late(conn);
		if (conn->state != AW_CONN_OVER) {
			at = &conn->next;
			continue;
		}
		forget(conn);
		*at = conn->next;
		free(conn);
		server->count--;
	}
}

static void *serve(void *arg)
{
	struct aw_proxy_server *server = arg;
	struct epoll_event events[64];

	prctl(PR_SET_NAME, "aw-proxy");
	while (!atomic_load(&server->ending)) {
		int n = epoll_wait(
			server->epoll, events, 64, server->all ? TICK_MS : -1);

		unsigned door = aw_epoch_enter(&server->watch->readers);

		for (int i = 0; i < n; i++)
			on_event(server, &events[i]);
		fetch_clients(server);
		fetch_addresses(server);
		sweep(server);
		aw_epoch_leave(&server->watch->readers, door);
		if (server->full && server->count < CONNECTIONS_MOST)
			listen_for_more(server, true);
	}
	return NULL;
}

/* --- from its start to its end --- */

int aw_proxy_reserve(int *ret_fd, uint16_t *ret_port, struct aw_error *err)
{
	AW_CLOSE int fd =
		socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in address = home(0);
	socklen_t len = sizeof(address);

	if (fd < 0 || bind(fd, (const void *)&address, len) < 0 ||
		getsockname(fd, (void *)&address, &len) < 0)
		return aw_fail(err, errno,
			"network.proxy: taking a port of 127.0.0.1: %s",
			strerror(errno));
	*ret_port = ntohs(address.sin_port);
	*ret_fd = aw_take_fd(&fd);
	return 0;
}

/* In the sandbox's own network the same port is free, since nothing runs there yet. */
static int open_listener(const struct aw_proxy_params *params, struct aw_error *err)
{
	const struct sockaddr_in address = home(params->port);
	int fd;

	fd = params->watch->netns ? aw_netns_socket(params->watch->netns, AF_INET,
					    SOCK_STREAM | SOCK_NONBLOCK, 0,
					    (const void *)&address, sizeof(address))
				  : dup(params->reserved);
	if (fd < 0)
		return aw_fail(err, params->watch->netns ? -fd : errno,
			"network.proxy: taking port %u of 127.0.0.1: %s",
			(unsigned)params->port,
			strerror(params->watch->netns ? -fd : errno));
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (listen(fd, BACKLOG) == 0)
		return fd;
	aw_fail(err, errno, "network.proxy: listening: %s", strerror(errno));
	close(fd);
	return -1;
}

static bool expect(struct aw_proxy_server *server, int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static int prepare(struct aw_proxy_server *server, const struct aw_proxy_params *params,
	struct aw_error *err)
{
	server->listener = open_listener(params, err);
	if (server->listener < 0 || aw_async_lookup_create(&server->finder, err) < 0 ||
		aw_looks_create(server->watch, &server->looks, err) < 0)
		return -1;
	server->hosts = aw_hosts_new("/etc/hosts");
	if (!server->hosts)
		return aw_fail(err, ENOMEM, "network.proxy: out of memory");
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->epoll < 0 || server->wake < 0 ||
		!expect(server, server->listener, &server->listener) ||
		!expect(server, server->wake, &server->wake) ||
		!expect(server, aw_looks_fd(server->looks), server->looks) ||
		!expect(server, aw_async_lookup_fd(server->finder), server->finder))
		return aw_fail(err, errno, "network.proxy: %s", strerror(errno));
	return 0;
}

static void release(struct aw_proxy_server *server)
{
	struct aw_conn *next;

	for (struct aw_conn *conn = server->all; conn; conn = next) {
		next = conn->next;
		aw_conn_close(conn);
		forget(conn);
		free(conn);
	}
	aw_looks_free(server->looks);
	aw_async_lookup_free(server->finder);
	aw_hosts_free(server->hosts);
	aw_cleanup_close(&server->listener);
	aw_cleanup_close(&server->epoll);
	aw_cleanup_close(&server->wake);
	free(server);
}

int aw_proxy_start(const struct aw_proxy_params *params, struct aw_proxy_server **ret,
	struct aw_error *err)
{
	struct aw_proxy_server *server = calloc(1, sizeof(*server));

	if (!server)
		return aw_fail(err, ENOMEM, "network.proxy: out of memory");
	server->watch = params->watch;
	server->relay = params->relay;
	server->upstreams = params->upstreams;
	server->network = params->network;
	server->port = params->port;
	server->listener = server->epoll = server->wake = -1;
	if (prepare(server, params, err) < 0 ||
		(pthread_create(&server->thread, NULL, serve, server) != 0 &&
			aw_fail(err, EAGAIN, "network.proxy: starting its thread"))) {
		release(server);
		return -1;
	}
	if (params->watch->traffic)
		atomic_store(&params->watch->traffic->clients.port, params->port);
	*ret = server;
	return 0;
}

void aw_proxy_stop(struct aw_proxy_server *server)
{
	if (!server)
		return;
	atomic_store(&server->ending, true);
	eventfd_write(server->wake, 1);
	pthread_join(server->thread, NULL);
	release(server);
}
