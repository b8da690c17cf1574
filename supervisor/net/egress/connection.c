/* SPDX-License-Identifier: Apache-2.0 */
/* connection.c - what becomes of connections to outside, told by sock_diag(7). */
#include "supervisor/net/egress/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"
#include "supervisor/util/hash.h"

enum { ROOM = 1 << 20, LINGER_MS = 50, GATHER_MS = 5 };

struct entry {
	uint64_t cookie; /* SO_COOKIE */
	struct aw_connection is;
	UT_hash_handle hh;
};

struct aw_conntrack {
	struct aw_watch *watch;
	int netlink, stop;
	pthread_t thread;
	pthread_mutex_t lock;
	struct entry *all; /* with the lock */
	bool heard;	   /* the same: we are told of ends */
	/* one datagram: of the thread, and of who has joined it */
	_Alignas(NLMSG_ALIGNTO) char room[32768];
};

void aw_connection_note(struct aw_connection *c, const struct aw_process_info *who,
	const struct aw_event *event)
{
	memset(c, 0, sizeof(*c));
	c->who = *who;
	c->family = event->family;
	c->port = event->port;
	c->began = aw_watch_now();
	snprintf(c->address, sizeof(c->address), "%.*s", (int)event->address.len,
		event->address.len ? event->address.bytes : "");
	snprintf(c->host, sizeof(c->host), "%.*s", (int)event->host.len,
		event->host.len ? event->host.bytes : "");
}

void aw_connection_tell(const struct aw_connection *c, struct aw_event *event)
{
	aw_watch_sign(event, &c->who);
	event->family = c->family;
	event->port = c->port;
	event->address = (struct aw_text){c->address, strlen(c->address)};
	event->host = (struct aw_text){c->host, strlen(c->host)};
}

void aw_connection_log(struct aw_watch *watch, const struct aw_connection *c,
	uint64_t out, uint64_t in, uint64_t nanoseconds)
{
	struct aw_event event = {.kind = AW_EV_CONNECTION, .source = AW_FROM_KERNEL};
	char extra[128];

	aw_connection_tell(c, &event);
	snprintf(extra, sizeof(extra),
		"\"bytes_out\":%" PRIu64 ",\"bytes_in\":%" PRIu64
		",\"duration_ns\":%" PRIu64,
		out, in, nanoseconds);
	event.extra = extra;
	aw_watch_log(watch, &event);
}

/* One that was never connected is none. */
static void log_end(
	struct aw_conntrack *ends, const struct entry *e, const struct tcp_info *info)
{
	uint64_t now = aw_watch_now();

	if (info->tcpi_rtt)
		aw_connection_log(ends->watch, &e->is,
			info->tcpi_bytes_sent - info->tcpi_bytes_retrans,
			info->tcpi_bytes_received, now - e->is.began);
}

static struct entry *take(struct aw_conntrack *ends, uint64_t cookie)
{
	struct entry *e;

	pthread_mutex_lock(&ends->lock);
	HASH_FIND(hh, ends->all, &cookie, sizeof(cookie), e);
	if (e)
		HASH_DEL(ends->all, e);
	pthread_mutex_unlock(&ends->lock);
	return e;
}

/* One socket: a message that it has gone, or of a list of what is there. */
static void read_socket(struct aw_conntrack *ends, const struct nlmsghdr *header)
{
	const struct inet_diag_msg *about = NLMSG_DATA(header);
	const struct rtattr *attribute = (const void *)(about + 1);
	int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof(*about)));
	struct tcp_info info = {0};
	struct entry *e;

	if (header->nlmsg_len < NLMSG_LENGTH(sizeof(*about)))
		return;
	e = take(ends,
		about->id.idiag_cookie[0] | (uint64_t)about->id.idiag_cookie[1] << 32);
	for (; e && RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		if (attribute->rta_type == INET_DIAG_INFO)
			memcpy(&info, RTA_DATA(attribute),
				RTA_PAYLOAD(attribute) < sizeof(info)
					? RTA_PAYLOAD(attribute)
					: sizeof(info));
	if (e)
		log_end(ends, e, &info);
	free(e);
}

/* Up to the end of one datagram; false: of the list, or nothing more is there. */
static bool receive(struct aw_conntrack *ends, int fd, int flags)
{
	ssize_t n = recv(fd, ends->room, sizeof(ends->room), flags);
	size_t left = n > 0 ? (size_t)n : 0;

	for (struct nlmsghdr *header = (void *)ends->room; NLMSG_OK(header, left);
		header = NLMSG_NEXT(header, left)) {
		if (header->nlmsg_type == SOCK_DIAG_BY_FAMILY)
			read_socket(ends, header);
		else
			return false;
	}
	return n > 0 || (n < 0 && (errno == EINTR || errno == ENOBUFS));
}

/* With the lock held: be told of all ends on this machine, or not; 0 or an errno. */
static int hear(struct aw_conntrack *ends, bool yes)
{
	static const int groups[] = {
		SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY};

	for (int i = 0; i < 2 && ends->heard != yes; i++)
		if (setsockopt(ends->netlink, SOL_NETLINK,
			    yes ? NETLINK_ADD_MEMBERSHIP : NETLINK_DROP_MEMBERSHIP,
			    &groups[i], sizeof(groups[i])) < 0)
			return errno;
	ends->heard = yes;
	return 0;
}

/* Others' connections end all the time. */
static void rest(struct aw_conntrack *ends)
{
	pthread_mutex_lock(&ends->lock);
	if (!ends->all)
		hear(ends, false);
	pthread_mutex_unlock(&ends->lock);
}

static bool has_some(struct aw_conntrack *ends)
{
	bool some;

	pthread_mutex_lock(&ends->lock);
	some = ends->all != NULL;
	pthread_mutex_unlock(&ends->lock);
	return some;
}

static void *main_of_thread(void *arg)
{
	struct aw_conntrack *ends = arg;
	struct pollfd fds[2] = {{.fd = ends->netlink, .events = POLLIN},
		{.fd = ends->stop, .events = POLLIN}};

	while (!fds[1].revents) {
		if (poll(fds, 2, -1) <= 0 || !fds[0].revents)
			continue;
		/* waking for each one would cost the watched program more than its call */
		nanosleep(&(struct timespec){.tv_nsec = GATHER_MS * 1000000}, NULL);
		while (receive(ends, ends->netlink, MSG_DONTWAIT))
			;
		rest(ends);
	}
	/* the last processes have ended a moment ago */
	while (has_some(ends) && poll(fds, 1, LINGER_MS) > 0 &&
		receive(ends, ends->netlink, MSG_DONTWAIT))
		;
	return NULL;
}

/* What is still there, and whose end was not told for want of room. */
static void ask_for(struct aw_conntrack *ends, int family)
{
	AW_CLOSE int fd =
		socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 params;
	} ask = {.header = {.nlmsg_len = sizeof(ask),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.params = {.sdiag_family = (uint8_t)family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 1 << (INET_DIAG_INFO - 1),
			.idiag_states = ~0u}};

	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) < 0)
		return;
	while (receive(ends, fd, 0))
		;
}

static int listen_for_ends(struct aw_conntrack *ends)
{
	struct sockaddr_nl any = {.nl_family = AF_NETLINK};
	int room = ROOM, err;

	ends->netlink =
		socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (ends->netlink < 0 ||
		bind(ends->netlink, (struct sockaddr *)&any, sizeof(any)) < 0)
		return errno;
	setsockopt(ends->netlink, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	/* whether it can be had is told at the start */
	err = hear(ends, true);
	if (!err)
		err = hear(ends, false);
	if (err)
		return err;
	ends->stop = eventfd(0, EFD_CLOEXEC);
	return ends->stop < 0 ? errno : 0;
}

static void release(struct aw_conntrack *ends)
{
	struct entry *e, *next;

	HASH_ITER(hh, ends->all, e, next)
	{
		HASH_DEL(ends->all, e);
		free(e);
	}
	if (ends->netlink >= 0)
		aw_close(ends->netlink);
	if (ends->stop >= 0)
		aw_close(ends->stop);
	pthread_mutex_destroy(&ends->lock);
	free(ends);
}

int aw_conntrack_create(
	struct aw_watch *watch, struct aw_conntrack **ret, struct aw_error *err)
{
	struct aw_conntrack *ends = calloc(1, sizeof(*ends));
	int failed;

	if (!ends)
		return aw_fail(err, ENOMEM, "listening for ends of connections");
	ends->watch = watch;
	ends->netlink = ends->stop = -1;
	pthread_mutex_init(&ends->lock, NULL);
	failed = listen_for_ends(ends);
	if (!failed)
		failed = pthread_create(&ends->thread, NULL, main_of_thread, ends);
	if (failed) {
		release(ends);
		return aw_fail(err, failed, "listening for ends of connections: %s",
			strerror(failed));
	}
	pthread_setname_np(ends->thread, "aw-ends");
	*ret = ends;
	return 0;
}

void aw_conntrack_add(struct aw_conntrack *ends, int fd, const struct aw_connection *c)
{
	struct entry *e = ends ? malloc(sizeof(*e)) : NULL, *old;
	socklen_t len = sizeof(e->cookie);

	if (!e)
		return;
	e->is = *c;
	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &e->cookie, &len) < 0) {
		free(e);
		return;
	}
	pthread_mutex_lock(&ends->lock);
	hear(ends, true);
	HASH_REPLACE(hh, ends->all, cookie, sizeof(e->cookie), e, old);
	if (!e->hh.tbl)
		free(e);
	pthread_mutex_unlock(&ends->lock);
	free(old);
}

void aw_conntrack_free(struct aw_conntrack *ends)
{
	static const uint64_t one = 1;

	if (!ends)
		return;
	while (write(ends->stop, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(ends->thread, NULL);
	if (ends->all) {
		ask_for(ends, AF_INET);
		ask_for(ends, AF_INET6);
	}
	release(ends);
}
