/* SPDX-License-Identifier: Apache-2.0 */
/* netns.c - sockets of another network namespace, from a child that has joined it. */
#include "supervisor/linux/netns/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/nsfs.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/linux/netns/socket_factory.h"
#include "supervisor/process/descend.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/pass.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* Linux 5.14 */
#endif

struct aw_netns {
	pthread_mutex_t lock; /* one request at a time */
	int socket;
	pid_t child;
	uint64_t cookie; /* of the namespace */
};

static int open_namespace(pid_t pid, const char *kind)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Without the owner of the network's rights nothing can be done in it. */
static int find_namespaces(
	pid_t member, struct aw_socket_factory *ret, struct aw_error *err)
{
	struct stat ours, theirs;
	AW_CLOSE int own = open_namespace(getpid(), "user");

	ret->network = open_namespace(member, "net");
	if (ret->network < 0)
		return aw_fail(err, errno, "looking at the network of the sandbox: %s",
			strerror(errno));
	ret->user = ioctl(ret->network, NS_GET_USERNS);
	if (ret->user < 0)
		return aw_fail(err, errno,
			"the network of the sandbox belongs to somebody else (%s)",
			strerror(errno));
	if (own >= 0 && fstat(own, &ours) == 0 && fstat(ret->user, &theirs) == 0 &&
		ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino) {
		close(ret->user);
		ret->user = -1;
	}
	return 0;
}

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	return address->sa_family == AF_INET ? ntohl(in->sin_addr.s_addr) >> 24 == 127
					     : IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

/* The families that programs outside would look for. */
static void find_families(struct aw_socket_factory *ret)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0)
		return;
	for (struct ifaddrs *i = all; i; i = i->ifa_next) {
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;

		if ((family != AF_INET && family != AF_INET6) ||
			is_loopback(i->ifa_addr))
			continue;
		*(family == AF_INET ? &ret->ipv4 : &ret->ipv6) = true;
	}
	freeifaddrs(all);
}

static int receive(int socket, struct aw_socket_factory_answer *ret, int *ret_fd)
{
	int fds[AW_PASS_MAX];
	ssize_t n = aw_pass_take(socket, ret, sizeof(*ret), fds);

	if (n < 0)
		return errno;
	*ret_fd = fds[0];
	return n == sizeof(*ret) ? ret->err : ESRCH;
}

static int joined(int socket, struct aw_error *err)
{
	static const char *const steps[] = {
		[AW_SOCKET_FACTORY_USER] = "joining its users",
		[AW_SOCKET_FACTORY_NETWORK] = "joining it",
		[AW_SOCKET_FACTORY_LOOPBACK] = "bringing its loopback up",
		[AW_SOCKET_FACTORY_READY] = "starting"};
	struct aw_socket_factory_answer answer = {.step = AW_SOCKET_FACTORY_READY};
	int none = -1, code = receive(socket, &answer, &none);

	if (!code)
		return 0;
	return aw_fail(err, code,
		"the network of the sandbox cannot be entered: %s: %s",
		steps[answer.step], strerror(code));
}

/*
 * A child that nobody is told the end of: who waits for the command and what it has
 * left behind does not wait for this one (wait(2), __WCLONE).
 */
static pid_t fork_silently(void)
{
	return (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
}

static int start_child(struct aw_netns *netns, struct aw_socket_factory *factory,
	pid_t member, struct aw_error *err)
{
	int pair[2];

	if (find_namespaces(member, factory, err) < 0)
		return -1;
	find_families(factory);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return aw_fail(err, errno,
			"entering the network of the sandbox: making a socket: %s",
			strerror(errno));
	factory->socket = pair[1];
	factory->parent = getpid();
	netns->socket = pair[0];
	netns->child = fork_silently();
	if (netns->child == 0)
		aw_socket_factory_run(factory);
	if (netns->child > 0)
		aw_helper_add(netns->child);
	close(pair[1]);
	if (netns->child < 0)
		return aw_fail(err, errno,
			"entering the network of the sandbox: fork: %s",
			strerror(errno));
	return joined(netns->socket, err);
}

static bool cookie_of(int fd, uint64_t *ret)
{
	socklen_t len = sizeof(*ret);

	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, ret, &len) == 0;
}

/* Which namespace it is, by a socket of it. */
static int identify(struct aw_netns *netns, struct aw_error *err)
{
	AW_CLOSE int fd = aw_netns_socket(netns, AF_INET, SOCK_DGRAM, 0, NULL, 0);

	if (fd < 0)
		return aw_fail(err, -fd, "making a socket in the sandbox's network: %s",
			strerror(-fd));
	if (!cookie_of(fd, &netns->cookie))
		return aw_fail(err, errno,
			"telling the sandbox's network from others: %s (Linux 5.14 can)",
			strerror(errno));
	return 0;
}

int aw_netns_start(pid_t member, struct aw_netns **ret, struct aw_error *err)
{
	struct aw_netns *netns = calloc(1, sizeof(*netns));
	struct aw_socket_factory factory = {.user = -1, .network = -1};
	int failed;

	if (!netns)
		return aw_fail(err, ENOMEM,
			"entering the network of the sandbox: out of memory");
	pthread_mutex_init(&netns->lock, NULL);
	netns->socket = -1;
	failed = start_child(netns, &factory, member, err);
	if (factory.user >= 0)
		close(factory.user);
	if (factory.network >= 0)
		close(factory.network);
	if (failed || identify(netns, err) < 0) {
		aw_netns_stop(netns);
		return -1;
	}
	*ret = netns;
	return 0;
}

int aw_netns_socket(struct aw_netns *netns, int domain, int type, int protocol,
	const struct sockaddr *address, socklen_t len)
{
	struct aw_socket_factory_request rq = {.domain = domain,
		.type = type,
		.protocol = protocol,
		.len = address ? len : 0};
	struct aw_socket_factory_answer answer;
	int fd = -1, err = 0;

	if (rq.len > sizeof(rq.address))
		return -EINVAL;
	if (rq.len)
		memcpy(&rq.address, address, rq.len);
	pthread_mutex_lock(&netns->lock);
	if (send(netns->socket, &rq, sizeof(rq), MSG_NOSIGNAL) < 0)
		err = errno;
	if (!err)
		err = receive(netns->socket, &answer, &fd);
	pthread_mutex_unlock(&netns->lock);
	if (!err && fd < 0)
		err = EMFILE; /* it came, and there was no number for it here */
	return err ? -err : fd;
}

bool aw_netns_has(const struct aw_netns *netns, int fd)
{
	uint64_t cookie;

	return cookie_of(fd, &cookie) && cookie == netns->cookie;
}

void aw_netns_stop(struct aw_netns *netns)
{
	if (!netns)
		return;
	if (netns->socket >= 0)
		close(netns->socket);
	if (netns->child > 0) {
		kill(netns->child, SIGKILL);
		while (waitpid(netns->child, NULL, __WCLONE) < 0 && errno == EINTR)
			;
	}
	pthread_mutex_destroy(&netns->lock);
	free(netns);
}
