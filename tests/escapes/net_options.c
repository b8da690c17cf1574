/* SPDX-License-Identifier: Apache-2.0 */
/* net_options.c - options and control messages that lead elsewhere, groups, listening */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

/* An address that is allowed. */
static struct sockaddr_in harmless(const struct target *t)
{
	struct sockaddr_in inet = t->inet;

	inet.sin_addr.s_addr = htonl(0x7f010001);
	return inet;
}

/* What a call gives where something is missing in this kernel, or a right. */
static int answer(long rc)
{
	if (rc < 0 && (errno == ENOPROTOOPT || errno == EINVAL || errno == ENODEV ||
			      errno == EOPNOTSUPP))
		return NOT_HERE;
	return result(rc);
}

/* --- the way that packets take --- */

enum { LOOSE = 131, STRICT = 137 };

/* Packets go to the first hop, and from there to where the call says. */
static void route(unsigned char out[8], int kind, const struct target *t)
{
	static const unsigned char head[4] = {0, 7, 4, 0};

	memcpy(out, head, 3);
	out[0] = (unsigned char)kind;
	memcpy(out + 3, &t->inet.sin_addr, 4);
	out[7] = 0;
}

static int source_route(struct target *t, int kind)
{
	struct sockaddr_in to = harmless(t);
	unsigned char hops[8];
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	route(hops, kind, t);
	if (setsockopt(fd, IPPROTO_IP, IP_OPTIONS, hops, sizeof hops) < 0)
		return errno;
	return result(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to));
}

/* The same before a connection is made. */
static int stream_route(struct target *t, int arg)
{
	unsigned char hops[8];
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)arg;
	route(hops, LOOSE, t);
	return answer(setsockopt(fd, IPPROTO_IP, IP_OPTIONS, hops, sizeof hops));
}

/* A control message of this level and type beside a datagram for an allowed address. */
static int with_message(struct target *t, int level, int type, const void *bytes,
	size_t size, int domain)
{
	struct sockaddr_in to = harmless(t);
	struct sockaddr_in6 six = {.sin6_family = AF_INET6,
		.sin6_port = to.sin_port,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	_Alignas(8) char control[256] = {0};
	struct cmsghdr *c = (struct cmsghdr *)control;
	struct iovec text = {(void *)"hello", 5};
	struct msghdr message = {.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(size)};
	int fd = socket(domain, SOCK_DGRAM, 0);

	message.msg_name = domain == AF_INET ? (void *)&to : (void *)&six;
	message.msg_namelen = domain == AF_INET ? sizeof to : sizeof six;
	*c = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(size), .cmsg_level = level, .cmsg_type = type};
	memcpy(CMSG_DATA(c), bytes, size);
	return answer(sendmsg(fd, &message, 0));
}

static int message_route(struct target *t, int arg)
{
	unsigned char hops[8];

	(void)arg;
	route(hops, LOOSE, t);
	return with_message(t, IPPROTO_IP, IP_RETOPTS, hops, sizeof hops, AF_INET);
}

/* RFC 8754: a segment routing header of one segment. */
static const unsigned char segments[24] = {
	0, 2, 4, 0, 0, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

static int route6(struct target *t, int by_message)
{
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	if (by_message)
		return with_message(t, IPPROTO_IPV6, IPV6_RTHDR, segments,
			sizeof segments, AF_INET6);
	return answer(
		setsockopt(fd, IPPROTO_IPV6, IPV6_RTHDR, segments, sizeof segments));
}

/* The interface, by whatever option; they all take a number, and one a name. */
static int interface(struct target *t, int which)
{
	static const struct {
		int domain, level, name;
	} ways[] = {
		{AF_INET, SOL_SOCKET, SO_BINDTODEVICE},
		{AF_INET, SOL_SOCKET, 62 /* SO_BINDTOIFINDEX */},
		{AF_INET, IPPROTO_IP, 50 /* IP_UNICAST_IF */},
		{AF_INET6, IPPROTO_IPV6, 76 /* IPV6_UNICAST_IF */},
		{AF_INET, SOL_SOCKET, SO_MARK},
		{AF_INET, IPPROTO_IP, IP_FREEBIND},
		{AF_INET, IPPROTO_IP, IP_TRANSPARENT},
		{AF_INET6, IPPROTO_IPV6, IPV6_PKTINFO},
	};
	struct in6_pktinfo info = {IN6ADDR_ANY_INIT, if_nametoindex("lo")};
	int number = which == 2 || which == 3 ? htonl(if_nametoindex("lo")) : 1;
	int fd = socket(ways[which].domain, SOCK_DGRAM, 0);

	(void)t;
	if (which == 0)
		return answer(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2));
	if (which == 7)
		return answer(
			setsockopt(fd, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info));
	return answer(setsockopt(
		fd, ways[which].level, ways[which].name, &number, sizeof number));
}

/* --- groups --- */

enum { MEMBER, SOURCE_MEMBER, JOIN, JOIN_SOURCE, JOIN6 };

/* 239.2.x.y is as denied as 127.2.x.y. */
static struct sockaddr_in group_of(const struct target *t)
{
	struct sockaddr_in group = t->inet;

	*(unsigned char *)&group.sin_addr = 239;
	return group;
}

static int join(struct target *t, int how)
{
	struct sockaddr_in group = group_of(t);
	struct ip_mreqn member = {
		group.sin_addr, {htonl(INADDR_LOOPBACK)}, if_nametoindex("lo")};
	struct ip_mreq_source source = {
		group.sin_addr, {htonl(INADDR_LOOPBACK)}, {htonl(INADDR_LOOPBACK)}};
	struct group_req any = {if_nametoindex("lo"), {0}};
	struct group_source_req from = {if_nametoindex("lo"), {0}, {0}};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memcpy(&any.gr_group, &group, sizeof group);
	memcpy(&from.gsr_group, &group, sizeof group);
	group.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(&from.gsr_source, &group, sizeof group);
	switch (how) {
	case MEMBER:
		return result(setsockopt(
			fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &member, sizeof member));
	case SOURCE_MEMBER:
		return result(setsockopt(fd, IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP,
			&source, sizeof source));
	case JOIN:
		return result(
			setsockopt(fd, IPPROTO_IP, MCAST_JOIN_GROUP, &any, sizeof any));
	default:
		return result(setsockopt(
			fd, IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, &from, sizeof from));
	}
}

static int join6(struct target *t, int arg)
{
	struct ipv6_mreq member = {.ipv6mr_interface = if_nametoindex("lo")};
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	(void)arg;
	inet_pton(
		AF_INET6, t->denied ? "ff11::2" : "ff11::1", &member.ipv6mr_multiaddr);
	return answer(
		setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, sizeof member));
}

/* --- listening --- */

static bool is_listening(int fd)
{
	socklen_t len = sizeof(int);
	int on = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 && on;
}

/* The twin has an address that it may listen on. */
static int unbound(struct target *t, int how)
{
	struct sockaddr_in at = harmless(t);
	unsigned arguments[2] = {0, 5}, *where;
	int fd = socket(how == AF_INET6 ? AF_INET6 : AF_INET, SOCK_STREAM,
		    how == 262 ? 262 : 0),
	    rc;

	at.sin_port = 0;
	if (fd < 0)
		return NOT_HERE;
	if (!t->denied && how != AF_INET6 &&
		bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
		return errno;
	arguments[0] = (unsigned)fd;
	where = low(arguments, sizeof arguments);
	if (how == 102)
		rc = raw_int80(102, 4, (long)where, 0, 0, 0);
	else if (how == 363)
		rc = raw_int80(363, fd, 5, 0, 0, 0);
	else
		rc = listen(fd, 5) < 0 ? -errno : 0;
	if (rc == -ENOSYS)
		return NOT_HERE;
	return is_listening(fd) ? 0 : -rc ? -rc : EACCES;
}

struct connecting {
	struct sockaddr_in to;
	int fd;
	_Atomic bool stop;
};

/* A port comes with each attempt to connect and goes with its end. */
static void *connect_on(void *arg)
{
	struct connecting *c = arg;

	while (!c->stop)
		connect(c->fd, (struct sockaddr *)&c->to, sizeof c->to);
	return NULL;
}

static int listen_race(struct target *t, int arg)
{
	struct connecting c = {harmless(t), socket(AF_INET, SOCK_STREAM, 0), false};
	int limit = tries < 2000 ? tries : 2000;
	pthread_t thread;
	bool done = false;

	(void)arg;
	if (!t->denied)
		return 0;
	c.to.sin_port = htons(1);
	if (pthread_create(&thread, NULL, connect_on, &c) != 0)
		return EAGAIN;
	while (!done && limit-- > 0) {
		listen(c.fd, 5);
		done = is_listening(c.fd);
	}
	c.stop = true;
	pthread_join(thread, NULL);
	return done ? 0 : EACCES;
}

/* The level of a 32-bit setsockopt changes between plain and source route. */
static void *flip_level(void *arg)
{
	_Atomic unsigned *level = arg;

	for (;;)
		*level = *level ? 0 : 6;
	return NULL;
}

static int option_race(struct target *t, int arg)
{
	unsigned char hops[8], found[40];
	unsigned arguments[5], *where;
	int fd = socket(AF_INET, SOCK_STREAM, 0), limit = tries < 5000 ? tries : 5000;
	pthread_t thread;
	socklen_t len;
	long until;

	(void)arg;
	if (!t->denied)
		return 0;
	route(hops, LOOSE, t);
	arguments[0] = (unsigned)fd;
	arguments[1] = 6;
	arguments[2] = IP_OPTIONS;
	arguments[3] = (unsigned)(unsigned long)low(hops, sizeof hops);
	arguments[4] = sizeof hops;
	where = low(arguments, sizeof arguments);
	if (pthread_create(&thread, NULL, flip_level, where + 1) != 0)
		return EAGAIN;
	until = now() + 200; /* the thread has to get going first */
	while (limit-- > 0 || now() < until) {
		if (raw_int80(102, 14, (long)where, 0, 0, 0) == -ENOSYS)
			return NOT_HERE;
		len = sizeof found;
		if (getsockopt(fd, IPPROTO_IP, IP_OPTIONS, found, &len) == 0 && len)
			return 0;
	}
	return EACCES;
}

const struct attempt options_table[] = {
	{"route_loose", "snR", "a loose source route over the address", source_route,
		LOOSE},
	{"route_strict", "snR", "a strict one", source_route, STRICT},
	{"route_tcp", "snR", "a source route for a connection", stream_route, 0},
	{"route_message", "snR", "a source route as a control message", message_route,
		0},
	{"route6", "sn", "an IPv6 routing header", route6, 0},
	{"route6_message", "sn", "the same as a control message", route6, 1},
	{"route_race", "sR", "the level of a 32-bit setsockopt", option_race, 0},
	{"if_device", "sn", "SO_BINDTODEVICE", interface, 0},
	{"if_index", "sn", "SO_BINDTOIFINDEX", interface, 1},
	{"if_unicast", "sn", "IP_UNICAST_IF", interface, 2},
	{"if_unicast6", "sn", "IPV6_UNICAST_IF", interface, 3},
	{"if_mark", "snR", "SO_MARK, which chooses a routing table", interface, 4},
	{"if_freebind", "sn", "IP_FREEBIND, for an address that is not ours", interface,
		5},
	{"if_transparent", "snR", "IP_TRANSPARENT", interface, 6},
	{"if_pktinfo6", "sn", "IPV6_PKTINFO for a socket", interface, 7},
	{"group_member", "s", "join a group by IP_ADD_MEMBERSHIP", join, MEMBER},
	{"group_source", "s", "by IP_ADD_SOURCE_MEMBERSHIP", join, SOURCE_MEMBER},
	{"group_join", "s", "by MCAST_JOIN_GROUP", join, JOIN},
	{"group_join_source", "s", "by MCAST_JOIN_SOURCE_GROUP", join, JOIN_SOURCE},
	{"group_join6", "s", "join an IPv6 group", join6, 0},
	{"listen", "s", "listen without bind", unbound, AF_INET},
	{"listen6", "sn", "the same by IPv6", unbound, AF_INET6},
	{"listen_mptcp", "s", "the same by MPTCP", unbound, 262},
	{"listen_int80", "s", "the same by its 32-bit number", unbound, 363},
	{"listen_socketcall", "s", "the same by socketcall", unbound, 102},
	{"listen_race", "s", "listen while a port comes and goes", listen_race, 0},
	{0},
};
