/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_replace.h - another socket in the place of a target's.
 *
 * A socket belongs for good to the network namespace that it was made in
 * (network_namespaces(7)).  So who may speak to somebody outside gets a socket that was
 * made there: of the same kind, with the same options, under the same numbers, in the
 * same epoll instances.  The way back is the same.
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_SOCKET_REPLACE_H
#define AW_SUPERVISOR_LINUX_SOCKETS_SOCKET_REPLACE_H

#include "supervisor/linux/sockets/emulate_net.h"

struct aw_socket_replacement {
	struct aw_watch *watch;
	uint64_t id; /* of the notified call */
	pid_t tid, pid;
	int number; /* in the target */
	int old;    /* borrowed: what is there now */
	int fd;	    /* owned: what is to come, or -1: it stays */
};

/* The swap for a call's first argument, with nothing to do yet. */
struct aw_socket_replacement aw_socket_replacement_of(
	const struct aw_notified *call, int old);

/*
 * Is the socket where this route begins, or is there no other place?  It stays so: a
 * socket never changes its network namespace.
 */
bool aw_replace_is_there(const struct aw_watch *watch, int fd, enum aw_route route);

/*
 * Make the socket that a route needs; 0 or an errno.  fd stays -1 when the old one is
 * there already.  One that is elsewhere and in use is EISCONN or EALREADY, and nothing
 * may be done with it for this route.
 */
int aw_replace_make(struct aw_socket_replacement *swap, enum aw_route route);

/* Put it where the old one was, everywhere in the target; 0 or an errno. */
int aw_replace_put(const struct aw_socket_replacement *swap);

/*
 * Both, for calls that use the socket afterwards: *fd becomes the new one and the old
 * one is closed.
 */
int aw_replace_change(struct aw_notified *call, int *fd, enum aw_route route);

/*
 * The same before it is bound or listens: 0 or an errno; EINVAL, as the kernel says,
 * for one that is in use elsewhere, which may be connected, and nothing else.
 */
int aw_replace_turn_inside(struct aw_notified *call, int *fd, enum aw_route route);

/* The pieces of these. */

/* replace_options.c: what getsockopt(2) tells of one socket, set on another.  inner may
 * be NULL. */
void aw_replace_copy_options(struct aw_netns *netns, int from, int to);

/* A file that an epoll instance may watch under some number, both in process tid. */
struct aw_watched {
	pid_t tid;
	int epoll, number;
	int old; /* the file, as a descriptor of ours */
};

/* replace_epoll.c: does it?  True as well when it cannot be told. */
bool aw_replace_is_watched(const struct aw_watched *at);

/* If so it watches the file fd instead from now on; epoll: a descriptor of ours. */
void aw_replace_watch_instead(const struct aw_watched *at, int epoll, int fd);

#endif
