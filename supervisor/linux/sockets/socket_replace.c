/* SPDX-License-Identifier: Apache-2.0 */
/* socket_replace.c - a socket changes places with another. */
#include "supervisor/linux/sockets/socket_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "supervisor/linux/netns/netns.h"
#include "supervisor/linux/pidfd.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/net/dns/name_service.h"
#include "supervisor/util/cleanup.h"

struct aw_socket_replacement aw_socket_replacement_of(
	const struct aw_notified *call, int old)
{
	return (struct aw_socket_replacement){.watch = call->watch,
		.id = call->id,
		.tid = call->target.tid,
		.pid = call->target.who.pid,
		.number = (int)call->args[0],
		.old = old,
		.fd = -1};
}

static int number_of(int fd, int level, int option)
{
	socklen_t len = sizeof(int);
	int value = -1;

	return getsockopt(fd, level, option, &value, &len) < 0 ? -1 : value;
}

/* 0: nothing has become of a stream yet, no connection, not even one on the way. */
static int in_use(int fd, int type, int protocol)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	struct tcp_info info;

	if (type == SOCK_DGRAM || type == SOCK_RAW)
		return 0;
	if (protocol == IPPROTO_TCP) {
		len = sizeof(info.tcpi_state);
		if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
			return errno;
		return info.tcpi_state == TCP_CLOSE ? 0
		       : info.tcpi_state == TCP_SYN_SENT ||
				       info.tcpi_state == TCP_SYN_RECV
			       ? EALREADY
			       : EISCONN;
	}
	return number_of(fd, SOL_SOCKET, SO_ACCEPTCONN) == 0 &&
			       getpeername(fd, (struct sockaddr *)&peer, &len) < 0
		       ? 0
		       : EISCONN;
}

/* The network that is not ours: the sandbox's, or that of name servers. */
static struct aw_netns *network_of(const struct aw_watch *watch)
{
	struct aw_name_service *names = atomic_load(&watch->dns);

	if (watch->netns || !names)
		return watch->netns;
	return aw_name_service_network(names);
}

static bool is_inside(enum aw_route route)
{
	return route == AW_ROUTE_INSIDE || route == AW_ROUTE_NAMES;
}

bool aw_replace_is_there(const struct aw_watch *watch, int fd, enum aw_route route)
{
	const struct aw_netns *netns = network_of(watch);

	return !netns || route == AW_ROUTE_AS_IT_IS || route == AW_ROUTE_EITHER ||
	       aw_netns_has(netns, fd) == is_inside(route);
}

int aw_replace_make(struct aw_socket_replacement *swap, enum aw_route route)
{
	struct aw_netns *netns = network_of(swap->watch);
	bool inside = is_inside(route);
	int type, domain, protocol, fd, err;

	if (aw_replace_is_there(swap->watch, swap->old, route))
		return 0;
	type = number_of(swap->old, SOL_SOCKET, SO_TYPE);
	domain = number_of(swap->old, SOL_SOCKET, SO_DOMAIN);
	protocol = number_of(swap->old, SOL_SOCKET, SO_PROTOCOL);
	err = in_use(swap->old, type, protocol);
	if (err)
		return err;
	if (inside)
		fd = aw_netns_socket(netns, domain, type, protocol, NULL, 0);
	else
		fd = socket(domain, type | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return inside ? -fd : errno;
	aw_replace_copy_options(netns, swap->old, fd);
	fcntl(fd, F_SETFL, fcntl(swap->old, F_GETFL) & O_NONBLOCK);
	swap->fd = fd;
	return 0;
}

/* --- where it is in the target --- */

static bool closes_on_exec(pid_t tid, int number)
{
	char path[64], line[64];
	unsigned flags = 0;
	AW_FCLOSE FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)tid, number);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "flags: %o", &flags) == 1)
			break;
	return flags & O_CLOEXEC;
}

static int put_at(const struct aw_socket_replacement *swap, int number)
{
	struct seccomp_notif_addfd add = {.id = swap->id,
		.flags = SECCOMP_ADDFD_FLAG_SETFD,
		.srcfd = (uint32_t)swap->fd,
		.newfd = (uint32_t)number,
		.newfd_flags = closes_on_exec(swap->tid, number) ? O_CLOEXEC : 0};

	return ioctl(swap->watch->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 ? errno
										 : 0;
}

/* Looks at descriptors, duplicates of the socket, and time for what watches it. */
enum { LOOKS_MOST = 1024, NUMBERS_MOST = 8, WATCHES_MS = 50 };

/* Where in the target the old socket is looked for, and what was found. */
struct search {
	const struct aw_socket_replacement *swap;
	int folder; /* its /proc/TID/fd */
	char old[48];
	int numbers[NUMBERS_MOST], epolls[LOOKS_MOST];
	size_t number_count, epoll_count;
};

/* Of this thread's own work, in ms: what others do meanwhile does not count. */
static int64_t spent(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void watch_instead(const struct search *search, int number)
{
	const struct aw_socket_replacement *swap = search->swap;

	for (size_t i = 0; i < search->number_count; i++) {
		const struct aw_watched at = {.tid = swap->tid,
			.epoll = number,
			.number = search->numbers[i],
			.old = swap->old};

		if (aw_replace_is_watched(&at)) {
			AW_CLOSE int pidfd = aw_pidfd_of_thread(swap->tid, swap->pid);
			AW_CLOSE int epoll = pidfd < 0 ? -1
						       : (int)syscall(SYS_pidfd_getfd,
								 pidfd, number, 0);

			if (epoll >= 0)
				aw_replace_watch_instead(&at, epoll, swap->fd);
		}
	}
}

/*
 * An instance is read as text, of all that it watches.  So it is asked first whether it
 * watches this socket, and a program that has any number of them filled gets no more of
 * our time than this.
 */
static void epolls_too(const struct search *search)
{
	int64_t end = spent() + WATCHES_MS;

	for (size_t i = 0; i < search->epoll_count && spent() < end; i++)
		watch_instead(search, search->epolls[i]);
}

static int look_at(struct search *search, const char *number)
{
	char text[48];
	ssize_t n = readlinkat(search->folder, number, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	if (strcmp(text, search->old) == 0) {
		if (search->number_count < NUMBERS_MOST)
			search->numbers[search->number_count++] = atoi(number);
		return put_at(search->swap, atoi(number));
	}
	if (strcmp(text, "anon_inode:[eventpoll]") == 0 &&
		search->epoll_count < LOOKS_MOST)
		search->epolls[search->epoll_count++] = atoi(number);
	return 0;
}

/*
 * The old one is still open here, so that no epoll instance has forgotten it.  Each
 * look takes some microseconds, and a program with thousands of connections waits for
 * them at each new one: duplicates are looked for among so many.
 */
int aw_replace_put(const struct aw_socket_replacement *swap)
{
	struct search search = {.swap = swap};
	char path[32], own[16];
	AW_CLOSEDIR DIR *dir = NULL;
	struct dirent *entry;
	struct stat st;
	int err;

	if (fstat(swap->old, &st) < 0)
		return errno;
	snprintf(search.old, sizeof(search.old), "socket:[%lu]",
		(unsigned long)st.st_ino);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)swap->tid);
	dir = opendir(path);
	if (!dir)
		return errno;
	search.folder = dirfd(dir);
	snprintf(own, sizeof(own), "%d", swap->number);
	err = look_at(&search, own);
	for (int n = 0; n < LOOKS_MOST && !err && (entry = readdir(dir)); n++)
		if (strcmp(entry->d_name, own) != 0)
			err = look_at(&search, entry->d_name);
	if (!err)
		epolls_too(&search);
	return err;
}

/*
 * Does it belong to the target's own network?  Always where that is ours, too, and for
 * other families than the Internet's.
 */
static bool is_of_target(const struct aw_notified *call, int fd)
{
	int domain = number_of(fd, SOL_SOCKET, SO_DOMAIN);

	return !call->watch->netns || (domain != AF_INET && domain != AF_INET6) ||
	       aw_netns_has(call->watch->netns, fd);
}

/* A datagram socket that has a port, so that it cannot be bound (again). */
static bool has_port(int fd)
{
	union aw_any_address any;
	socklen_t len = sizeof(any.storage);

	memset(&any, 0, sizeof(any));
	/* it is told for longer than it is there: aw_replace_make() looks further */
	if (number_of(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM)
		return false;
	if (getsockname(fd, (struct sockaddr *)&any, &len) < 0)
		return false;
	return (any.family == AF_INET && any.in.sin_port) ||
	       (any.family == AF_INET6 && any.in6.sin6_port);
}

int aw_replace_change(struct aw_notified *call, int *fd, enum aw_route route)
{
	struct aw_socket_replacement swap = aw_socket_replacement_of(call, *fd);
	int err;

	if (aw_replace_is_there(call->watch, *fd, route))
		return 0;
	err = aw_creds_assume(call->watch, &call->target);
	if (!err)
		err = aw_replace_make(&swap, route);
	aw_creds_restore();
	if (err || swap.fd < 0)
		return err;
	err = aw_replace_put(&swap);
	aw_close(err ? swap.fd : swap.old);
	if (!err)
		*fd = swap.fd;
	return err;
}

int aw_replace_turn_inside(struct aw_notified *call, int *fd, enum aw_route route)
{
	int err = has_port(*fd) ? 0 : aw_replace_change(call, fd, route);

	if (err && err != EISCONN && err != EALREADY)
		return err;
	return !err && is_of_target(call, *fd) &&
			       aw_replace_is_there(call->watch, *fd, route)
		       ? 0
		       : EINVAL;
}
