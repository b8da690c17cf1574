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

struct aw_inner {
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
static int find_namespaces(pid_t member, struct aw_maker *ret, struct aw_error *err)
{
	struct stat ours, theirs;
	AW_CLOSE int own = open_namespace(getpid(), "user");

	ret->network = open_namespace(member, "net");
	if (ret->network < 0)
		return aw_fail(err, errno, "looking at the network of the wall: %s",
			strerror(errno));
	ret->user = ioctl(ret->network, NS_GET_USERNS);
	if (ret->user < 0)
		return aw_fail(err, errno,
			"the network of the wall belongs to somebody else (%s)",
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
static void find_families(struct aw_maker *ret)
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

static int receive(int socket, struct aw_maker_answer *ret, int *ret_fd)
{
	int fds[AW_PASS_MOST];
	ssize_t n = aw_pass_take(socket, ret, sizeof(*ret), fds);

	if (n < 0)
		return errno;
	*ret_fd = fds[0];
	return n == sizeof(*ret) ? ret->err : ESRCH;
}

static int joined(int socket, struct aw_error *err)
{
	static const char *const steps[] = {[AW_MAKER_USER] = "joining its users",
		[AW_MAKER_NETWORK] = "joining it",
		[AW_MAKER_LOOPBACK] = "bringing its loopback up",
		[AW_MAKER_READY] = "starting"};
	struct aw_maker_answer answer = {.step = AW_MAKER_READY};
	int none = -1, code = receive(socket, &answer, &none);

	if (!code)
		return 0;
	return aw_fail(err, code, "the network of the wall cannot be entered: %s: %s",
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

static int start_child(struct aw_inner *inner, struct aw_maker *maker, pid_t member,
	struct aw_error *err)
{
	int pair[2];

	if (find_namespaces(member, maker, err) < 0)
		return -1;
	find_families(maker);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return aw_fail(err, errno,
			"entering the network of the wall: making a socket: %s",
			strerror(errno));
	maker->socket = pair[1];
	maker->parent = getpid();
	inner->socket = pair[0];
	inner->child = fork_silently();
	if (inner->child == 0)
		aw_maker_run(maker);
	if (inner->child > 0)
		aw_helper_add(inner->child);
	close(pair[1]);
	if (inner->child < 0)
		return aw_fail(err, errno, "entering the network of the wall: fork: %s",
			strerror(errno));
	return joined(inner->socket, err);
}

static bool cookie_of(int fd, uint64_t *ret)
{
	socklen_t len = sizeof(*ret);

	return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, ret, &len) == 0;
}

/* Which namespace it is, by a socket of it. */
static int identify(struct aw_inner *inner, struct aw_error *err)
{
	AW_CLOSE int fd = aw_inner_socket(inner, AF_INET, SOCK_DGRAM, 0, NULL, 0);

	if (fd < 0)
		return aw_fail(err, -fd, "making a socket in the wall's network: %s",
			strerror(-fd));
	if (!cookie_of(fd, &inner->cookie))
		return aw_fail(err, errno,
			"telling the wall's network from others: %s (Linux 5.14 can)",
			strerror(errno));
	return 0;
}

int aw_inner_start(pid_t member, struct aw_inner **ret, struct aw_error *err)
{
	struct aw_inner *inner = calloc(1, sizeof(*inner));
	struct aw_maker maker = {.user = -1, .network = -1};
	int failed;

	if (!inner)
		return aw_fail(
			err, ENOMEM, "entering the network of the wall: out of memory");
	pthread_mutex_init(&inner->lock, NULL);
	inner->socket = -1;
	failed = start_child(inner, &maker, member, err);
	if (maker.user >= 0)
		close(maker.user);
	if (maker.network >= 0)
		close(maker.network);
	if (failed || identify(inner, err) < 0) {
		aw_inner_stop(inner);
		return -1;
	}
	*ret = inner;
	return 0;
}

int aw_inner_socket(struct aw_inner *inner, int domain, int type, int protocol,
	const struct sockaddr *address, socklen_t len)
{
	struct aw_maker_request rq = {.domain = domain,
		.type = type,
		.protocol = protocol,
		.len = address ? len : 0};
	struct aw_maker_answer answer;
	int fd = -1, err = 0;

	if (rq.len > sizeof(rq.address))
		return -EINVAL;
	if (rq.len)
		memcpy(&rq.address, address, rq.len);
	pthread_mutex_lock(&inner->lock);
	if (send(inner->socket, &rq, sizeof(rq), MSG_NOSIGNAL) < 0)
		err = errno;
	if (!err)
		err = receive(inner->socket, &answer, &fd);
	pthread_mutex_unlock(&inner->lock);
	if (!err && fd < 0)
		err = EMFILE; /* it came, and there was no number for it here */
	return err ? -err : fd;
}

bool aw_inner_has(const struct aw_inner *inner, int fd)
{
	uint64_t cookie;

	return cookie_of(fd, &cookie) && cookie == inner->cookie;
}

void aw_inner_stop(struct aw_inner *inner)
{
	if (!inner)
		return;
	if (inner->socket >= 0)
		close(inner->socket);
	if (inner->child > 0) {
		kill(inner->child, SIGKILL);
		while (waitpid(inner->child, NULL, __WCLONE) < 0 && errno == EINTR)
			;
	}
	pthread_mutex_destroy(&inner->lock);
	free(inner);
}
