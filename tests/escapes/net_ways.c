/* SPDX-License-Identifier: Apache-2.0 */
/* net_ways.c - sockets that are something else than they were, and other protocols */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
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

static int to(int fd, const struct sockaddr_in *address)
{
	return result(connect(fd, (const struct sockaddr *)address, sizeof *address));
}

static void leave(int fd)
{
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

	connect(fd, &nobody, sizeof nobody);
}

/* --- a connection that becomes another one --- */

enum { AGAIN, DUPLICATE, NOT_BLOCKING, TO_LISTENER, OTHER_TABLE };

static void *in_own_table(void *arg)
{
	leave(*(int *)arg);
	return NULL;
}

static int again(struct target *t, int how)
{
	struct sockaddr_in first = harmless(t);
	int fd = socket(
		AF_INET, SOCK_STREAM | (how == NOT_BLOCKING ? SOCK_NONBLOCK : 0), 0);
	int other = dup(fd), rc;
	pthread_t thread;

	rc = to(fd, &first);
	if (rc && rc != EINPROGRESS)
		return rc;
	if (how == OTHER_TABLE &&
		(pthread_create(&thread, NULL, in_own_table, &other) != 0 ||
			pthread_join(thread, NULL) != 0))
		return EAGAIN;
	leave(how == DUPLICATE ? other : fd);
	rc = to(how == DUPLICATE ? fd : other, &t->inet);
	if (rc == EINPROGRESS) {
		usleep(20000);
		rc = to(other, &t->inet);
	}
	return rc == EISCONN ? 0 : rc;
}

/* The socket was connected, and is to listen at a port of anybody's. */
static int listen_after(struct target *t, int arg)
{
	struct sockaddr_in first = harmless(t), at = {.sin_family = AF_INET};
	socklen_t len = sizeof(int);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 0, rc;

	(void)arg;
	rc = to(fd, &first);
	if (rc)
		return rc;
	leave(fd);
	at.sin_addr = first.sin_addr;
	if (!t->denied && bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
		return errno;
	rc = result(listen(fd, 1));
	getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len);
	return on ? 0 : rc ? rc : EACCES;
}

/* UDP: the address in the message counts, not the connection. */
static int past_connection(struct target *t, int how)
{
	struct sockaddr_in first = harmless(t), other = t->inet;
	struct iovec text = {(void *)"hello", 5};
	struct msghdr message = {.msg_name = &other,
		.msg_namelen = sizeof other,
		.msg_iov = &text,
		.msg_iovlen = 1};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), rc = to(fd, &first);

	if (rc)
		return rc;
	if (how == 1)
		return result(sendmsg(fd, &message, 0));
	if (how == 2)
		leave(fd);
	if (how == 3) /* the kernel takes this for AF_INET: udp(7) */
		other.sin_family = AF_UNSPEC;
	return result(sendto(fd, "x", 1, 0, (struct sockaddr *)&other, sizeof other));
}

/* --- behind a sandbox: a socket of the network outside is no server's --- */

static unsigned long long network_of(int fd)
{
	unsigned long long cookie = 0;
	socklen_t len = sizeof cookie;

	getsockopt(fd, SOL_SOCKET, 71 /* SO_NETNS_COOKIE */, &cookie, &len);
	return cookie;
}

struct changing {
	struct sockaddr_in there, nobody;
	int fd;
	_Atomic bool stop;
};

static void *change_on(void *arg)
{
	struct changing *c = arg;

	while (!c->stop) {
		to(c->fd, &c->there);
		leave(c->fd);
		to(c->fd, &c->nobody);
		leave(c->fd);
	}
	return NULL;
}

/* Is it a server's, and of the network outside?  Both are asked of the very socket. */
static bool serves_outside(int fd, unsigned long long inside, int datagram)
{
	struct sockaddr_in at = {0};
	socklen_t len = sizeof(int), size = sizeof at;
	int on = 0;

	if (network_of(fd) == inside)
		return false;
	if (!datagram)
		return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 && on;
	return getsockname(fd, (struct sockaddr *)&at, &size) == 0 &&
	       at.sin_port == htons(5555);
}

static int change_race(struct target *t, int datagram)
{
	struct changing c = {.there = harmless(t), .nobody = harmless(t)};
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(5555)};
	int kind = datagram ? SOCK_DGRAM : SOCK_STREAM,
	    fresh = socket(AF_INET, kind, 0);
	int limit = tries < 2000 ? tries : 2000, rc = EACCES;
	unsigned long long inside = network_of(fresh);
	pthread_t thread;

	c.fd = socket(AF_INET, kind, 0);
	c.nobody.sin_port = htons(1);
	to(c.fd, &c.there);
	if (network_of(c.fd) == inside)
		return NOT_HERE; /* there is but one network */
	if (pthread_create(&thread, NULL, change_on, &c) != 0)
		return EAGAIN;
	while (rc && limit-- > 0) {
		if (datagram)
			bind(c.fd, (struct sockaddr *)&any, sizeof any);
		else
			listen(c.fd, 1);
		if (serves_outside(c.fd, inside, datagram))
			rc = 0;
		dup2(fresh, c.fd);
		close(fresh);
		fresh = socket(AF_INET, kind, 0);
	}
	c.stop = true;
	pthread_join(thread, NULL);
	return t->denied ? rc : 0;
}

/* --- TCP fast open --- */

static int fast(struct target *t, int how)
{
	struct iovec text = {(void *)"hello", 5};
	struct mmsghdr one = {{.msg_name = &t->inet,
				      .msg_namelen = sizeof t->inet,
				      .msg_iov = &text,
				      .msg_iovlen = 1},
		0};
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1, rc;

	switch (how) {
	case 0:
		if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on) <
			0)
			return NOT_HERE;
		rc = to(fd, &t->inet);
		return rc ? rc : result(write(fd, "x", 1));
	case 1:
		return result(sendmsg(fd, &one.msg_hdr, MSG_FASTOPEN));
	default:
		return result(sendmmsg(fd, &one, 1, MSG_FASTOPEN));
	}
}

/* --- made before there was a filter: run.py hands them over --- */

static int inherited(struct target *t, int datagram)
{
	const char *numbers = getenv("ESC_SOCKETS");
	int stream_fd, datagram_fd, fd, rc;

	if (!numbers || sscanf(numbers, "%d %d", &stream_fd, &datagram_fd) != 2)
		return NOT_HERE;
	fd = datagram ? datagram_fd : stream_fd;
	leave(fd);
	if (datagram)
		rc = result(sendto(
			fd, "x", 1, 0, (struct sockaddr *)&t->inet, sizeof t->inet));
	else
		rc = to(fd, &t->inet);
	leave(fd);
	return rc;
}

/* --- protocols and families --- */

static int made(struct target *t, int which)
{
	static const struct {
		int family, type, protocol;
	} kinds[] = {{AF_INET, SOCK_DGRAM, 115}, {30, SOCK_RDM, 0},
		{21, SOCK_SEQPACKET, 0}, {43, SOCK_STREAM, 0}, {42, SOCK_DGRAM, 0},
		{15, SOCK_RAW, 2}, {44, SOCK_RAW, 0}, {AF_INET, 10, 0x300},
		{16, SOCK_RAW, 2}, {AF_INET6, SOCK_RAW, 58}, {41, SOCK_DGRAM, 0},
		{AF_INET, SOCK_SEQPACKET, 132}};
	int fd = socket(kinds[which].family, kinds[which].type, kinds[which].protocol);

	(void)t;
	if (fd < 0 && (errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT ||
			      errno == ESOCKTNOSUPPORT || errno == EPERM))
		return errno == EPERM ? EPERM : NOT_HERE;
	return result(fd);
}

static int pair_of_others(struct target *t, int arg)
{
	int pair[2];

	(void)t;
	if (socketpair(arg, SOCK_RDM, 0, pair) == 0)
		return 0;
	return errno == EAFNOSUPPORT ? NOT_HERE : errno;
}

/* An echo request needs no port. */
static int ping(struct target *t, int connected)
{
	static const unsigned char echo[8] = {8, 0, 0, 0, 0, 1, 0, 1};
	int fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP), rc;

	if (fd < 0)
		return NOT_HERE; /* net.ipv4.ping_group_range */
	if (!connected)
		return result(sendto(fd, echo, sizeof echo, 0,
			(struct sockaddr *)&t->inet, sizeof t->inet));
	rc = to(fd, &t->inet);
	return rc ? rc : result(send(fd, echo, sizeof echo, 0));
}

const struct attempt ways_table[] = {
	{"again", "c", "a connection is left, then made to the address", again, AGAIN},
	{"again_dup", "c", "the same through a duplicate", again, DUPLICATE},
	{"again_async", "c", "the same without blocking", again, NOT_BLOCKING},
	{"again_table", "c", "the same, left by another thread", again, OTHER_TABLE},
	{"listen_after", "s", "a connection is left, then listen", listen_after, 0},
	{"outside_listen", "s", "listen while the socket changes networks", change_race,
		0},
	{"outside_bind", "s", "bind while the socket changes networks", change_race, 1},
	{"udp_past", "c", "UDP: connect to an allowed address, sendto the other",
		past_connection, 0},
	{"udp_past_msg", "c", "the same by sendmsg", past_connection, 1},
	{"udp_left", "c", "the same, left before", past_connection, 2},
	{"udp_unspec", "c", "UDP: sendto with the family 0", past_connection, 3},
	{"fastopen_connect", "c", "TCP_FASTOPEN_CONNECT", fast, 0},
	{"fastopen_sendmsg", "c", "MSG_FASTOPEN by sendmsg", fast, 1},
	{"fastopen_sendmmsg", "c", "MSG_FASTOPEN by sendmmsg", fast, 2},
	{"inherited_tcp", "c", "a socket that was there before", inherited, 0},
	{"inherited_udp", "c", "the same, UDP", inherited, 1},
	{"l2tp", "sn", "L2TP", made, 0},
	{"tipc", "sn", "TIPC", made, 1},
	{"rds", "sn", "RDS", made, 2},
	{"smc", "sn", "SMC", made, 3},
	{"qipcrtr", "sn", "QIPCRTR", made, 4},
	{"af_key", "snR", "keys of IPsec (AF_KEY)", made, 5},
	{"xdp", "snR", "XDP", made, 6},
	{"sock_packet", "snR", "SOCK_PACKET, older packet sockets", made, 7},
	{"netlink_user", "sn", "netlink between users", made, 8},
	{"raw_icmp6", "snR", "raw ICMPv6", made, 9},
	{"kcm", "sn", "KCM", made, 10},
	{"sctp_packets", "sn", "SCTP with many addresses", made, 11},
	{"tipc_pair", "sn", "a pair of TIPC sockets", pair_of_others, 30},
	{"ping", "s", "an echo request", ping, 0},
	{"ping_connect", "s", "the same by connect and send", ping, 1},
	{0},
};
