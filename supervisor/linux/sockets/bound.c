/* SPDX-License-Identifier: Apache-2.0 */
/* bound.c - a list of the sockets that were bound, the oldest one overwritten. */
#include "supervisor/linux/sockets/bound.h"

#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "supervisor/linux/netns/netns.h"
#include "supervisor/util/cleanup.h"

#define ANY_COOKIE UINT32_MAX

enum { BOUND_MAX = 1024, SUN_NAME = 108, DEVICE_MINOR = 20 /* bits */ };

struct bound {
	dev_t dev;		   /* of its file, as stat(2) has it */
	size_t len;		   /* of name; 0: a file */
	int type;		   /* SOCK_STREAM and so on; of a name alone */
	uint32_t socket;	   /* its inode */
	uint32_t ino, kernels_dev; /* of its file, as the kernel numbers them */
	uint32_t cookie[2];
	char name[SUN_NAME];
};

static struct bound list[BOUND_MAX];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- what the kernel says of a socket --- */

struct question {
	struct nlmsghdr head;
	struct unix_diag_req body;
};

static int diag_socket(const struct aw_watch *watch)
{
	if (watch->netns)
		return aw_netns_socket(watch->netns, AF_NETLINK, SOCK_DGRAM,
			NETLINK_SOCK_DIAG, NULL, 0);
	return socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static bool send_question(int fd, const struct bound *about)
{
	struct question q = {
		.head = {.nlmsg_len = sizeof(q),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_family = AF_UNIX,
			.udiag_states = ~0u,
			.udiag_ino = about->socket,
			.udiag_show = UDIAG_SHOW_VFS,
			.udiag_cookie = {about->cookie[0], about->cookie[1]}},
	};

	return send(fd, &q, sizeof(q), 0) == sizeof(q);
}

/* What is told of the socket into *ret; false: it is gone, or nothing is told. */
static bool take_answer(int fd, struct bound *ret)
{
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} room;
	const struct unix_diag_msg *message = NLMSG_DATA(&room.head);
	const struct rtattr *at = (const void *)(message + 1);
	ssize_t n = recv(fd, &room, sizeof(room), 0);
	size_t left;

	if (n < (ssize_t)(NLMSG_HDRLEN + sizeof(*message)) ||
		room.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
		message->udiag_ino != ret->socket)
		return false;
	memcpy(ret->cookie, message->udiag_cookie, sizeof(ret->cookie));
	left = (size_t)n - NLMSG_HDRLEN - sizeof(*message);
	for (; RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		const struct unix_diag_vfs *vfs = RTA_DATA(at);

		if (at->rta_type != UNIX_DIAG_VFS || RTA_PAYLOAD(at) < sizeof(*vfs))
			continue;
		ret->ino = vfs->udiag_vfs_ino;
		ret->kernels_dev = vfs->udiag_vfs_dev;
	}
	return true;
}

static bool ask(const struct aw_watch *watch, struct bound *about)
{
	AW_CLOSE int fd = diag_socket(watch);

	return fd >= 0 && send_question(fd, about) && take_answer(fd, about);
}

/* --- the list --- */

/*
 * Was it made in this file system?  The kernel has one number for all of btrfs, stat(2)
 * one for each part of it.
 */
static bool is_in(struct bound *bound, int folder)
{
	struct statfs fs;
	struct stat st;

	if (!bound->ino || fstat(folder, &st) < 0)
		return false;
	bound->dev = st.st_dev;
	return bound->kernels_dev == ((uint32_t)major(st.st_dev) << DEVICE_MINOR |
					     (uint32_t)minor(st.st_dev)) ||
	       (fstatfs(folder, &fs) == 0 && fs.f_type == BTRFS_SUPER_MAGIC);
}

static void add(
	const struct aw_watch *watch, int socket, int folder, struct bound *bound)
{
	struct stat st;

	bound->cookie[0] = bound->cookie[1] = ANY_COOKIE;
	if (fstat(socket, &st) < 0)
		return;
	bound->socket = (uint32_t)st.st_ino;
	if (!ask(watch, bound) || (!bound->len && !is_in(bound, folder)))
		return;
	pthread_mutex_lock(&lock);
	list[used++ % BOUND_MAX] = *bound;
	pthread_mutex_unlock(&lock);
}

static struct bound of_name(const char *name, size_t len)
{
	struct bound bound = {.len = len < SUN_NAME ? len : SUN_NAME};

	memcpy(bound.name, name, bound.len);
	return bound;
}

void aw_bound_add_file(const struct aw_watch *watch, int socket, int folder)
{
	struct bound bound = {.len = 0};

	add(watch, socket, folder, &bound);
}

void aw_bound_add_name(
	const struct aw_watch *watch, int socket, const char *name, size_t len)
{
	struct bound bound = of_name(name, len);
	socklen_t size = sizeof(bound.type);

	if (bound.len &&
		getsockopt(socket, SOL_SOCKET, SO_TYPE, &bound.type, &size) == 0)
		add(watch, socket, -1, &bound);
}

/* From `*at` on, the next one that is of this file or name. */
static bool next(const struct bound *like, size_t *at, struct bound *ret)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (; *at < used && *at < BOUND_MAX && !found; ++*at) {
		const struct bound *b = &list[*at];

		found = b->socket && b->len == like->len && b->type == like->type &&
			(b->len || (b->ino == like->ino && b->dev == like->dev)) &&
			memcmp(b->name, like->name, b->len) == 0;
		if (found)
			*ret = *b;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static void forget(size_t at, const struct bound *gone)
{
	pthread_mutex_lock(&lock);
	if (list[at].socket == gone->socket &&
		memcmp(list[at].cookie, gone->cookie, sizeof(gone->cookie)) == 0)
		memset(&list[at], 0, sizeof(list[at]));
	pthread_mutex_unlock(&lock);
}

static bool has(const struct aw_watch *watch, const struct bound *like)
{
	struct bound bound;
	size_t at = 0;

	while (next(like, &at, &bound)) {
		if (ask(watch, &bound))
			return true;
		forget(at - 1, &bound);
	}
	return false;
}

bool aw_bound_has_file(const struct aw_watch *watch, const struct stat *st)
{
	return has(
		watch, &(struct bound){.ino = (uint32_t)st->st_ino, .dev = st->st_dev});
}

bool aw_bound_has_name(
	const struct aw_watch *watch, const char *name, size_t len, int type)
{
	struct bound bound = of_name(name, len);

	bound.type = type;
	return bound.len && has(watch, &bound);
}

bool aw_bound_has_socket(const struct aw_watch *watch, uint32_t inode)
{
	struct bound bound = {.socket = 0};
	size_t at;

	pthread_mutex_lock(&lock);
	for (at = 0; at < used && at < BOUND_MAX && !bound.socket; at++)
		if (list[at].socket == inode)
			bound = list[at];
	pthread_mutex_unlock(&lock);
	return bound.socket && ask(watch, &bound);
}
