/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulate_net.h - what connecting and sending for a target have in common.
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_EMULATE_NET_H
#define AW_SUPERVISOR_LINUX_SOCKETS_EMULATE_NET_H

#include "supervisor/audit/address.h"
#include "supervisor/linux/emulate/emulate.h"

/* Which way it goes; chosen in route.c. */
enum aw_route {
	AW_ROUTE_AS_IT_IS, /* over the target's own socket, wherever that leads */
	AW_ROUTE_INSIDE,   /* over one of the sandbox's network */
	AW_ROUTE_OUTSIDE,  /* over one of ours */
	AW_ROUTE_EITHER,   /* as it is, and over one of ours when nobody is there */
	AW_ROUTE_NAMES,	   /* over one of the name service's network */
};

/* An address, copied out of the target. */
struct aw_emulate_address {
	union aw_any_address any, judged; /* as given; as the kernel will take it */
	size_t len;
	int domain, type, protocol; /* of the socket */
	struct aw_location place;   /* of a socket file; owned */
	enum aw_route route;
};

/* The target's socket as a descriptor of ours (owned), or -1: answered. */
int aw_emulate_socket(struct aw_notified *call, int number);

/* Copy an address; 0 or an errno. The place is set up empty. */
int aw_emulate_address(struct aw_notified *call, int fd, uint64_t address, uint64_t len,
	struct aw_emulate_address *ret);

/* Its verdict into event and reply, its place found; true: it may be used. */
bool aw_emulate_may_address(
	struct aw_notified *call, struct aw_emulate_address *address);

/* Make it one that can be used from here. */
void aw_emulate_use(struct aw_emulate_address *address);

/* emulate_option.c: listen and setsockopt; socketpair by socketcall(2). */
void aw_emulate_option(struct aw_notified *call);
void aw_emulate_pair(struct aw_notified *call);

/* emulate_connect.c: connect *fd, which may become another, and answer. */
void aw_emulate_connect(
	struct aw_notified *call, int *fd, struct aw_emulate_address *address);

/* emulate_send.c: sendto, sendmsg and sendmmsg with an address. */
void aw_emulate_send(struct aw_notified *call);

/* Bytes of an abstract name, the leading NUL among them; 0: it is none. */
size_t aw_emulate_abstract_len(const struct aw_emulate_address *address);

#endif
