/* SPDX-License-Identifier: Apache-2.0 */
/* transparent_listener.c - takes the place of a server for sockets of the target. */
#include "supervisor/net/relay/transparent_listener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/util/cleanup.h"

enum { BACKLOG = 64, PATIENCE_MS = 1000, WAYS = 5 };

struct aw_transparent_listener {
	struct aw_transparent_listeners *all;
	struct sockaddr_storage server, here; /* it stands for; it is at */
	socklen_t server_len, here_len;
	int fd;
	unsigned users;
	struct aw_transparent_listener *next;
};

struct aw_transparent_listeners {
	pthread_mutex_t lock; /* the list, and who is let in */
	struct aw_netns *netns;
	struct aw_transparent_listener *first;
};

struct aw_transparent_listeners *aw_transparent_listeners_create(struct aw_netns *netns)
{
	struct aw_transparent_listeners *all = calloc(1, sizeof(*all));

	if (all) {
		pthread_mutex_init(&all->lock, NULL);
		all->netns = netns;
	}
	return all;
}

void aw_transparent_listeners_free(struct aw_transparent_listeners *all)
{
	struct aw_transparent_listener *next;

	if (!all)
		return;
	for (struct aw_transparent_listener *s = all->first; s; s = next) {
		next = s->next;
		aw_close(s->fd);
		free(s);
	}
	pthread_mutex_destroy(&all->lock);
	free(all);
}

/* Only segments from this port of the sender get through; 0: none. */
static int admit(int fd, uint16_t port)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = {ARRAY_SIZE(code), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static void set_port(struct sockaddr_storage *at, uint16_t port)
{
	if (at->ss_family == AF_INET)
		((struct sockaddr_in *)at)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)at)->sin6_port = htons(port);
}

/* The loopback of the server's family, where in the host's network it is. */
static void choose_place(const struct aw_transparent_listeners *all,
	const struct aw_transparent_listener *s, struct sockaddr_storage *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;

	*ret = s->server;
	if (all->netns)
		return;
	if (ret->ss_family == AF_INET) {
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		in->sin_port = 0;
		return;
	}
	if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		memcpy(in6->sin6_addr.s6_addr + 12, "\177\0\0\1", 4);
	else
		in6->sin6_addr = in6addr_loopback;
	in6->sin6_port = 0;
	in6->sin6_scope_id = 0;
}

/* With its port, as others may be at the same, which only wait to meet one. */
static int bind_shared(int fd, const struct sockaddr_storage *at, socklen_t len)
{
	static const int on = 1, off = 0;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	if (at->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	return bind(fd, (const struct sockaddr *)at, len) < 0 ? -errno : 0;
}

/* The loopback inside has the address afterwards, if it can. */
static void add_address(const struct aw_transparent_listeners *all,
	const struct sockaddr_storage *server, socklen_t len)
{
	struct sockaddr_storage any_port = *server;
	int fd;

	set_port(&any_port, 0);
	fd = aw_netns_socket(all->netns, any_port.ss_family, SOCK_STREAM, 0,
		(struct sockaddr *)&any_port, len);
	if (fd >= 0)
		aw_close(fd);
}

static int socket_at(const struct aw_transparent_listeners *all,
	const struct sockaddr_storage *at, socklen_t len)
{
	int err, fd = all->netns ? aw_netns_socket(all->netns, at->ss_family,
					   SOCK_STREAM, 0, NULL, 0)
				 : socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return all->netns ? fd : -errno;
	err = bind_shared(fd, at, len);
	if (err == -EADDRNOTAVAIL && all->netns) {
		add_address(all, at, len);
		err = bind_shared(fd, at, len);
	}
	if (!err)
		return fd;
	aw_close(fd);
	return err;
}

/*
 * The way to a new address of IPv6 comes a little later than the address (addrconf.c:
 * addrconf_dad_work), and not on all processors at once.  A client's connect that fails
 * would give its port back, so others try until it is there.
 */
static void wait_for_way(const struct aw_transparent_listeners *all,
	const struct aw_transparent_listener *s)
{
	int good = 0;

	for (int i = 0; i < PATIENCE_MS && good < WAYS; i++) {
		int fd = aw_netns_socket(all->netns, s->here.ss_family,
			SOCK_STREAM | SOCK_NONBLOCK, 0, NULL, 0);

		if (fd < 0)
			return;
		good = connect(fd, (const struct sockaddr *)&s->here, s->here_len) <
					       0 &&
				       errno == EINPROGRESS
			       ? good + 1
			       : 0;
		aw_close(fd);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

static int start(
	struct aw_transparent_listeners *all, struct aw_transparent_listener *s)
{
	struct sockaddr_storage at;
	int err = 0;

	choose_place(all, s, &at);
	s->here_len = sizeof(s->here);
	s->fd = socket_at(all, &at, s->server_len);
	if (s->fd < 0)
		return -s->fd;
	if (admit(s->fd, 0) < 0 || listen(s->fd, BACKLOG) < 0 ||
		getsockname(s->fd, (struct sockaddr *)&s->here, &s->here_len) < 0)
		err = errno;
	if (err)
		aw_close(s->fd);
	else if (all->netns && s->here.ss_family == AF_INET6)
		wait_for_way(all, s);
	return err;
}

static struct aw_transparent_listener *find(const struct aw_transparent_listeners *all,
	const struct sockaddr *server, socklen_t len)
{
	struct aw_transparent_listener *s = all->first;

	while (s && (s->server_len != len || memcmp(&s->server, server, len) != 0))
		s = s->next;
	return s;
}

/* With the lock held. */
static int add(struct aw_transparent_listeners *all, const struct sockaddr *server,
	socklen_t len, struct aw_transparent_listener **ret)
{
	struct aw_transparent_listener *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return ENOMEM;
	s->all = all;
	s->server_len = len;
	memcpy(&s->server, server, len);
	err = start(all, s);
	if (err) {
		free(s);
		return err;
	}
	s->next = all->first;
	all->first = s;
	*ret = s;
	return 0;
}

int aw_transparent_listener_open(struct aw_transparent_listeners *all,
	const struct sockaddr *server, socklen_t len,
	struct aw_transparent_listener **ret)
{
	int err = 0;

	if (len > sizeof(struct sockaddr_storage))
		return EINVAL;
	pthread_mutex_lock(&all->lock);
	*ret = find(all, server, len);
	if (!*ret)
		err = add(all, server, len, ret);
	if (!err)
		(*ret)->users++;
	pthread_mutex_unlock(&all->lock);
	return err;
}

void aw_transparent_listener_close(struct aw_transparent_listener *listener)
{
	struct aw_transparent_listeners *all = listener ? listener->all : NULL;

	if (!listener)
		return;
	pthread_mutex_lock(&all->lock);
	if (--listener->users == 0) {
		struct aw_transparent_listener **at = &all->first;

		while (*at != listener)
			at = &(*at)->next;
		*at = listener->next;
		aw_close(listener->fd);
		free(listener);
	}
	pthread_mutex_unlock(&all->lock);
}

static int connect_to(int fd, const struct sockaddr_storage *to, socklen_t len)
{
	return connect(fd, (const struct sockaddr *)to, len) < 0 ? errno : 0;
}

static bool same_end(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	return a->ss_family == AF_INET
		       ? a4->sin_port == b4->sin_port &&
				 a4->sin_addr.s_addr == b4->sin_addr.s_addr
		       : a6->sin6_port == b6->sin6_port &&
				 IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}

int aw_visit_begin(const struct aw_transparent_listener *listener, int client,
	struct aw_visit *ret)
{
	int err = connect_to(client, &listener->here, listener->here_len);

	*ret = (struct aw_visit){
		.listener = listener, .client = client, .len = sizeof(ret->at)};
	if (err == EINPROGRESS &&
		getsockname(client, (struct sockaddr *)&ret->at, &ret->len) < 0)
		return errno;
	return err;
}

int aw_visit_meet(const struct aw_visit *visit)
{
	static const struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
	const struct aw_transparent_listener *listener = visit->listener;
	int fd = socket_at(listener->all, &listener->here, listener->here_len), err;

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	err = connect_to(fd, &visit->at, visit->len);
	if (!err)
		return fd;
	aw_close(fd);
	return -err;
}

/* It is on its way still, and on no other. */
static bool is_coming(const struct aw_visit *visit)
{
	struct sockaddr_storage at;
	struct tcp_info info;
	socklen_t len = sizeof(info.tcpi_state);

	memset(&at, 0, sizeof(at));
	memset(&info, 0, sizeof(info));
	if (getsockopt(visit->client, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ||
		info.tcpi_state != TCP_SYN_SENT)
		return false;
	len = sizeof(at);
	return getsockname(visit->client, (struct sockaddr *)&at, &len) == 0 &&
	       same_end(&at, &visit->at);
}

/*
 * A reset that it believes would have to know its numbers; so it begins once more,
 * where nobody listens at all.
 */
void aw_visit_refuse(const struct aw_visit *visit)
{
	static const struct sockaddr_storage none = {.ss_family = AF_UNSPEC};
	struct sockaddr_storage closed = visit->listener->here;
	socklen_t len = visit->listener->here_len;
	int fd, err;

	if (!is_coming(visit))
		return;
	set_port(&closed, 0);
	fd = socket_at(visit->listener->all, &closed, len);
	if (fd < 0)
		return;
	if (getsockname(fd, (struct sockaddr *)&closed, &len) == 0 &&
		connect_to(visit->client, &none, sizeof(struct sockaddr)) == 0) {
		len = sizeof(err); /* what that leaves behind */
		getsockopt(visit->client, SOL_SOCKET, SO_ERROR, &err, &len);
		connect_to(visit->client, &closed, visit->listener->here_len);
	}
	aw_close(fd);
}

/* Its port, from now on, so that it can be told from others before it comes. */
static int take_port(int client, int family, uint16_t *ret)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	static const int off = 0;

	memset(&at, 0, sizeof(at));
	for (int turn = 0; turn < 2; turn++) {
		if (getsockname(client, (struct sockaddr *)&at, &len) < 0)
			return errno;
		*ret = ntohs(family == AF_INET
				     ? ((struct sockaddr_in *)&at)->sin_port
				     : ((struct sockaddr_in6 *)&at)->sin6_port);
		if (*ret)
			return 0;
		memset(&at, 0, sizeof(at));
		at.ss_family = (sa_family_t)family;
		setsockopt(
			client, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &off, sizeof(off));
		if (bind(client, (struct sockaddr *)&at,
			    family == AF_INET ? sizeof(struct sockaddr_in)
					      : sizeof(struct sockaddr_in6)) < 0)
			return errno;
		len = sizeof(at);
	}
	return EADDRNOTAVAIL;
}

/* Who has come: the client, and nobody else who happens to have such a port. */
static int accept_it(int listener, int client)
{
	struct pollfd wait = {.fd = listener, .events = POLLIN};
	struct sockaddr_storage mine, theirs;
	socklen_t len = sizeof(mine);

	memset(&mine, 0, sizeof(mine));
	memset(&theirs, 0, sizeof(theirs));
	if (getsockname(client, (struct sockaddr *)&mine, &len) < 0)
		return -errno;
	while (poll(&wait, 1, PATIENCE_MS) == 1) {
		int fd;

		len = sizeof(theirs);
		fd = accept4(listener, (struct sockaddr *)&theirs, &len, SOCK_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (same_end(&mine, &theirs))
			return fd;
		aw_close(fd);
	}
	return -ETIMEDOUT;
}

/* Nobody waits for ever with the lock held. */
static int connect_soon(const struct aw_transparent_listener *listener, int client)
{
	static const struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
	struct timeval before = {0};
	socklen_t len = sizeof(before);
	int err;

	getsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &before, &len);
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	err = connect_to(client, &listener->here, listener->here_len);
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &before, sizeof(before));
	return err == EINPROGRESS ? ETIMEDOUT : err;
}

int aw_transparent_listener_let_in(struct aw_transparent_listener *listener, int client)
{
	uint16_t port = 0;
	int fd = -1, err;

	pthread_mutex_lock(&listener->all->lock);
	err = take_port(client, listener->here.ss_family, &port);
	if (!err && admit(listener->fd, port) < 0)
		err = errno;
	if (!err)
		err = connect_soon(listener, client);
	if (!err)
		fd = accept_it(listener->fd, client);
	admit(listener->fd, 0);
	pthread_mutex_unlock(&listener->all->lock);
	return err ? -err : fd;
}
