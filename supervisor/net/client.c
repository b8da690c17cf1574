/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - from an accepted connection to the processes that have its other end. */
#include "supervisor/net/client.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/profile.h"
#include "supervisor/cleanup.h"
#include "supervisor/descend.h"
#include "supervisor/net/inner.h"

enum { KNOWN_MOST = 256 };

struct ends {
	struct sockaddr_in client, server;
};

static bool ends_of(int fd, struct ends *ret)
{
	socklen_t client = sizeof(ret->client), server = sizeof(ret->server);

	*ret = (struct ends){.client = {.sin_family = AF_UNSPEC}};
	return getpeername(fd, (struct sockaddr *)&ret->client, &client) == 0 &&
	       getsockname(fd, (struct sockaddr *)&ret->server, &server) == 0 &&
	       ret->client.sin_family == AF_INET && ret->server.sin_family == AF_INET;
}

/* --- the socket's inode, asked for in the network that it is in --- */

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

static int diag_socket(const struct aw_watch *watch)
{
	if (watch->inner)
		return aw_inner_socket(watch->inner, AF_NETLINK, SOCK_DGRAM,
			NETLINK_SOCK_DIAG, NULL, 0);
	return socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static bool ask(int fd, const struct ends *ends)
{
	struct question q = {
		.head = {.nlmsg_len = sizeof(q),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = ~0u,
			.id = {.idiag_sport = ends->client.sin_port,
				.idiag_dport = ends->server.sin_port,
				.idiag_src = {ends->client.sin_addr.s_addr},
				.idiag_dst = {ends->server.sin_addr.s_addr},
				.idiag_cookie = {INET_DIAG_NOCOOKIE,
					INET_DIAG_NOCOOKIE}}},
	};

	return send(fd, &q, sizeof(q), 0) == sizeof(q);
}

static bool answered(int fd, ino_t *ret)
{
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} room;
	const struct inet_diag_msg *message = NLMSG_DATA(&room.head);
	ssize_t n = recv(fd, &room, sizeof(room), 0);

	if (n < (ssize_t)(NLMSG_HDRLEN + sizeof(*message)) ||
		room.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return false;
	*ret = message->idiag_inode;
	return *ret != 0;
}

/* The same from /proc/PID/net/tcp, where the kernel has no sock_diag(7) for TCP. */
static bool read_table(
	const struct aw_watch *watch, const struct ends *ends, ino_t *ret)
{
	char path[64], line[256];
	pid_t pids[1];
	size_t some = watch->inner ? aw_processes_alive(watch->tree, pids, 1) : 0;
	unsigned from, to;
	unsigned from_port, to_port;
	unsigned long inode = 0;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/net/tcp", some ? pids[0] : getpid());
	AW_FCLOSE FILE *file = fopen(path, "re");

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %8X:%4X %8X:%4X %*s %*s %*s %*s %*s %*s %lu",
				&from, &from_port, &to, &to_port, &inode) == 5 &&
			from == ends->client.sin_addr.s_addr &&
			to == ends->server.sin_addr.s_addr &&
			from_port == ntohs(ends->client.sin_port) &&
			to_port == ntohs(ends->server.sin_port);
	*ret = (ino_t)inode;
	return found && inode;
}

static bool find_inode(
	const struct aw_watch *watch, const struct ends *ends, ino_t *ret)
{
	AW_CLOSE int fd = diag_socket(watch);

	return (fd >= 0 && ask(fd, ends) && answered(fd, ret)) ||
	       read_table(watch, ends, ret);
}

/* --- the processes --- */

static bool has(pid_t pid, ino_t inode)
{
	char path[64], want[64], link[64];
	AW_CLOSEDIR DIR *dir = NULL;
	struct dirent *entry;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	snprintf(want, sizeof(want), "socket:[%" PRIuMAX "]", (uintmax_t)inode);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		if (strcmp(link, want) == 0)
			return true;
	}
	return false;
}

static bool identify(struct aw_watch *watch, pid_t pid, struct aw_who *ret)
{
	if (!aw_processes_find(watch->tree, pid, ret))
		return false;
	if (ret->execing)
		aw_processes_look(watch->tree, ret);
	if (ret->turning)
		aw_processes_turned(watch->tree, ret);
	return true;
}

/*
 * The first that has it, or all: one in a profile may have passed it to one that is in
 * none.
 */
static bool find_among(struct aw_watch *watch, const pid_t *pids, size_t count,
	ino_t inode, bool all, struct aw_who *ret)
{
	uint32_t profiles = 0;
	struct aw_who who;
	bool found = false;

	for (size_t i = 0; i < count && (all || !found); i++) {
		if (!has(pids[i], inode) || !identify(watch, pids[i], &who))
			continue;
		if (!found || who.role.profiles)
			*ret = who;
		found = true;
		profiles |= who.role.profiles;
	}
	if (found)
		ret->role.profiles = profiles;
	return found;
}

/* Mostly one that is known; forks are not, so all below us are looked at then. */
static bool find_holders(struct aw_watch *watch, ino_t inode, struct aw_who *ret)
{
	bool all = aw_image_profiles(atomic_load(&watch->image)) > 0;
	AW_FREE pid_t *pids = NULL;
	pid_t known[KNOWN_MOST];
	size_t count;

	count = all ? 0 : aw_processes_alive(watch->tree, known, KNOWN_MOST);
	if (find_among(watch, known, count, inode, false, ret))
		return true;
	count = aw_descendants(watch->self, &pids);
	return find_among(watch, pids, count, inode, all, ret);
}

bool aw_client_find(struct aw_watch *watch, int fd, struct aw_who *ret)
{
	struct ends ends;
	ino_t inode;

	return ends_of(fd, &ends) && find_inode(watch, &ends, &inode) &&
	       find_holders(watch, inode, ret);
}
