/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_connect.c - connect for a target, once it may be done. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "policy/private.h"
#include "supervisor/linux/sockets/connecting.h"
#include "supervisor/linux/sockets/emulate_net.h"
#include "supervisor/linux/sockets/emulate_relay.h"
#include "supervisor/linux/sockets/name_route.h"
#include "supervisor/linux/sockets/socket_replace.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/net/egress/egress.h"
#include "supervisor/util/cleanup.h"

static int connect_to(
	struct aw_notified *call, int fd, const struct aw_emulate_address *address)
{
	return aw_connecting_to(
		call->watch, fd, address->route, &address->any, address->len);
}

/* Nobody has the name inside: it was meant to be outside. */
static int connect_outside(
	struct aw_socket_replacement *swap, const void *address, size_t len)
{
	int err = aw_replace_make(swap, AW_ROUTE_OUTSIDE);

	if (err || swap->fd < 0)
		return err ? err : ECONNREFUSED;
	err = aw_connecting_to(swap->watch, swap->fd, AW_ROUTE_OUTSIDE, address, len);
	if (!err)
		err = aw_replace_put(swap);
	aw_close(aw_take_fd(&swap->fd));
	return err;
}

static long connect_waiting(struct aw_waiting *waiting)
{
	struct aw_socket_replacement *swap = waiting->data;
	int err = aw_connecting_to(waiting->watch, waiting->fd, waiting->route,
		waiting->address, waiting->address_len);

	if (swap && err == ECONNREFUSED) {
		swap->old = waiting->fd;
		err = connect_outside(swap, waiting->address, waiting->address_len);
	}
	errno = err;
	return err ? -1 : 0;
}

/* What connect_promptly() has begun: one call for who waits. */
static long connect_begun(struct aw_waiting *waiting)
{
	int err = aw_connecting_to(waiting->watch, waiting->fd, waiting->route,
		waiting->address, waiting->address_len);

	errno = err == EALREADY ? EINPROGRESS : err; /* its timeout has come */
	return err ? -1 : 0;
}

/* Answers come at once, unless a queue is full: on this machine's loopback, by file. */
static bool is_near(const struct aw_emulate_address *address)
{
	struct aw_address to;

	aw_address_of(&address->any, &to);
	return to.family == AF_UNIX ||
	       ((to.family == AF_INET || to.family == AF_INET6) &&
		       aw_address_is_loopback(&to));
}

/*
 * Without another thread, which would have to be woken first; the socket's own timeout
 * keeps us from waiting (socket(7), SO_SNDTIMEO: a connect goes on by itself then).
 * False: it has to be waited for.
 */
static bool connect_promptly(struct aw_notified *call, int fd,
	const struct aw_emulate_address *address, struct aw_waiting *waiting)
{
	const struct timeval least = {.tv_usec = 1};
	struct timeval patience;
	socklen_t len = sizeof(patience);
	int err;

	if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, &len) < 0)
		return false;
	err = aw_creds_assume(call->watch, &call->target);
	if (!err) {
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &least, sizeof(least));
		err = connect_to(call, fd, address);
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, len);
		aw_creds_restore();
	}
	if (err == EINPROGRESS || err == EINTR)
		waiting->work = connect_begun;
	if (err == EINPROGRESS || err == EALREADY || err == EAGAIN || err == EINTR)
		return false;
	aw_emulate_answer(call, -err);
	return true;
}

/* The proxy will ask who this is. */
static void note_client(const struct aw_notified *call, int fd,
	const struct aw_emulate_address *address)
{
	struct aw_egress *traffic = call->watch->traffic;
	struct stat st;

	if (traffic && address->any.family == AF_INET && address->any.in.sin_port &&
		ntohs(address->any.in.sin_port) ==
			atomic_load(&traffic->clients.port) &&
		fstat(fd, &st) == 0)
		aw_client_note(&traffic->clients, st.st_ino, call->target.who.pid,
			(int)call->args[0]);
}

/*
 * A server far away, or one with a full queue, may let us wait: by then the target has
 * the socket that it waits for, as it has to when a signal ends the waiting.
 */
static void connect_patiently(
	struct aw_notified *call, int *fd, struct aw_emulate_address *address)
{
	struct aw_waiting waiting = {.watch = call->watch,
		.id = call->id,
		.target = call->target,
		.address_len = address->len,
		.route = address->route,
		.work = connect_waiting};
	int err = aw_replace_change(call, fd, address->route);

	if (err) {
		aw_emulate_answer(call, -err);
		return;
	}
	aw_relay_note(call, *fd, address);
	aw_name_route_note(call, *fd, address);
	note_client(call, *fd, address);
	if (address->route == AW_ROUTE_EITHER) {
		struct aw_socket_replacement *swap = malloc(sizeof(*swap));

		if (swap)
			*swap = aw_socket_replacement_of(call, *fd);
		waiting.data = swap;
		waiting.drop = free;
	} else if (is_near(address) && connect_promptly(call, *fd, address, &waiting)) {
		return;
	}
	memcpy(waiting.address, &address->any, address->len);
	waiting.fd = aw_take_fd(fd);
	waiting.second = aw_take_fd(&address->place.object);
	aw_emulate_wait(call, &waiting);
}

/* The target gets what is connected, or about to be; an epoll instance is told no
 * earlier. */
static void connect_at_once(
	struct aw_notified *call, int fd, const struct aw_emulate_address *address)
{
	struct aw_socket_replacement swap = aw_socket_replacement_of(call, fd);
	int err = aw_creds_assume(call->watch, &call->target), put = 0;

	if (!err)
		err = aw_replace_make(&swap, address->route);
	if (!err) {
		aw_name_route_note(call, swap.fd >= 0 ? swap.fd : fd, address);
		aw_relay_note(call, swap.fd >= 0 ? swap.fd : fd, address);
		note_client(call, swap.fd >= 0 ? swap.fd : fd, address);
	}
	if (!err)
		err = connect_to(call, swap.fd >= 0 ? swap.fd : fd, address);
	if (err == ECONNREFUSED && address->route == AW_ROUTE_EITHER)
		err = connect_outside(&swap, &address->any, address->len);
	aw_creds_restore();
	if (swap.fd >= 0 && (!err || err == EINPROGRESS))
		put = aw_replace_put(&swap);
	if (swap.fd >= 0)
		aw_close(swap.fd);
	aw_emulate_answer(call, -(put ? put : err));
}

void aw_emulate_connect(
	struct aw_notified *call, int *fd, struct aw_emulate_address *address)
{
	aw_emulate_use(address);
	if (address->place.parent >= 0 && address->place.object < 0)
		aw_emulate_answer(call, -ENOENT);
	else if (!(fcntl(*fd, F_GETFL) & O_NONBLOCK) && address->any.family)
		connect_patiently(call, fd, address);
	else
		connect_at_once(call, *fd, address);
}
