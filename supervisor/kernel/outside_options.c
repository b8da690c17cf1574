/* SPDX-License-Identifier: Apache-2.0 */
/* outside_options.c - one socket set up like another. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "supervisor/kernel/outside.h"

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

static int number_of(int fd, int option)
{
	socklen_t len = sizeof(int);
	int value = -1;

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) < 0 ? -1 : value;
}

/* Does a socket of this kind know options of the level? */
static bool knows(int level, int domain, int protocol)
{
	switch (level) {
	case SOL_SOCKET:
		return true;
	case IPPROTO_IP:
		return domain == AF_INET || domain == AF_INET6;
	case IPPROTO_IPV6:
		return domain == AF_INET6;
	default:
		return level == protocol;
	}
}

/* What is as it is by itself stays so: some options mean more once they are set. */
static void copy(int from, int to, int level, int name, int how)
{
	unsigned char value[64], usual[64];
	socklen_t len = sizeof(value), usual_len = sizeof(usual);

	if (getsockopt(from, level, name, value, &len) < 0)
		return;
	if (getsockopt(to, level, name, usual, &usual_len) == 0 && usual_len == len &&
		memcmp(value, usual, len) == 0)
		return;
	if (how == DOUBLED && len == sizeof(int)) {
		int half;

		memcpy(&half, value, sizeof(half));
		half /= 2;
		memcpy(value, &half, sizeof(half));
	}
	setsockopt(to, level, name, value, len);
}

void aw_outside_copy_options(int from, int to)
{
	int domain = number_of(from, SO_DOMAIN),
	    protocol = number_of(from, SO_PROTOCOL);

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (knows(options[i].level, domain, protocol))
			copy(from, to, options[i].level, options[i].name,
				options[i].how);
}
