/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netns.h - a process of ours in the network namespace of a sandbox.
 *
 * A sandbox that isolates the network gives the command a namespace with a loopback
 * alone. Sockets of that namespace are needed here, too: to answer for names at the
 * address that the command asks, to serve a proxy on its loopback, to reach a server of
 * its own.  A socket belongs for good to the namespace of who made it
 * (network_namespaces(7)), and joining one of somebody else's user namespace takes a
 * process with one thread (setns(2)); so a child does nothing but make sockets on
 * request and pass them over. It is not in the sandbox's pid namespace and cannot be
 * reached by the command.
 *
 * All functions may be called by any thread at any time.
 */
#ifndef AW_SUPERVISOR_LINUX_NETNS_NETNS_H
#define AW_SUPERVISOR_LINUX_NETNS_NETNS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "policy/error.h"

struct aw_netns;

/*
 * member: a process in the namespace, which is kept alive until this returns.  The
 * loopback is brought up and gets addresses of families that the host has, so that
 * getaddrinfo(3) with AI_ADDRCONFIG looks for both.
 */
int aw_netns_start(pid_t member, struct aw_netns **ret, struct aw_error *err);

/*
 * A socket of the namespace, close-on-exec; -errno.  With an address it is bound to it;
 * one that the loopback does not have yet is added to it first.
 */
int aw_netns_socket(struct aw_netns *netns, int domain, int type, int protocol,
	const struct sockaddr *address, socklen_t len);

/* Is fd a socket of this namespace? */
bool aw_netns_has(const struct aw_netns *netns, int fd);

/* Ends the process; NULL is fine. */
void aw_netns_stop(struct aw_netns *netns);

#endif
