/* SPDX-License-Identifier: Apache-2.0 */
/* option.c - socket options that lead round rules about addresses, as tables. */
#include "supervisor/linux/sockets/socket_option.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "policy/array.h"

/* Newer than some headers; the numbers are the kernel's (uapi). */
enum {
	BINDTOIFINDEX = 62,
	IP_UNICAST = 50,
	IP6_UNICAST = 76,
	IP6_FLOWLABEL = 32,
	IP6_TRANSPARENT = 75,
	IP6_FREEBIND = 78,
	MULTIPATH = 262,
	KIND = 0xf /* linux/net.h: SOCK_TYPE_MASK */
};

#define REDIRECTS(level, name)                                                         \
	{                                                                              \
		level, name, AW_OPTION_REDIRECTS, #name                                \
	}
#define JOINS(level, name)                                                             \
	{                                                                              \
		level, name, AW_OPTION_JOINS, #name                                    \
	}
#define NEWER(level, name, text)                                                       \
	{                                                                              \
		level, name, AW_OPTION_REDIRECTS, text                                 \
	}

const struct aw_socket_option aw_socket_options[] = {
	REDIRECTS(SOL_SOCKET, SO_BINDTODEVICE),
	REDIRECTS(SOL_SOCKET, SO_MARK),
	NEWER(SOL_SOCKET, BINDTOIFINDEX, "SO_BINDTOIFINDEX"),
	REDIRECTS(IPPROTO_IP, IP_OPTIONS),
	REDIRECTS(IPPROTO_IP, IP_FREEBIND),
	REDIRECTS(IPPROTO_IP, IP_TRANSPARENT),
	REDIRECTS(IPPROTO_IP, IP_IPSEC_POLICY),
	REDIRECTS(IPPROTO_IP, IP_XFRM_POLICY),
	NEWER(IPPROTO_IP, IP_UNICAST, "IP_UNICAST_IF"),
	JOINS(IPPROTO_IP, IP_ADD_MEMBERSHIP),
	JOINS(IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP),
	JOINS(IPPROTO_IP, MCAST_JOIN_GROUP),
	JOINS(IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP),
	REDIRECTS(IPPROTO_IPV6, IPV6_2292PKTOPTIONS),
	REDIRECTS(IPPROTO_IPV6, IPV6_PKTINFO),
	REDIRECTS(IPPROTO_IPV6, IPV6_RTHDR),
	REDIRECTS(IPPROTO_IPV6, IPV6_HOPOPTS),
	REDIRECTS(IPPROTO_IPV6, IPV6_DSTOPTS),
	REDIRECTS(IPPROTO_IPV6, IPV6_RTHDRDSTOPTS),
	REDIRECTS(IPPROTO_IPV6, IPV6_IPSEC_POLICY),
	REDIRECTS(IPPROTO_IPV6, IPV6_XFRM_POLICY),
	NEWER(IPPROTO_IPV6, IP6_UNICAST, "IPV6_UNICAST_IF"),
	NEWER(IPPROTO_IPV6, IP6_FLOWLABEL, "IPV6_FLOWLABEL_MGR"), /* carries headers */
	NEWER(IPPROTO_IPV6, IP6_TRANSPARENT, "IPV6_TRANSPARENT"),
	NEWER(IPPROTO_IPV6, IP6_FREEBIND, "IPV6_FREEBIND"),
	JOINS(IPPROTO_IPV6, IPV6_JOIN_GROUP),
	JOINS(IPPROTO_IPV6, IPV6_JOIN_ANYCAST),
	JOINS(IPPROTO_IPV6, MCAST_JOIN_GROUP),
	JOINS(IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP),
};
const size_t aw_socket_option_count = ARRAY_SIZE(aw_socket_options);

/*
 * Not among them: PKTINFO, which emulate_send.c looks at; TTL, TOS, hop limit, traffic
 * class, priority, time and segment size, which change nothing of where it goes.
 */
static const struct aw_socket_option messages[] = {
	REDIRECTS(SOL_SOCKET, SO_MARK),
	REDIRECTS(IPPROTO_IP, IP_OPTIONS),
	REDIRECTS(IPPROTO_IP, IP_RETOPTS),
	REDIRECTS(IPPROTO_IPV6, IPV6_RTHDR),
	REDIRECTS(IPPROTO_IPV6, IPV6_2292RTHDR),
	REDIRECTS(IPPROTO_IPV6, IPV6_HOPOPTS),
	REDIRECTS(IPPROTO_IPV6, IPV6_2292HOPOPTS),
	REDIRECTS(IPPROTO_IPV6, IPV6_DSTOPTS),
	REDIRECTS(IPPROTO_IPV6, IPV6_2292DSTOPTS),
	REDIRECTS(IPPROTO_IPV6, IPV6_RTHDRDSTOPTS),
};

const uint16_t aw_common_protocols[] = {IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP,
	IPPROTO_UDPLITE, IPPROTO_ICMP, IPPROTO_ICMPV6, MULTIPATH};
const size_t aw_common_protocol_count = ARRAY_SIZE(aw_common_protocols);

static const struct aw_socket_option *find(
	const struct aw_socket_option *list, size_t count, int level, int name)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].level == level && list[i].name == name)
			return &list[i];
	return NULL;
}

const struct aw_socket_option *aw_socket_option_find(int level, int name)
{
	return find(aw_socket_options, aw_socket_option_count, level, name);
}

const char *aw_socket_option_of_message(int level, int type)
{
	const struct aw_socket_option *option =
		find(messages, ARRAY_SIZE(messages), level, type);

	return option ? option->text : NULL;
}

bool aw_socket_option_is_common(int family, int type, int protocol)
{
	int kind = type & KIND;

	if (family == AF_UNIX)
		return kind != SOCK_RAW;
	if ((family != AF_INET && family != AF_INET6) ||
		(kind != SOCK_STREAM && kind != SOCK_DGRAM))
		return false;
	for (size_t i = 0; i < aw_common_protocol_count; i++)
		if (protocol == aw_common_protocols[i])
			return true;
	return false;
}
