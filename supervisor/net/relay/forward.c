/* SPDX-License-Identifier: Apache-2.0 */
/* forward.c - listening outside, connecting inside, and both into the relay. */
#include "supervisor/net/relay/forward.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/linux/netns/netns.h"
#include "supervisor/util/cleanup.h"

enum { BACKLOG = 128, PENDING_MOST = 256 };

/* A connection whose other half is under way. */
struct pending {
	struct aw_forwarded *to;
	int outside, inside;
	bool second; /* IPv6 by now */
};

struct aw_forwarder {
	struct aw_watch *watch;
	struct aw_relay *relay;
	struct aw_forwards *all;
	int epoll, wake;
	_Atomic bool ending;
	pthread_t thread;
	struct pending *pending[PENDING_MOST];
	size_t count;
};

union place {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static socklen_t size_of(const union place *place)
{
	return place->any.sa_family == AF_INET ? sizeof(place->in) : sizeof(place->in6);
}

/* --- ports outside --- */

static union place outside_of(const struct aw_forward *entry)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	union place place = {.in6 = {.sin6_family = AF_INET6}};

	if (memcmp(entry->address, mapped, sizeof(mapped)) == 0) {
		place.in = (struct sockaddr_in){
			.sin_family = AF_INET, .sin_port = htons(entry->outside)};
		memcpy(&place.in.sin_addr, entry->address + 12, 4);
	} else {
		memcpy(&place.in6.sin6_addr, entry->address, 16);
		place.in6.sin6_port = htons(entry->outside);
	}
	return place;
}

static void write_place(const union place *place, char text[AW_FORWARD_PLACE])
{
	bool old = place->any.sa_family == AF_INET;
	char address[INET6_ADDRSTRLEN];

	inet_ntop(place->any.sa_family,
		old ? (const void *)&place->in.sin_addr
		    : (const void *)&place->in6.sin6_addr,
		address, sizeof(address));
	snprintf(text, AW_FORWARD_PLACE, old ? "%s:%u" : "[%s]:%u", address,
		(unsigned)ntohs(old ? place->in.sin_port : place->in6.sin6_port));
}

/* Loopback, or all addresses: the command's own listening is seen there. */
static bool is_here(const union place *place)
{
	if (place->any.sa_family == AF_INET)
		return (ntohl(place->in.sin_addr.s_addr) >> 24) == 127 ||
		       place->in.sin_addr.s_addr == 0;
	return IN6_IS_ADDR_LOOPBACK(&place->in6.sin6_addr) ||
	       IN6_IS_ADDR_UNSPECIFIED(&place->in6.sin6_addr);
}

static int open_one(
	const struct aw_forward *entry, struct aw_forwarded *ret, struct aw_error *err)
{
	union place place = outside_of(entry);
	socklen_t len = size_of(&place);
	AW_CLOSE int fd = socket(
		place.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	write_place(&place, ret->place);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (place.any.sa_family == AF_INET6)
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	}
	if (fd < 0 || bind(fd, &place.any, len) < 0 || listen(fd, BACKLOG) < 0 ||
		getsockname(fd, &place.any, &len) < 0)
		return aw_fail(err, errno,
			"network.forward: \"%s\": listening on %s: %s; nothing was "
			"started, so free it or choose another port (0 takes any)",
			entry->text, ret->place, strerror(errno));
	write_place(&place, ret->place);
	ret->fd = aw_take_fd(&fd);
	return 0;
}

int aw_forwards_open(const struct aw_network *network, bool shared,
	struct aw_forwards *ret, struct aw_error *err)
{
	struct aw_forwards all = {
		.items = calloc(network->forward_count + 1, sizeof(*all.items))};

	if (!all.items)
		return aw_fail(err, ENOMEM, "network.forward: out of memory");
	for (size_t i = 0; i < network->forward_count; i++) {
		const struct aw_forward *entry = &network->forwards[i];
		union place place = outside_of(entry);
		struct aw_forwarded *item = &all.items[all.count++];

		item->fd = -1;
		item->inside = entry->inside;
		write_place(&place, item->place);
		if (shared && entry->inside == entry->outside && is_here(&place))
			continue;
		if (open_one(entry, item, err) < 0) {
			aw_forwards_close(&all);
			return -1;
		}
	}
	*ret = all;
	return 0;
}

char *aw_forwards_text(const struct aw_forwards *all)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < all->count; i++)
		fprintf(out, "%s%s to %u", i ? ", " : "", all->items[i].place,
			(unsigned)all->items[i].inside);
	return fclose(out) == 0 ? text : NULL;
}

/* --- ports inside --- */

static int inside_socket(const struct aw_forwarder *f, int family)
{
	int type = SOCK_STREAM | SOCK_NONBLOCK, fd;

	if (f->watch->netns)
		return aw_netns_socket(f->watch->netns, family, type, 0, NULL, 0);
	fd = socket(family, type | SOCK_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

static void drop(struct aw_forwarder *f, struct pending *p)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->pending[i] == p)
			f->pending[i--] = f->pending[--f->count];
	if (p->inside >= 0)
		aw_close(p->inside);
	if (p->outside >= 0)
		aw_close(p->outside);
	free(p);
}

static void join(struct aw_forwarder *f, struct pending *p)
{
	const struct aw_relay_pair pair = {.inside = p->inside, .outside = p->outside};

	epoll_ctl(f->epoll, EPOLL_CTL_DEL, p->inside, NULL);
	aw_relay_add(f->relay, &pair);
	p->inside = p->outside = -1;
	drop(f, p);
}

/* 0, EINPROGRESS, or why not. */
static int begin(struct aw_forwarder *f, struct pending *p)
{
	union place place = {.in6 = {.sin6_family = AF_INET6,
				     .sin6_port = htons(p->to->inside),
				     .sin6_addr = IN6ADDR_LOOPBACK_INIT}};

	if (!p->second)
		place.in = (struct sockaddr_in){.sin_family = AF_INET,
			.sin_port = htons(p->to->inside),
			.sin_addr = {htonl(INADDR_LOOPBACK)}};
	p->inside = inside_socket(f, place.any.sa_family);
	if (p->inside < 0)
		return -p->inside;
	return connect(p->inside, &place.any, size_of(&place)) < 0 ? errno : 0;
}

static void connect_inside(struct aw_forwarder *f, struct pending *p)
{
	struct epoll_event event = {.events = EPOLLOUT, .data.ptr = p};
	int err = begin(f, p);

	if (err && err != EINPROGRESS && !p->second) {
		if (p->inside >= 0)
			aw_close(p->inside);
		p->second = true;
		err = begin(f, p);
	}
	if (!err)
		join(f, p);
	else if (err != EINPROGRESS ||
		 epoll_ctl(f->epoll, EPOLL_CTL_ADD, p->inside, &event) < 0)
		drop(f, p);
}

static void on_inside(struct aw_forwarder *f, struct pending *p)
{
	int err = 0;
	socklen_t len = sizeof(err);

	getsockopt(p->inside, SOL_SOCKET, SO_ERROR, &err, &len);
	if (!err) {
		join(f, p);
	} else if (p->second) {
		drop(f, p);
	} else {
		aw_close(p->inside);
		p->second = true;
		connect_inside(f, p);
	}
}

static void on_outside(struct aw_forwarder *f, struct aw_forwarded *to)
{
	for (;;) {
		int fd = accept4(to->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct pending *p;

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0 && errno != EAGAIN)
			usleep(1000); /* no descriptor left: who comes waits */
		if (fd < 0)
			return;
		p = f->count < PENDING_MOST ? calloc(1, sizeof(*p)) : NULL;
		if (!p) {
			aw_close(fd);
			continue;
		}
		*p = (struct pending){.to = to, .outside = fd, .inside = -1};
		f->pending[f->count++] = p;
		connect_inside(f, p);
	}
}

static bool is_listener(const struct aw_forwarder *f, const void *what)
{
	const struct aw_forwarded *to = what;

	return to >= f->all->items && to < f->all->items + f->all->count;
}

static void *serve(void *arg)
{
	struct aw_forwarder *f = arg;
	struct epoll_event event; /* one at a time: it may free another's pending */

	prctl(PR_SET_NAME, "aw-forward");
	while (!atomic_load(&f->ending)) {
		if (epoll_wait(f->epoll, &event, 1, -1) != 1)
			continue;
		if (is_listener(f, event.data.ptr))
			on_outside(f, event.data.ptr);
		else if (event.data.ptr != f)
			on_inside(f, event.data.ptr);
	}
	return NULL;
}

/* --- from its start to its end --- */

static bool expect(struct aw_forwarder *f, int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void release(struct aw_forwarder *f)
{
	while (f->count)
		drop(f, f->pending[0]);
	aw_cleanup_close(&f->epoll);
	aw_cleanup_close(&f->wake);
	free(f);
}

int aw_forwards_start(struct aw_forwards *all, struct aw_watch *watch,
	struct aw_relay *relay, struct aw_error *err)
{
	struct aw_forwarder *f = calloc(1, sizeof(*f));
	bool good;

	if (!f)
		return aw_fail(err, ENOMEM, "network.forward: out of memory");
	f->watch = watch;
	f->relay = relay;
	f->all = all;
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	good = f->epoll >= 0 && f->wake >= 0 && expect(f, f->wake, f);
	for (size_t i = 0; good && i < all->count; i++)
		good = all->items[i].fd < 0 ||
		       expect(f, all->items[i].fd, &all->items[i]);
	if (!good || pthread_create(&f->thread, NULL, serve, f) != 0) {
		release(f);
		return aw_fail(err, EAGAIN, "network.forward: starting its thread");
	}
	all->thread = f;
	return 0;
}

void aw_forwards_close(struct aw_forwards *all)
{
	if (all->thread) {
		atomic_store(&all->thread->ending, true);
		eventfd_write(all->thread->wake, 1);
		pthread_join(all->thread->thread, NULL);
		release(all->thread);
	}
	for (size_t i = 0; i < all->count; i++)
		aw_cleanup_close(&all->items[i].fd);
	free(all->items);
	*all = (struct aw_forwards){.items = NULL};
}
