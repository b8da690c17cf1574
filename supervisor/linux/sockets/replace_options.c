/* SPDX-License-Identifier: Apache-2.0 */
/* replace_options.c - one socket set up like another. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "policy/array.h"
#include "supervisor/linux/netns/netns.h"
#include "supervisor/linux/sockets/socket_replace.h"
#include "supervisor/util/cleanup.h"

#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72 /* Linux 5.15 */
#endif
#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE 51 /* Linux 6.3 */
#endif
#ifndef IPV6_TCLASS
#define IPV6_TCLASS 67
#endif

enum { DOUBLED = 1 /* what is told is twice what was set: socket(7) */ };

/* Options that can be told and set, in the same form; not who they belong to. */
static const struct {
	int level, name, how;
} options[] = {
	{SOL_SOCKET, SO_REUSEADDR, 0},
	{SOL_SOCKET, SO_REUSEPORT, 0},
	{SOL_SOCKET, SO_KEEPALIVE, 0},
	{SOL_SOCKET, SO_BROADCAST, 0},
	{SOL_SOCKET, SO_DONTROUTE, 0},
	{SOL_SOCKET, SO_OOBINLINE, 0},
	{SOL_SOCKET, SO_LINGER, 0},
	{SOL_SOCKET, SO_PRIORITY, 0},
	{SOL_SOCKET, SO_NO_CHECK, 0},
	{SOL_SOCKET, SO_RCVBUF, DOUBLED},
	{SOL_SOCKET, SO_SNDBUF, DOUBLED},
	{SOL_SOCKET, SO_BUF_LOCK, 0},
	{SOL_SOCKET, SO_RCVLOWAT, 0},
	{SOL_SOCKET, SO_RCVTIMEO, 0},
	{SOL_SOCKET, SO_SNDTIMEO, 0},
	{SOL_SOCKET, SO_TIMESTAMP, 0},
	{SOL_SOCKET, SO_TIMESTAMPNS, 0},
	{SOL_SOCKET, SO_TIMESTAMPING, 0},
	{SOL_SOCKET, SO_PASSCRED, 0},
	{SOL_SOCKET, SO_MARK, 0},
	{SOL_SOCKET, SO_RXQ_OVFL, 0},
	{SOL_SOCKET, SO_PEEK_OFF, 0},
	{SOL_SOCKET, SO_SELECT_ERR_QUEUE, 0},
	{SOL_SOCKET, SO_BUSY_POLL, 0},
	{SOL_SOCKET, SO_MAX_PACING_RATE, 0},
	{SOL_SOCKET, SO_ZEROCOPY, 0},
	{IPPROTO_IP, IP_TOS, 0},
	{IPPROTO_IP, IP_TTL, 0},
	{IPPROTO_IP, IP_MINTTL, 0},
	{IPPROTO_IP, IP_OPTIONS, 0},
	{IPPROTO_IP, IP_RECVOPTS, 0},
	{IPPROTO_IP, IP_RETOPTS, 0},
	{IPPROTO_IP, IP_PKTINFO, 0},
	{IPPROTO_IP, IP_RECVTTL, 0},
	{IPPROTO_IP, IP_RECVTOS, 0},
	{IPPROTO_IP, IP_RECVERR, 0},
	{IPPROTO_IP, IP_RECVORIGDSTADDR, 0},
	{IPPROTO_IP, IP_RECVFRAGSIZE, 0},
	{IPPROTO_IP, IP_MTU_DISCOVER, 0},
	{IPPROTO_IP, IP_FREEBIND, 0},
	{IPPROTO_IP, IP_TRANSPARENT, 0},
	{IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 0},
	{IPPROTO_IP, IP_LOCAL_PORT_RANGE, 0},
	{IPPROTO_IP, IP_MULTICAST_TTL, 0},
	{IPPROTO_IP, IP_MULTICAST_LOOP, 0},
	{IPPROTO_IP, IP_MULTICAST_ALL, 0},
	{IPPROTO_IPV6, IPV6_V6ONLY, 0},
	{IPPROTO_IPV6, IPV6_UNICAST_HOPS, 0},
	{IPPROTO_IPV6, IPV6_MINHOPCOUNT, 0},
	{IPPROTO_IPV6, IPV6_TCLASS, 0},
	{IPPROTO_IPV6, IPV6_RECVPKTINFO, 0},
	{IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 0},
	{IPPROTO_IPV6, IPV6_RECVTCLASS, 0},
	{IPPROTO_IPV6, IPV6_RECVRTHDR, 0},
	{IPPROTO_IPV6, IPV6_RECVHOPOPTS, 0},
	{IPPROTO_IPV6, IPV6_RECVDSTOPTS, 0},
	{IPPROTO_IPV6, IPV6_RECVPATHMTU, 0},
	{IPPROTO_IPV6, IPV6_RECVERR, 0},
	{IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, 0},
	{IPPROTO_IPV6, IPV6_RECVFRAGSIZE, 0},
	{IPPROTO_IPV6, IPV6_MTU_DISCOVER, 0},
	{IPPROTO_IPV6, IPV6_DONTFRAG, 0},
	{IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, 0},
	{IPPROTO_IPV6, IPV6_ADDR_PREFERENCES, 0},
	{IPPROTO_IPV6, IPV6_FREEBIND, 0},
	{IPPROTO_IPV6, IPV6_TRANSPARENT, 0},
	{IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 0},
	{IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0},
	{IPPROTO_TCP, TCP_NODELAY, 0},
	{IPPROTO_TCP, TCP_CORK, 0},
	{IPPROTO_TCP, TCP_MAXSEG, 0},
	{IPPROTO_TCP, TCP_KEEPIDLE, 0},
	{IPPROTO_TCP, TCP_KEEPINTVL, 0},
	{IPPROTO_TCP, TCP_KEEPCNT, 0},
	{IPPROTO_TCP, TCP_SYNCNT, 0},
	{IPPROTO_TCP, TCP_LINGER2, 0},
	{IPPROTO_TCP, TCP_QUICKACK, 0},
	{IPPROTO_TCP, TCP_CONGESTION, 0},
	{IPPROTO_TCP, TCP_USER_TIMEOUT, 0},
	{IPPROTO_TCP, TCP_WINDOW_CLAMP, 0},
	{IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 0},
	{IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 0},
	{IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 0},
	{IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0},
	{IPPROTO_TCP, TCP_SAVE_SYN, 0},
	{IPPROTO_TCP, TCP_INQ, 0},
	{IPPROTO_TCP, TCP_TX_DELAY, 0},
	{IPPROTO_UDP, UDP_CORK, 0},
	{IPPROTO_UDP, UDP_SEGMENT, 0},
	{IPPROTO_UDP, UDP_GRO, 0},
	{IPPROTO_UDP, UDP_NO_CHECK6_TX, 0},
	{IPPROTO_UDP, UDP_NO_CHECK6_RX, 0},
};

enum { COUNT = ARRAY_SIZE(options), VALUE_MAX = 64 };

struct value {
	socklen_t len; /* 0: it is not told */
	unsigned char bytes[VALUE_MAX];
};

/*
 * Sockets that nobody has set up yet.  What is usual differs between namespaces, whose
 * administrators choose: so what a program left alone is left alone.
 */
struct kind {
	bool inside;
	int domain, type, protocol;
	struct value usual[COUNT];
	struct kind *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kind *kinds; /* until the end; there are few */

static int number_of(int fd, int option)
{
	socklen_t len = sizeof(int);
	int value = -1;

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) < 0 ? -1 : value;
}

/* Does a socket of this kind know options of the level? */
static bool knows(const struct kind *kind, int level)
{
	switch (level) {
	case SOL_SOCKET:
		return true;
	case IPPROTO_IP:
		return kind->domain == AF_INET || kind->domain == AF_INET6;
	case IPPROTO_IPV6:
		return kind->domain == AF_INET6;
	default:
		return level == kind->protocol;
	}
}

static void read_option(int fd, size_t i, struct value *ret)
{
	ret->len = sizeof(ret->bytes);
	if (getsockopt(fd, options[i].level, options[i].name, ret->bytes, &ret->len) <
		0)
		ret->len = 0;
}

static void read_usual(struct aw_netns *netns, struct kind *kind)
{
	AW_CLOSE int fd = kind->inside ? aw_netns_socket(netns, kind->domain,
						 kind->type, kind->protocol, NULL, 0)
				       : socket(kind->domain, kind->type | SOCK_CLOEXEC,
						 kind->protocol);

	for (size_t i = 0; fd >= 0 && i < COUNT; i++)
		if (knows(kind, options[i].level))
			read_option(fd, i, &kind->usual[i]);
}

/* The kind that a socket is of; NULL: out of memory. */
static const struct kind *kind_of(struct aw_netns *netns, int fd)
{
	struct kind wanted = {.inside = netns && aw_netns_has(netns, fd),
		.domain = number_of(fd, SO_DOMAIN),
		.type = number_of(fd, SO_TYPE),
		.protocol = number_of(fd, SO_PROTOCOL)};
	struct kind *kind;

	pthread_mutex_lock(&lock);
	for (kind = kinds; kind; kind = kind->next)
		if (kind->inside == wanted.inside && kind->domain == wanted.domain &&
			kind->type == wanted.type && kind->protocol == wanted.protocol)
			break;
	if (!kind && (kind = malloc(sizeof(*kind)))) {
		*kind = wanted;
		read_usual(netns, kind);
		kind->next = kinds;
		kinds = kind;
	}
	pthread_mutex_unlock(&lock);
	return kind;
}

static void set_option(int fd, size_t i, struct value *value)
{
	int half;

	if (options[i].how == DOUBLED && value->len == sizeof(int)) {
		memcpy(&half, value->bytes, sizeof(half));
		half /= 2;
		memcpy(value->bytes, &half, sizeof(half));
	}
	setsockopt(fd, options[i].level, options[i].name, value->bytes, value->len);
}

void aw_replace_copy_options(struct aw_netns *netns, int from, int to)
{
	const struct kind *kind = kind_of(netns, from);
	struct value value;

	for (size_t i = 0; kind && i < COUNT; i++) {
		const struct value *usual = &kind->usual[i];

		if (!knows(kind, options[i].level))
			continue;
		read_option(from, i, &value);
		if (value.len && (value.len != usual->len ||
					 memcmp(value.bytes, usual->bytes, value.len)))
			set_option(to, i, &value);
	}
}
