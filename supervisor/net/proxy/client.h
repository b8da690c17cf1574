/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - who is at the other end of a connection from this machine?
 *
 * The kernel says which socket it is (sock_diag(7)), /proc which processes of the
 * session have it.  Reading that takes as long as their descriptors are many, which is
 * theirs to choose: only what is marked as quick may be done in a thread that others
 * wait for.
 */
#ifndef AW_SUPERVISOR_NET_PROXY_CLIENT_H
#define AW_SUPERVISOR_NET_PROXY_CLIENT_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/decide/watch.h"

struct aw_client {
	struct sockaddr_in from, to;
	ino_t inode;	 /* of its socket; 0: the kernel has no quick answer */
	pid_t connected; /* the hands saw this one connect; 0: none */
	int number;	 /* its descriptor */
};

/* Quick.  fd: accepted.  False: not a connection over IPv4. */
bool aw_client_of(struct aw_watch *watch, int fd, struct aw_client *ret);

/*
 * Quick.  The one that connected, if it still has the connection and nothing more need
 * be known: with profiles in the policy, all have to be that hold it.
 */
bool aw_client_is_known(struct aw_watch *watch, const struct aw_client *client,
	struct aw_process_info *ret);

/*
 * The process that has it, and in its role the profiles of all that have it.  False: no
 * process of the session has, or none that can be looked at, or it is over by now.
 */
bool aw_client_find(struct aw_watch *watch, const struct aw_client *client,
	const _Atomic bool *over, struct aw_process_info *ret);

/* Quick.  Has a process of the session this socket, among its first descriptors? */
bool aw_client_holds(struct aw_watch *watch, ino_t inode);

#endif
