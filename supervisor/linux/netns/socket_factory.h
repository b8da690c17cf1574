/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_factory.h - the child that makes sockets in another network namespace.
 *
 * It comes from a process that has threads, so everything here is async-signal-safe
 * (signal-safety(7)): no allocation, no stdio, no lock.
 *
 * Over its socket (SOCK_SEQPACKET) it sends an answer once it has joined, then one a
 * request, with the socket that was made (SCM_RIGHTS).
 */
#ifndef AW_SUPERVISOR_LINUX_NETNS_SOCKET_FACTORY_H
#define AW_SUPERVISOR_LINUX_NETNS_SOCKET_FACTORY_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

struct aw_socket_factory_request {
	int domain, type, protocol;
	socklen_t len; /* of the address to bind to; 0: none */
	struct sockaddr_storage address;
};

struct aw_socket_factory_answer {
	int err; /* an errno value, or 0 */
	int step;
};

enum aw_socket_factory_step {
	AW_SOCKET_FACTORY_USER,	    /* joining the user namespace */
	AW_SOCKET_FACTORY_NETWORK,  /* joining the network namespace */
	AW_SOCKET_FACTORY_LOOPBACK, /* bringing its loopback up */
	AW_SOCKET_FACTORY_READY,
};

struct aw_socket_factory {
	int socket;
	int user;    /* namespace, or -1: the network's owner is our own */
	int network; /* namespace */
	pid_t parent;
	bool ipv4, ipv6; /* addresses besides loopback's are wanted */
};

/* Serves until the other end is closed or the parent dies. */
_Noreturn void aw_socket_factory_run(const struct aw_socket_factory *factory);

#endif
