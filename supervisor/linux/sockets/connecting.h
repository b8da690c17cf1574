/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connecting.h - the one place where a socket of a target's is connected.
 *
 * The target has the socket, too: between any look at it and connect(2) another thread
 * can connect it, or shut it down so that it is as new.  What never changes is the
 * network namespace of a socket.  So an address is given to connect(2) only on a socket
 * of the namespace that the address was judged for, and what the kernel says of a
 * socket that is in use is asked for with an address that leads nowhere.
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_CONNECTING_H
#define AW_SUPERVISOR_LINUX_SOCKETS_CONNECTING_H

#include "supervisor/linux/sockets/emulate_net.h"

/*
 * connect(2) for an address that was judged for this route: 0 or an errno; EISCONN for
 * a socket of another namespace.  It waits as the socket does.
 */
int aw_connecting_to(const struct aw_watch *watch, int fd, enum aw_route route,
	const void *address, size_t len);

/*
 * A TCP socket that is connected, on its way or listening gets the kernel's own answer
 * here, whatever address the call has: true, answered (maybe later, by a thread that
 * owns *fd then).  False: it was free a moment ago, and a connection may begin.
 */
bool aw_connecting_in_use(struct aw_notified *call, int *fd);

#endif
