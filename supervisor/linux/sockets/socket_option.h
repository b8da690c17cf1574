/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option.h - what a socket must not be told where rules speak about addresses.
 *
 * A verdict is about the address that a call names.  Some options, and the same as
 * control messages, make the kernel send elsewhere nevertheless: by a source route
 * (RFC 791: the packet goes to its first hop, and the address is only where it is to
 * end up), by another interface or routing table (ip(7), ipv6(7), socket(7)).  Others
 * receive what is for an address that nobody was asked for.
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_SOCKET_OPTION_H
#define AW_SUPERVISOR_LINUX_SOCKETS_SOCKET_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum aw_socket_option_kind {
	AW_OPTION_PLAIN,     /* nothing of ours */
	AW_OPTION_REDIRECTS, /* sends elsewhere */
	AW_OPTION_JOINS,     /* receives what is for a group */
};

struct aw_socket_option {
	uint16_t level, name; /* as setsockopt(2) has them */
	uint8_t kind;	      /* enum aw_socket_option_kind */
	const char *text;     /* "IP_OPTIONS" */
};

/* All but the plain ones, by level. */
extern const struct aw_socket_option aw_socket_options[];
extern const size_t aw_socket_option_count;

/* One of them, or NULL: a plain one. */
const struct aw_socket_option *aw_socket_option_find(int level, int name);

/*
 * The same for a control message that goes along with what is sent (cmsg(3)): its name
 * when it would redirect that, else NULL.
 */
const char *aw_socket_option_of_message(int level, int type);

/*
 * Sockets that rules can judge: Unix ones, and of the Internet those whose every
 * address is in connect, bind or send (not SCTP, which has more of them in options, nor
 * raw ones, which write headers of their own).
 */
bool aw_socket_option_is_common(int family, int type, int protocol);

/* The protocols of such an Internet socket. */
extern const uint16_t aw_common_protocols[];
extern const size_t aw_common_protocol_count;

#endif
