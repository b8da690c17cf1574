/* SPDX-License-Identifier: Apache-2.0 */
/* connecting.c - connects a socket that the target has, too. */
#include "supervisor/linux/sockets/connecting.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "supervisor/linux/sockets/socket_replace.h"
#include "supervisor/util/cleanup.h"

/* How often a socket may turn from used to free under our eyes. */
enum { TRIES = 8 };

int aw_connecting_to(const struct aw_watch *watch, int fd, enum aw_route route,
	const void *address, size_t len)
{
	if (!aw_replace_is_there(watch, fd, route))
		return EISCONN;
	return connect(fd, address, (socklen_t)len) < 0 ? errno : 0;
}

static bool is_used(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info.tcpi_state);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state != TCP_CLOSE;
}

/*
 * While a socket is in use the kernel does not look at the address (af_inet.c,
 * __inet_stream_connect()); when it is free again, no protocol has this family.
 */
static int ask(int fd)
{
	static const struct sockaddr_storage nowhere = {.ss_family = 0xffff};

	return connect(fd, (const struct sockaddr *)&nowhere, sizeof(nowhere)) < 0
		       ? errno
		       : 0;
}

/* It was in use when the call was made: what it waited for has been given up. */
static long ask_waiting(struct aw_waiting *waiting)
{
	int err = ask(waiting->fd);

	errno = err == EAFNOSUPPORT ? ECONNABORTED : err;
	return err ? -1 : 0;
}

bool aw_connecting_in_use(struct aw_notified *call, int *fd)
{
	for (int i = 0; i < TRIES && is_used(*fd); i++) {
		int err;

		if (!(fcntl(*fd, F_GETFL) & O_NONBLOCK)) {
			const struct aw_waiting waiting = {.watch = call->watch,
				.id = call->id,
				.target = call->target,
				.fd = aw_take_fd(fd),
				.second = -1,
				.work = ask_waiting};

			aw_emulate_wait(call, &waiting);
			return true;
		}
		err = ask(*fd);
		if (err != EAFNOSUPPORT) {
			aw_emulate_answer(call, -err);
			return true;
		}
	}
	return false;
}
