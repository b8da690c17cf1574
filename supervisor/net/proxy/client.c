/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - from an accepted connection to the processes that have its other end. */
#include "supervisor/net/proxy/client.h"

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

#include "policy/image/profile.h"
#include "supervisor/linux/netns/netns.h"
#include "supervisor/net/egress/egress.h"
#include "supervisor/process/descend.h"
#include "supervisor/util/cleanup.h"

/* FIRST: descriptors of each process that are read at first, GROWTH times as many next */
enum { KNOWN_MOST = 256, FIRST = 64, GROWTH = 4 };

/* --- the socket's inode, asked for in the network that it is in --- */

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

static int diag_socket(const struct aw_watch *watch)
{
	if (watch->netns)
		return aw_netns_socket(watch->netns, AF_NETLINK, SOCK_DGRAM,
			NETLINK_SOCK_DIAG, NULL, 0);
	return socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static bool ask(int fd, const struct aw_client *client)
{
	struct question q = {
		.head = {.nlmsg_len = sizeof(q),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = ~0u,
			.id = {.idiag_sport = client->from.sin_port,
				.idiag_dport = client->to.sin_port,
				.idiag_src = {client->from.sin_addr.s_addr},
				.idiag_dst = {client->to.sin_addr.s_addr},
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
	const struct aw_watch *watch, const struct aw_client *client, ino_t *ret)
{
	char path[64], line[256];
	pid_t pids[1];
	size_t some = watch->netns ? aw_processes_alive(watch->tree, pids, 1) : 0;
	unsigned from, to;
	unsigned from_port, to_port;
	unsigned long inode = 0;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/net/tcp", some ? pids[0] : getpid());
	AW_FCLOSE FILE *file = fopen(path, "re");

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %8X:%4X %8X:%4X %*s %*s %*s %*s %*s %*s %lu",
				&from, &from_port, &to, &to_port, &inode) == 5 &&
			from == client->from.sin_addr.s_addr &&
			to == client->to.sin_addr.s_addr &&
			from_port == ntohs(client->from.sin_port) &&
			to_port == ntohs(client->to.sin_port);
	*ret = (ino_t)inode;
	return found && inode;
}

bool aw_client_of(struct aw_watch *watch, int fd, struct aw_client *ret)
{
	socklen_t from = sizeof(ret->from), to = sizeof(ret->to);

	*ret = (struct aw_client){.from = {.sin_family = AF_UNSPEC}};
	if (getpeername(fd, (struct sockaddr *)&ret->from, &from) < 0 ||
		getsockname(fd, (struct sockaddr *)&ret->to, &to) < 0 ||
		ret->from.sin_family != AF_INET || ret->to.sin_family != AF_INET)
		return false;
	AW_CLOSE int diag = diag_socket(watch);

	if (diag < 0 || !ask(diag, ret) || !answered(diag, &ret->inode))
		ret->inode = 0;
	if (!watch->traffic || !aw_client_noted(&watch->traffic->clients, ret->inode,
				       &ret->connected, &ret->number))
		ret->connected = 0;
	return true;
}

/* --- the processes --- */

static bool is_it(const char *link, ssize_t len, ino_t inode)
{
	char want[64];
	int n = snprintf(want, sizeof(want), "socket:[%" PRIuMAX "]", (uintmax_t)inode);

	return len == n && memcmp(link, want, (size_t)n) == 0;
}

/* As this very descriptor. */
static bool has_as(pid_t pid, int number, ino_t inode)
{
	char path[64], link[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
	return is_it(link, readlink(path, link, sizeof(link)), inode);
}

/* 1: it has it; 0: it has not; -1: not among the first `most` that it has. */
static int has(pid_t pid, ino_t inode, size_t most, const _Atomic bool *over)
{
	char path[64], link[64];
	AW_CLOSEDIR DIR *dir = NULL;
	struct dirent *entry;
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (is_it(link,
			    readlinkat(dirfd(dir), entry->d_name, link, sizeof(link)),
			    inode))
			return 1;
		if (++count > most + 2 || atomic_load(over)) /* 2: "." and ".." */
			return -1;
	}
	return 0;
}

static bool identify(struct aw_watch *watch, pid_t pid, struct aw_process_info *ret)
{
	if (!aw_processes_find(watch->tree, pid, ret))
		return false;
	if (ret->execing)
		aw_processes_look(watch->tree, ret);
	if (ret->turning)
		aw_processes_turned(watch->tree, ret);
	return true;
}

/* A policy with profiles: all that hold it have to be known. */
static bool has_profiles(struct aw_watch *watch)
{
	unsigned door = aw_epoch_enter(&watch->readers);
	bool some = aw_image_profiles(atomic_load(&watch->image)) > 0;

	aw_epoch_leave(&watch->readers, door);
	return some;
}

bool aw_client_is_known(struct aw_watch *watch, const struct aw_client *client,
	struct aw_process_info *ret)
{
	return client->connected && !has_profiles(watch) &&
	       aw_processes_peek(watch->tree, client->connected, ret) &&
	       has_as(client->connected, client->number, client->inode) &&
	       identify(watch, client->connected, ret);
}

struct search {
	struct aw_watch *watch;
	const struct aw_client *client;
	bool all;
	const _Atomic bool *over;
	bool found;
	uint32_t profiles; /* of those that were found */
	struct aw_process_info *who;
};

/*
 * Can it still change anything?  Who is in no profile but those of others that have it
 * cannot.  meet: it may be one that was not heard of yet, and has much to be read.
 */
static bool matters(const struct search *s, pid_t pid, bool meet)
{
	struct aw_process_info who;

	if (!s->found)
		return true;
	if (!s->all)
		return false;
	if (meet ? !identify(s->watch, pid, &who)
		 : !aw_processes_peek(s->watch->tree, pid, &who))
		return true;
	return who.execing || who.turning || who.role.profiles & ~s->profiles;
}

static void take(struct search *s, pid_t pid)
{
	struct aw_process_info who;

	if (!identify(s->watch, pid, &who))
		return;
	if (!s->found || who.role.profiles)
		*s->who = who;
	s->found = true;
	s->profiles |= who.role.profiles;
}

/* False: it has more than these, and is to be looked at again. */
static bool look_at(struct search *s, pid_t pid, size_t most)
{
	int it_has;

	if (!matters(s, pid, most > FIRST))
		return true;
	it_has = has(pid, s->client->inode, most, s->over);
	if (it_has > 0)
		take(s, pid);
	return it_has >= 0;
}

/*
 * In rounds, with more descriptors of each in each: who has many delays none that has
 * few, but where all have to be known.
 */
static void look_at_all(struct search *s, pid_t *pids, size_t count, size_t most)
{
	size_t left = count;

	for (size_t some = FIRST; left && some <= most; some *= GROWTH) {
		count = left;
		left = 0;
		for (size_t i = 0; i < count && !atomic_load(s->over); i++)
			if (!look_at(s, pids[i], some))
				pids[left++] = pids[i];
	}
}

/* Mostly one that is known; forks are not, so all below us are looked at then. */
static void find_holders(struct search *s)
{
	AW_FREE pid_t *pids = NULL;
	pid_t known[KNOWN_MOST];
	size_t count;

	/* first of all, so that those in no other profile need not be read */
	if (s->client->connected &&
		has_as(s->client->connected, s->client->number, s->client->inode))
		take(s, s->client->connected);
	if (!s->all)
		look_at_all(s, known,
			aw_processes_alive(s->watch->tree, known, KNOWN_MOST), FIRST);
	if (s->found && !s->all)
		return;
	count = aw_descendants(s->watch->self, &pids);
	look_at_all(s, pids, count, SIZE_MAX / GROWTH);
}

bool aw_client_find(struct aw_watch *watch, const struct aw_client *client,
	const _Atomic bool *over, struct aw_process_info *ret)
{
	struct aw_client with_inode = *client;
	struct search s = {.watch = watch,
		.client = &with_inode,
		.all = has_profiles(watch),
		.over = over,
		.who = ret};

	if (!client->inode && !read_table(watch, client, &with_inode.inode))
		return false;
	find_holders(&s);
	if (s.found)
		ret->role.profiles = s.profiles;
	return s.found && !atomic_load(over);
}

bool aw_client_holds(struct aw_watch *watch, ino_t inode)
{
	const struct aw_client client = {.inode = inode};
	const _Atomic bool never = false;
	struct aw_process_info who;
	struct search s = {
		.watch = watch, .client = &client, .over = &never, .who = &who};
	AW_FREE pid_t *pids = NULL;
	pid_t known[KNOWN_MOST];

	look_at_all(
		&s, known, aw_processes_alive(watch->tree, known, KNOWN_MOST), FIRST);
	if (!s.found) {
		size_t count = aw_descendants(watch->self, &pids);

		look_at_all(&s, pids, count < KNOWN_MOST ? count : KNOWN_MOST, FIRST);
	}
	return s.found;
}
