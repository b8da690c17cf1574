/* SPDX-License-Identifier: Apache-2.0 */
/* socket_factory.c - joins a network namespace and makes sockets there. */
#include "supervisor/linux/netns/socket_factory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "supervisor/util/pass.h"

enum { SOCKET = 0, LOOPBACK = 1 /* index of lo, in any namespace */ };

/* RTM_NEWADDR for one address of the loopback, alone in its net. */
struct params {
	struct nlmsghdr header;
	struct ifaddrmsg about;
	struct rtattr attribute;
	unsigned char bytes[sizeof(struct in6_addr)];
};

static int acknowledged(int fd)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} reply;
	ssize_t n;

	do
		n = recv(fd, &reply, sizeof(reply), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno;
	if (n < (ssize_t)sizeof(reply.header) || reply.header.nlmsg_type != NLMSG_ERROR)
		return EPROTO;
	return -reply.error.error;
}

static int add_address(int family, const void *bytes, size_t len)
{
	struct params params = {
		.header = {.nlmsg_type = RTM_NEWADDR,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE},
		.about = {.ifa_family = (unsigned char)family,
			.ifa_prefixlen = (unsigned char)(len * 8),
			.ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
			.ifa_index = LOOPBACK},
		.attribute = {.rta_len = (unsigned short)RTA_LENGTH(len),
			.rta_type = IFA_LOCAL}};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), err = 0;

	if (fd < 0)
		return errno;
	params.header.nlmsg_len =
		(uint32_t)(offsetof(struct params, attribute) + RTA_LENGTH(len));
	memcpy(params.bytes, bytes, len);
	if (send(fd, &params, params.header.nlmsg_len, 0) < 0)
		err = errno;
	if (!err)
		err = acknowledged(fd);
	close(fd);
	return err == EEXIST ? 0 : err;
}

/* One that is of IPv4 stays so when it is written as one of IPv6. */
static int add_for(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	if (address->ss_family == AF_INET)
		return add_address(AF_INET, &in->sin_addr, 4);
	if (address->ss_family != AF_INET6)
		return EADDRNOTAVAIL;
	return IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)
		       ? add_address(AF_INET, in6->sin6_addr.s6_addr + 12, 4)
		       : add_address(AF_INET6, &in6->sin6_addr, 16);
}

static int loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	if (fd < 0)
		return errno;
	if (ioctl(fd, SIOCGIFFLAGS, &lo) < 0)
		err = errno;
	lo.ifr_flags |= IFF_UP;
	if (!err && ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		err = errno;
	close(fd);
	return err;
}

/*
 * Addresses that nobody has (RFC 7600, RFC 6666), so that getaddrinfo(3) finds more
 * than the loopback.  A kernel without a family goes without it.
 */
static void add_plain_ones(const struct aw_socket_factory *factory)
{
	static const unsigned char ipv4[4] = {192, 0, 0, 8}, ipv6[16] = {1, [15] = 1};

	if (factory->ipv4)
		add_address(AF_INET, ipv4, sizeof(ipv4));
	if (factory->ipv6)
		add_address(AF_INET6, ipv6, sizeof(ipv6));
}

static int bind_there(int fd, const struct aw_socket_factory_request *rq)
{
	const struct sockaddr *address = (const struct sockaddr *)&rq->address;
	int err;

	if (bind(fd, address, rq->len) == 0)
		return 0;
	if (errno != EADDRNOTAVAIL)
		return errno;
	err = add_for(&rq->address);
	return !err && bind(fd, address, rq->len) < 0 ? errno : err;
}

static int make(const struct aw_socket_factory_request *rq, int *ret_fd)
{
	int fd = socket(rq->domain, rq->type | SOCK_CLOEXEC, rq->protocol), err, on = 1;

	if (fd < 0)
		return errno;
	if (rq->len && (rq->type & 0xf) == SOCK_STREAM)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	err = rq->len ? bind_there(fd, rq) : 0;
	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

static void answer(int err, enum aw_socket_factory_step step, int fd)
{
	struct aw_socket_factory_answer words = {err, step};

	aw_pass(SOCKET, &words, sizeof(words), &fd, fd >= 0, 0);
}

static void join(const struct aw_socket_factory *factory)
{
	enum aw_socket_factory_step step = AW_SOCKET_FACTORY_USER;
	int err = 0;

	if (factory->user >= 0 && setns(factory->user, CLONE_NEWUSER) < 0)
		err = errno;
	if (!err && (step = AW_SOCKET_FACTORY_NETWORK,
			    setns(factory->network, CLONE_NEWNET) < 0))
		err = errno;
	dup2(factory->socket, SOCKET);
	close_range(SOCKET + 1, ~0U, 0);
	if (!err) {
		step = AW_SOCKET_FACTORY_LOOPBACK;
		err = loopback_up();
	}
	if (!err)
		add_plain_ones(factory);
	answer(err, err ? step : AW_SOCKET_FACTORY_READY, -1);
	if (err)
		_exit(1);
}

void aw_socket_factory_run(const struct aw_socket_factory *factory)
{
	struct aw_socket_factory_request rq;
	sigset_t all;
	ssize_t n;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "aw-sockets");
	join(factory);
	/* only now: with other rights, both are as they were at first (prctl(2)) */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != factory->parent || chdir("/") < 0)
		_exit(1);
	for (;;) {
		int fd = -1, err;

		n = recv(SOCKET, &rq, sizeof(rq), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(rq))
			_exit(0);
		err = make(&rq, &fd);
		answer(err, AW_SOCKET_FACTORY_READY, fd);
		if (fd >= 0)
			close(fd);
	}
}
