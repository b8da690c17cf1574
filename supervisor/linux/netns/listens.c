/* SPDX-License-Identifier: Apache-2.0 */
/* listens.c - looking for a socket by its address in the sandbox's network. */
#include "supervisor/linux/netns/listens.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

/* One question at a time, over a socket that stays. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aw_netns *asked_of;
static int channel = -1;

struct question {
	struct nlmsghdr header;
	struct inet_diag_req_v2 about;
};

/* As a look-up for a packet does it: both ends are the same, so that it does not matter
 * which of them the protocol takes for the near one. */
static void set_ends(struct inet_diag_sockid *id, const union aw_any_address *at)
{
	bool ipv4 = at->family == AF_INET;
	const void *bytes = ipv4 ? (const void *)&at->in.sin_addr : &at->in6.sin6_addr;
	size_t len = ipv4 ? 4 : 16;

	id->idiag_sport = id->idiag_dport = ipv4 ? at->in.sin_port : at->in6.sin6_port;
	memcpy(id->idiag_src, bytes, len);
	memcpy(id->idiag_dst, bytes, len);
	id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
}

/* What stands for the loopback, as itself: connect(2) does that, too. */
static union aw_any_address named(const union aw_any_address *at)
{
	union aw_any_address to = *at;

	if (to.family == AF_INET && to.in.sin_addr.s_addr == INADDR_ANY)
		to.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (to.family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&to.in6.sin6_addr))
		to.in6.sin6_addr = in6addr_loopback;
	return to;
}

/* 0 and the inode, or an errno: ENOENT for nobody. */
static int ask(int fd, const struct question *question, ino_t *ret_inode)
{
	struct {
		struct nlmsghdr header;
		union {
			struct nlmsgerr error;
			struct inet_diag_msg found;
			char rest[2048];
		} body;
	} answer;
	ssize_t n;

	if (send(fd, question, sizeof(*question), 0) < 0)
		return errno;
	do
		n = recv(fd, &answer, sizeof(answer), 0);
	while (n < 0 && errno == EINTR);
	if (n < (ssize_t)sizeof(answer.header))
		return EPROTO;
	if (answer.header.nlmsg_type == NLMSG_ERROR)
		return -answer.body.error.error;
	*ret_inode = answer.body.found.idiag_inode;
	return 0;
}

/* False: the kernel cannot say it of this protocol. */
static bool put(int protocol, const union aw_any_address *at, struct question *ret)
{
	union aw_any_address to = named(at);

	if (protocol == IPPROTO_MPTCP) /* listens as TCP, too */
		protocol = IPPROTO_TCP;
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
		return false;
	*ret = (struct question){.header = {.nlmsg_len = sizeof(*ret),
					 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
					 .nlmsg_flags = NLM_F_REQUEST},
		.about = {.sdiag_family = (unsigned char)at->family,
			.sdiag_protocol = (unsigned char)protocol,
			.idiag_states = ~0U}};
	set_ends(&ret->about.id, &to);
	return true;
}

bool aw_here_listens(int protocol, const union aw_any_address *at, ino_t *ret_inode)
{
	AW_CLOSE int fd = -1;
	struct question question;

	*ret_inode = 0;
	if (!put(protocol, at, &question))
		return true;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	return fd < 0 || ask(fd, &question, ret_inode) != ENOENT;
}

bool aw_netns_listens(
	struct aw_netns *netns, int protocol, const union aw_any_address *at)
{
	struct question question;
	ino_t inode;
	bool nobody;

	if (!put(protocol, at, &question))
		return true;
	pthread_mutex_lock(&lock);
	if (asked_of != netns) {
		if (channel >= 0)
			aw_close(channel);
		channel = aw_netns_socket(
			netns, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG, NULL, 0);
		asked_of = netns;
	}
	nobody = channel >= 0 && ask(channel, &question, &inode) == ENOENT;
	pthread_mutex_unlock(&lock);
	return !nobody;
}
