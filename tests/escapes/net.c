/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - connecting and sending to a denied address, in every way there is */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

enum {
	TCP,
	TCP_RAW,
	MAPPED_TCP,
	FASTOPEN,
	UNSPEC_FIRST,
	RECONNECT,
	UDP_CONNECT,
	UDP_SENDTO,
	UDP_SENDMSG,
	UDP_SENDMMSG,
	UDP_SENDMMSG_SECOND,
	MAPPED_UDP,
	RAW_IP,
	PACKET,
	BIND,
	BIND_MAPPED,
	UDP_WRITE,
	COMPATIBLE
};

static struct sockaddr_in6 mapped(const struct sockaddr_in *inet)
{
	struct sockaddr_in6 six = {
		.sin6_family = AF_INET6, .sin6_port = inet->sin_port};

	six.sin6_addr.s6_addr[10] = six.sin6_addr.s6_addr[11] = 0xff;
	memcpy(six.sin6_addr.s6_addr + 12, &inet->sin_addr, 4);
	return six;
}

/* The same server under an address that is allowed. */
static struct sockaddr_in harmless(const struct target *t)
{
	struct sockaddr_in inet = t->inet;

	inet.sin_addr.s_addr = htonl(0x7f010001);
	return inet;
}

static int stream(struct target *t, int how)
{
	struct sockaddr_in6 six = mapped(&t->inet);
	struct sockaddr unspec = {.sa_family = AF_UNSPEC};
	int fd;

	switch (how) {
	case MAPPED_TCP:
		return connect_to(&six, sizeof six, SOCK_STREAM);
	case FASTOPEN:
		fd = socket(AF_INET, SOCK_STREAM, 0);
		return result(sendto(fd, "x", 1, MSG_FASTOPEN,
			(struct sockaddr *)&t->inet, sizeof t->inet));
	case UNSPEC_FIRST:
		fd = socket(AF_INET, SOCK_STREAM, 0);
		connect(fd, &unspec, sizeof unspec);
		return result(connect(fd, (struct sockaddr *)&t->inet, sizeof t->inet));
	case TCP_RAW:
		fd = socket(AF_INET, SOCK_STREAM, 0);
		return -raw(SYS_connect, fd, (long)&t->inet, sizeof t->inet, 0, 0, 0);
	default:
		return connect_to(&t->inet, sizeof t->inet, SOCK_STREAM);
	}
}

static int datagram(struct target *t, int how)
{
	struct sockaddr_in first = harmless(t);
	struct sockaddr_in6 six = mapped(&t->inet);
	struct iovec text = {(void *)"hello", 5};
	struct mmsghdr many[2] = {{{0}, 0}, {{0}, 0}};
	int fd = socket(how == MAPPED_UDP ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), rc;

	if (fd < 0)
		return errno;
	many[0].msg_hdr.msg_name = &first;
	many[1].msg_hdr.msg_name = &t->inet;
	for (rc = 0; rc < 2; rc++) {
		many[rc].msg_hdr.msg_namelen = sizeof first;
		many[rc].msg_hdr.msg_iov = &text;
		many[rc].msg_hdr.msg_iovlen = 1;
	}
	switch (how) {
	case UDP_SENDTO:
		rc = sendto(fd, "x", 1, 0, (struct sockaddr *)&t->inet, sizeof t->inet);
		break;
	case MAPPED_UDP:
		rc = sendto(fd, "x", 1, 0, (struct sockaddr *)&six, sizeof six);
		break;
	case UDP_SENDMSG:
		rc = sendmsg(fd, &many[1].msg_hdr, 0);
		break;
	case UDP_SENDMMSG:
		rc = sendmmsg(fd, many + 1, 1, 0);
		break;
	case UDP_SENDMMSG_SECOND: /* the first one is harmless */
		rc = sendmmsg(fd, many, 2, 0);
		rc = rc == 2 ? 0 : rc < 0 ? -1 : (errno = EACCES, -1);
		break;
	case RECONNECT:
		rc = connect(fd, (struct sockaddr *)&first, sizeof first) < 0 &&
				     !t->denied
			     ? -1
			     : connect(fd, (struct sockaddr *)&t->inet, sizeof t->inet);
		rc = rc < 0 ? -1 : write(fd, "x", 1);
		break;
	default:
		rc = connect(fd, (struct sockaddr *)&t->inet, sizeof t->inet);
		rc = rc < 0 ? -1 : send(fd, "x", 1, 0);
	}
	rc = result(rc);
	close(fd);
	return rc;
}

/* An IP packet with a UDP datagram for the address. */
struct packet {
	struct iphdr ip;
	struct udphdr udp;
	char text[4];
} __attribute__((packed));

static unsigned short checksum(const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;
	unsigned sum = 0;

	for (; size > 1; size -= 2, byte += 2)
		sum += byte[0] | byte[1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static int by_hand(struct target *t, int how)
{
	struct packet packet = {
		.ip = {.ihl = 5, .version = 4, .ttl = 9, .protocol = IPPROTO_UDP},
		.text = "hey"};
	struct {
		unsigned short family, protocol;
		int index;
		unsigned short hatype;
		unsigned char type, length, address[8];
	} link = {AF_PACKET, htons(0x0800), 0, 0, 0, 6, {0}};
	int fd;

	packet.ip.tot_len = htons(sizeof packet);
	packet.ip.saddr = htonl(0x7f000001);
	packet.ip.daddr = t->inet.sin_addr.s_addr;
	packet.ip.check = checksum(&packet.ip, sizeof packet.ip);
	packet.udp.uh_sport = htons(4000);
	packet.udp.uh_dport = t->inet.sin_port;
	packet.udp.uh_ulen = htons(sizeof packet.udp + sizeof packet.text);
	if (how == RAW_IP) {
		fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
		return result(
			fd < 0 ? -1
			       : sendto(fd, &packet, sizeof packet, 0,
					 (struct sockaddr *)&t->inet, sizeof t->inet));
	}
	fd = socket(AF_PACKET, SOCK_DGRAM, htons(0x0800));
	link.index = if_nametoindex("lo");
	return result(fd < 0 ? -1
			     : sendto(fd, &packet, sizeof packet, 0,
				       (struct sockaddr *)&link, sizeof link));
}

/* Bind to the address, then send from there to where we may. */
static int bound(struct target *t, int how)
{
	struct sockaddr_in from = t->inet, to = t->inet;
	struct sockaddr_in6 six, to_six;
	int fd = socket(how == BIND_MAPPED ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), rc;

	from.sin_port = 0;
	to.sin_addr.s_addr = htonl(0x7f010001);
	six = mapped(&from);
	to_six = mapped(&to);
	if (how == BIND_MAPPED)
		rc = bind(fd, (struct sockaddr *)&six, sizeof six);
	else
		rc = bind(fd, (struct sockaddr *)&from, sizeof from);
	if (rc < 0)
		return errno;
	return result(
		how == BIND_MAPPED
			? sendto(fd, "x", 1, 0, (struct sockaddr *)&to_six,
				  sizeof to_six)
			: sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to));
}

/* An address for the loopback device, which is not ours to give. */
static int netlink(struct target *t, int arg)
{
	struct {
		unsigned length;
		unsigned short type, flags;
		unsigned sequence, port;
		unsigned char family, prefix, more_flags, scope;
		unsigned index;
		unsigned short attribute_length, attribute;
		unsigned address;
	} request = {sizeof request, 20 /* RTM_NEWADDR */, 1 | 4 | 0x100 | 0x400, 1, 0,
		AF_INET, 32, 0, 0, if_nametoindex("lo"), 8, 2 /* IFA_LOCAL */,
		t->inet.sin_addr.s_addr};
	struct {
		unsigned header[4];
		int error;
	} answer = {{0}, 0};
	int fd = socket(AF_NETLINK, SOCK_RAW, 0);

	(void)arg;
	if (fd < 0 || send(fd, &request, sizeof request, 0) < 0 ||
		recv(fd, &answer, sizeof answer, 0) < 0)
		return errno;
	return -answer.error;
}

/* Families and protocols that no rule speaks of. */
static int family(struct target *t, int which)
{
	static const struct {
		int family, type, protocol;
	} kinds[] = {
		{AF_INET, SOCK_STREAM, 132},
		{AF_INET, 6, 33},
		{40, SOCK_STREAM, 0},
		{38, SOCK_SEQPACKET, 0},
		{AF_INET, SOCK_STREAM, 262},
	};
	struct {
		unsigned short family, reserved;
		unsigned port, cid;
		unsigned char rest[4];
	} vsock = {40, 0, 22, 2, {0}};
	struct {
		unsigned short family;
		char type[14];
		unsigned feature, mask;
		char name[64];
	} alg = {38, "hash", 0, 0, "sha256"};
	int fd = socket(kinds[which].family, kinds[which].type, kinds[which].protocol);
	int rc;

	if (fd < 0)
		return errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT ||
				       errno == ESOCKTNOSUPPORT
			       ? NOT_HERE
			       : errno;
	if (which == 2)
		rc = connect(fd, (struct sockaddr *)&vsock, 16);
	else if (which == 3)
		rc = bind(fd, (struct sockaddr *)&alg, sizeof alg);
	else
		rc = connect(fd, (struct sockaddr *)&t->inet, sizeof t->inet);
	/* it was tried, and nobody was there */
	if (rc < 0 && (errno == ENODEV || errno == ECONNRESET || errno == ETIMEDOUT))
		return NOT_HERE;
	return result(rc);
}

struct thread_case {
	struct target *t;
	int number, stream, datagram, rc;
};

/* The number is a stream for the others, and a datagram socket here. */
static void *in_own_table(void *arg)
{
	struct thread_case *c = arg;
	const struct sockaddr *to = (const struct sockaddr *)&c->t->inet;

	if (unshare(CLONE_FILES) < 0 || dup2(c->datagram, c->number) < 0)
		c->rc = errno;
	else
		c->rc = result(sendto(c->number, "x", 1, 0, to, sizeof c->t->inet));
	return NULL;
}

static bool two_sockets(struct thread_case *c)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return false;
	c->stream = pair[0];
	c->number = dup(pair[0]);
	c->datagram = socket(AF_INET, SOCK_DGRAM, 0);
	return c->number >= 0 && c->datagram >= 0;
}

static int own_table(struct target *t, int arg)
{
	struct thread_case c = {.t = t};
	pthread_t thread;

	(void)arg;
	if (!two_sockets(&c) || pthread_create(&thread, NULL, in_own_table, &c) != 0)
		return errno;
	pthread_join(thread, NULL);
	return c.rc;
}

const struct attempt net_table[] = {
	{"tcp", "c", "connect", stream, TCP},
	{"tcp_raw", "c", "connect by a raw call", stream, TCP_RAW},
	{"tcp_mapped", "c", "connect to ::ffff:a.b.c.d", stream, MAPPED_TCP},
	{"tcp_fastopen", "c", "sendto with MSG_FASTOPEN", stream, FASTOPEN},
	{"tcp_unspec", "c", "connect with AF_UNSPEC first", stream, UNSPEC_FIRST},
	{"udp_connect", "c", "UDP: connect, send", datagram, UDP_CONNECT},
	{"udp_reconnect", "c", "UDP: connect to an allowed address, then to the other",
		datagram, RECONNECT},
	{"udp_sendto", "c", "UDP: sendto", datagram, UDP_SENDTO},
	{"udp_sendmsg", "c", "UDP: sendmsg", datagram, UDP_SENDMSG},
	{"udp_sendmmsg", "c", "UDP: sendmmsg", datagram, UDP_SENDMMSG},
	{"udp_sendmmsg_2", "c", "UDP: the second message of sendmmsg", datagram,
		UDP_SENDMMSG_SECOND},
	{"udp_mapped", "c", "UDP: sendto ::ffff:a.b.c.d", datagram, MAPPED_UDP},
	{"udp_own_table", "c", "UDP: sendto in a thread with a table of its own",
		own_table, 0},
	{"raw_ip", "cR", "a raw socket", by_hand, RAW_IP},
	{"packet", "sRn", "a packet socket", by_hand, PACKET},
	{"bind", "b", "bind to an address that is not to be listened on", bound, BIND},
	{"bind_mapped", "b", "the same as ::ffff:a.b.c.d", bound, BIND_MAPPED},
	{"netlink", "sRn", "another address for a device, by netlink", netlink, 0},
	{"sctp", "cn", "SCTP", family, 0},
	{"dccp", "cn", "DCCP", family, 1},
	{"vsock", "sn", "a vsock connection to the host", family, 2},
	{"af_alg", "sn", "the kernel's ciphers (AF_ALG)", family, 3},
	{"mptcp", "c", "MPTCP", family, 4},
	{0},
};
