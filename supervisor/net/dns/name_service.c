/* SPDX-License-Identifier: Apache-2.0 */
/* name_service.c - the sockets of the name service, and the thread that serves them. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/audit/address.h"
#include "supervisor/net/dns/name_service_internal.h"
#include "supervisor/util/cleanup.h"

enum { LOOK_SECONDS = 2, BACKLOG = 64 };

int64_t aw_name_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

bool aw_name_service_is_needed(const struct aw_policy *policy)
{
	return aw_image_judges_names(policy->image);
}

enum aw_name_reach aw_name_service_reach(const struct aw_name_service *s)
{
	return s->reach;
}

bool aw_name_service_is_at(struct aw_name_service *s, const struct aw_address *address)
{
	return address->port == AW_NAME_PORT &&
	       aw_name_servers_has(s->law.servers, address);
}

struct aw_netns *aw_name_service_network(const struct aw_name_service *s)
{
	return s->reach == AW_NAMES_APART ? s->netns : NULL;
}

/* --- who asks --- */

static void note_owner(struct aw_name_service *s, int stream, int six, uint16_t port,
	pid_t pid, uint32_t profiles)
{
	struct aw_name_owner *owner = &s->owners[stream][six][port];

	atomic_store(&owner->profiles, profiles);
	atomic_store(&owner->pid, (uint32_t)pid);
}

/* Its port; 0: none. */
static uint16_t port_of(int fd, union aw_any_address *ret)
{
	struct sockaddr *plain = (struct sockaddr *)ret;
	socklen_t len = sizeof(*ret);

	ret->family = AF_UNSPEC;
	if (getsockname(fd, plain, &len) < 0 ||
		(ret->family != AF_INET && ret->family != AF_INET6))
		return 0;
	/* both have their port at the same place */
	if (!ret->in.sin_port &&
		(bind(fd, plain, len) < 0 || getsockname(fd, plain, &len) < 0))
		return 0;
	return ntohs(ret->in.sin_port);
}

void aw_name_service_note(
	struct aw_name_service *s, int fd, pid_t pid, uint32_t profiles)
{
	union aw_any_address at;
	socklen_t len = sizeof(int);
	int type = 0, stream;
	uint16_t port;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return;
	port = port_of(fd, &at);
	stream = type == SOCK_STREAM;
	if (!port)
		return;
	if (at.family == AF_INET || IN6_IS_ADDR_V4MAPPED(&at.in6.sin6_addr) ||
		IN6_IS_ADDR_UNSPECIFIED(&at.in6.sin6_addr))
		note_owner(s, stream, 0, port, pid, profiles);
	if (at.family == AF_INET6)
		note_owner(s, stream, 1, port, pid, profiles);
}

/* --- sockets --- */

static int listen_at(struct aw_name_service *s, struct aw_name_port *port, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = port};
	int flags = fcntl(fd, F_GETFL);

	if (fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
		(port->kind == AW_NAME_LISTENER && listen(fd, BACKLOG) < 0) ||
		epoll_ctl(s->loop, EPOLL_CTL_ADD, fd, &event) < 0) {
		int err = errno;

		close(fd);
		return -err;
	}
	port->fd = fd;
	return 0;
}

static socklen_t to_sockaddr(
	const struct aw_address *address, union aw_any_address *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->family = (sa_family_t)address->family;
	if (address->family == AF_INET) {
		ret->in.sin_port = htons(address->port);
		memcpy(&ret->in.sin_addr, address->bytes, 4);
		return sizeof(ret->in);
	}
	ret->in6.sin6_port = htons(address->port);
	memcpy(&ret->in6.sin6_addr, address->bytes, 16);
	return sizeof(ret->in6);
}

/* One protocol at one address of the network that the sockets are in; 0 or -errno. */
static int open_port(
	struct aw_name_service *s, const struct aw_address *address, int type)
{
	struct aw_name_port *port = &s->ports[s->port_count];
	union aw_any_address at;
	socklen_t len = to_sockaddr(address, &at);
	int fd, result;

	port->kind = type == SOCK_STREAM ? AW_NAME_LISTENER : AW_NAME_DATAGRAMS;
	if (s->netns) {
		fd = aw_netns_socket(s->netns, address->family, type, 0,
			(const struct sockaddr *)&at, len);
	} else {
		fd = socket(address->family, type | SOCK_CLOEXEC, 0);
		if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, len) < 0) {
			close(fd);
			fd = -1;
		}
		if (fd < 0)
			fd = -errno;
	}
	if (fd < 0)
		return fd;
	result = listen_at(s, port, fd);
	if (result < 0)
		return result;
	len = sizeof(port->at);
	getsockname(fd, (struct sockaddr *)&port->at, &len);
	s->port_count++;
	return 0;
}

static int open_ports(struct aw_name_service *s, const struct aw_address *address)
{
	int result = open_port(s, address, SOCK_DGRAM);

	return result < 0 ? result : open_port(s, address, SOCK_STREAM);
}

/* Servers that resolv.conf has by now. */
static void serve_new_ones(struct aw_name_service *s)
{
	struct aw_address all[AW_NAME_SERVERS];
	char skipped[64], text[INET6_ADDRSTRLEN];
	size_t count = aw_name_servers_list(s->law.servers, all, skipped);

	if (!s->served && *skipped)
		aw_watch_warn(s->watch, NULL, "names",
			"the name server %s of /etc/resolv.conf is not served: its "
			"address holds for one interface",
			skipped);
	for (; s->netns && s->served < count; s->served++) {
		int result = open_ports(s, &all[s->served]);

		inet_ntop(all[s->served].family, all[s->served].bytes, text,
			sizeof(text));
		if (result < 0)
			aw_watch_warn(s->watch, NULL, "names",
				"names are not answered for at %s, port 53: %s; who "
				"asks there gets no answer",
				text, strerror(-result));
	}
	s->served = count;
}

/* --- the thread --- */

static void receive_datagrams(
	struct aw_name_service *s, const struct aw_name_port *port)
{
	unsigned char bytes[AW_DNS_QUERY + 1];

	for (int i = 0; i < 64; i++) {
		struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(port->fd, bytes, sizeof(bytes), MSG_DONTWAIT,
			(struct sockaddr *)&from, &len);

		if (n < 0)
			return;
		aw_name_ask(s, bytes, (size_t)n, NULL, port->fd, &from);
	}
}

static void serve_one(struct aw_name_service *s, const struct epoll_event *event)
{
	enum aw_name_kind *kind = event->data.ptr;
	unsigned door = aw_epoch_enter(&s->watch->readers);
	uint64_t count;

	switch (*kind) {
	case AW_NAME_WAKE:
		if (read(s->wake, &count, sizeof(count)) > 0)
			aw_name_answer_done(s);
		break;
	case AW_NAME_DATAGRAMS:
		receive_datagrams(s, event->data.ptr);
		break;
	case AW_NAME_LISTENER:
		aw_name_accept(s, event->data.ptr);
		break;
	case AW_NAME_CONNECTION:
		aw_name_serve_connection(s, event->data.ptr, event->events);
		break;
	}
	aw_epoch_leave(&s->watch->readers, door);
}

static void *serve(void *arg)
{
	struct aw_name_service *s = arg;
	struct epoll_event event;

	while (!atomic_load(&s->stop)) {
		/* one at a time: an event may be about what another one has closed */
		int n = epoll_wait(s->loop, &event, 1, LOOK_SECONDS * 1000);

		if (n > 0)
			serve_one(s, &event);
		if (aw_name_seconds() - s->looked < LOOK_SECONDS)
			continue;
		s->looked = aw_name_seconds();
		aw_name_close_idle(s);
		serve_new_ones(s);
	}
	return NULL;
}

/* --- its life --- */

void aw_name_service_reload(struct aw_name_service *s, const struct aw_policy *policy)
{
	const struct aw_variable_names *names = &policy->network.private_names;
	struct private *fresh = calloc(1, sizeof(*fresh));

	if (!fresh ||
		!(fresh->names.items = calloc(names->count + 1, sizeof(char *)))) {
		free(fresh);
		return; /* those of before hold */
	}
	for (size_t i = 0; i < names->count; i++) {
		AW_FREE char *name = strdup(names->items[i]);

		if (name)
			fresh->names.items[fresh->names.count++] = aw_take_ptr(&name);
	}
	pthread_mutex_lock(&s->lock);
	fresh->older = s->private;
	s->private = fresh;
	pthread_mutex_unlock(&s->lock);
}

/* Where the sockets are; fallen back on what there is. */
static void choose_reach(struct aw_name_service *s, struct aw_netns *netns)
{
	struct aw_error err;

	s->reach = AW_NAMES_INSIDE;
	s->netns = netns;
	if (netns)
		return;
	s->reach = AW_NAMES_APART;
	if (aw_name_apart_start(&s->netns, &err) == 0) {
		s->own_inner = true;
		return;
	}
	s->reach = AW_NAMES_NEARBY;
	s->netns = NULL;
	aw_watch_warn(s->watch, NULL, "names",
		"name servers are stood in for by a port of the loopback, since there "
		"is no network of our own (%s): a program that compares addresses of "
		"answers finds no names",
		err.text);
}

static int open_stand_ins(struct aw_name_service *s, struct aw_error *err)
{
	struct aw_address home4 = {.family = AF_INET, .bytes = {127, 0, 0, 1}},
			  home6 = {.family = AF_INET6, .bytes = {[15] = 1}};
	int result = open_ports(s, &home4);

	if (result < 0)
		return aw_fail(
			err, -result, "answering for names: %s", strerror(-result));
	open_ports(s, &home6); /* a host may have none of this family */
	return 0;
}

socklen_t aw_name_service_stand_in(const struct aw_name_service *s, int domain,
	int type, struct sockaddr_storage *ret)
{
	enum aw_name_kind kind =
		type == SOCK_STREAM ? AW_NAME_LISTENER : AW_NAME_DATAGRAMS;

	for (size_t i = 0; i < s->port_count; i++)
		if (s->ports[i].kind == kind && s->ports[i].at.ss_family == domain) {
			*ret = s->ports[i].at;
			return domain == AF_INET ? sizeof(struct sockaddr_in)
						 : sizeof(struct sockaddr_in6);
		}
	return 0;
}

static int set_up(struct aw_name_service *s, struct aw_error *err)
{
	static enum aw_name_kind wake = AW_NAME_WAKE;
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &wake};

	s->law.names = s->watch->names;
	s->law.servers = aw_name_servers_new("/etc/resolv.conf");
	s->owners = calloc(2, sizeof(*s->owners));
	s->loop = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!s->law.servers || !s->owners || s->loop < 0 || s->wake < 0 ||
		epoll_ctl(s->loop, EPOLL_CTL_ADD, s->wake, &event) < 0)
		return aw_fail(err, ENOMEM, "answering for names: out of memory");
	if (aw_names_serve(s->watch->names, err) < 0)
		return -1;
	return aw_resolver_start(aw_name_on_resolved, &s->resolver, err);
}

int aw_name_service_start(struct aw_watch *watch, struct aw_netns *netns,
	const struct aw_policy *policy, struct aw_name_service **ret,
	struct aw_error *err)
{
	struct aw_name_service *s = calloc(1, sizeof(*s));

	if (!s)
		return aw_fail(err, ENOMEM, "answering for names: out of memory");
	s->watch = watch;
	s->loop = s->wake = -1;
	pthread_mutex_init(&s->lock, NULL);
	aw_name_service_reload(s, policy);
	choose_reach(s, netns);
	if (set_up(s, err) < 0 || (!s->netns && open_stand_ins(s, err) < 0)) {
		aw_name_service_stop(s);
		return -1;
	}
	serve_new_ones(s);
	s->looked = aw_name_seconds();
	if (pthread_create(&s->thread, NULL, serve, s) != 0) {
		aw_name_service_stop(s);
		return aw_fail(err, EAGAIN, "answering for names: no thread for it");
	}
	s->started = true;
	pthread_setname_np(s->thread, "aw-dns");
	*ret = s;
	return 0;
}

void aw_name_service_stop(struct aw_name_service *s)
{
	const uint64_t one = 1;

	if (!s)
		return;
	atomic_store(&s->stop, true);
	if (s->started && write(s->wake, &one, sizeof(one)) > 0)
		pthread_join(s->thread, NULL);
	aw_resolver_stop(s->resolver);
	aw_name_drop_queries(s);
	while (s->connections)
		aw_name_close(s, s->connections);
	for (size_t i = 0; i < s->port_count; i++)
		close(s->ports[i].fd);
	while (s->private) {
		struct private *older = s->private->older;

		for (size_t i = 0; i < s->private->names.count; i++)
			free(s->private->names.items[i]);
		free(s->private->names.items);
		free(s->private);
		s->private = older;
	}
	if (s->own_inner)
		aw_netns_stop(s->netns);
	aw_name_servers_free(s->law.servers);
	if (s->loop >= 0)
		close(s->loop);
	if (s->wake >= 0)
		close(s->wake);
	free(s->owners);
	free(s);
}
