/* SPDX-License-Identifier: Apache-2.0 */
/* outside_same.c - what is the same with a sandbox and without. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "outside.h"

static void plain(const char *name, int family, int type, const char *to)
{
	int fd = socket(family, type, 0);

	if (join(fd, to, ECHO) < 0)
		printf("%s: %s\n", name, error());
	else
		printf("%s: %s from %s\n", name, echoes(fd), peer(fd));
	close(fd);
}

void outside_tcp(void)
{
	plain("tcp", AF_INET, SOCK_STREAM, SERVER);
	plain("tcp6", AF_INET6, SOCK_STREAM, SERVER6);
	plain("mapped", AF_INET6, SOCK_STREAM, "::ffff:" SERVER);
}

void outside_udp(void)
{
	plain("udp", AF_INET, SOCK_DGRAM, SERVER);
	plain("udp6", AF_INET6, SOCK_DGRAM, SERVER6);
}

static int ready(int epoll, int wanted, uint64_t data)
{
	struct epoll_event event = {0};
	int n = epoll_wait(epoll, &event, 1, 3000);

	return n == 1 && event.data.u64 == data && event.events & (unsigned)wanted;
}

void outside_nonblocking(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), err = -1;
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(err);
	const char *first = join(fd, SERVER, ECHO) < 0 ? error() : "at once";

	poll(&p, 1, 3000);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	printf("nonblocking: %s, then %d, still so %d, ", first, err,
		!!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	fcntl(fd, F_SETFL, 0);
	printf("%s, again %s\n", echoes(fd),
		join(fd, SERVER, ECHO) < 0 ? error() : "ok");
	close(fd);
}

void outside_nonblocking_refused(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), err = -1;
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(err);
	const char *first = join(fd, SERVER, CLOSED) < 0 ? error() : "at once";

	poll(&p, 1, 3000);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	errno = err;
	printf("nonblocking refused: %s, then %s\n", first, error());
	close(fd);
}

/* Registered under two numbers, in two instances, before it is connected. */
static void epolled(const char *name, int flags)
{
	int a = epoll_create1(0), b = epoll_create1(EPOLL_CLOEXEC),
	    fd = socket(AF_INET, SOCK_STREAM | flags, 0), other = dup(fd);
	struct epoll_event in = {EPOLLIN | EPOLLET, {.u64 = 0x1234567890abcdef}},
			   out = {EPOLLOUT | EPOLLONESHOT, {.u64 = 42}};
	int r, w, once;

	epoll_ctl(a, EPOLL_CTL_ADD, other, &in);
	if (flags)
		epoll_ctl(b, EPOLL_CTL_ADD, fd, &out);
	r = join(fd, SERVER, ECHO);
	printf("%s: %s", name, r < 0 ? error() : "ok");
	if (!flags)
		epoll_ctl(b, EPOLL_CTL_ADD, fd, &out);
	w = ready(b, EPOLLOUT, 42);
	once = epoll_wait(b, &out, 1, 20) == 0;
	epoll_wait(a, &out, 1, 20); /* that it is up may have been told */
	send(fd, "hello", 5, 0);
	printf(", writable %d, once %d, readable %d", w, once,
		ready(a, EPOLLIN, 0x1234567890abcdef));
	out.events = EPOLLIN;
	printf(", modified %d, removed %d\n", epoll_ctl(b, EPOLL_CTL_MOD, fd, &out),
		epoll_ctl(a, EPOLL_CTL_DEL, other, NULL));
	close(fd);
	close(other);
	close(a);
	close(b);
}

void outside_epoll_before(void)
{
	epolled("epoll blocking", 0);
	epolled("epoll nonblocking", SOCK_NONBLOCK);
}

void outside_duplicates(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), b = fcntl(fd, F_DUPFD_CLOEXEC, 100),
	    c = dup2(fd, 50);

	join(fd, SERVER, ECHO);
	close(fd);
	printf("duplicates: %s, %s", echoes(b), echoes(c));
	printf(", close-on-exec %d %d\n", fcntl(b, F_GETFD), fcntl(c, F_GETFD));
	close(b);
	close(c);
}

void outside_options(void)
{
	static const struct {
		int level, name, value;
	} all[] = {{SOL_SOCKET, SO_KEEPALIVE, 1}, {SOL_SOCKET, SO_RCVBUF, 50000},
		{SOL_SOCKET, SO_SNDBUF, 60000}, {SOL_SOCKET, SO_OOBINLINE, 1},
		{SOL_SOCKET, SO_PRIORITY, 3}, {IPPROTO_IP, IP_TOS, 0x10},
		{IPPROTO_IP, IP_TTL, 33}, {IPPROTO_TCP, TCP_NODELAY, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 77}, {IPPROTO_TCP, TCP_KEEPINTVL, 7},
		{IPPROTO_TCP, TCP_KEEPCNT, 3}, {IPPROTO_TCP, TCP_USER_TIMEOUT, 4321},
		{IPPROTO_TCP, TCP_SYNCNT, 2}, {IPPROTO_TCP, TCP_NOTSENT_LOWAT, 5000}};
	struct timeval second = {.tv_sec = 5}, told = {0};
	struct linger linger = {1, 3}, lingers = {0, 0};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		setsockopt(fd, all[i].level, all[i].name, &all[i].value, sizeof(int));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	join(fd, SERVER, ECHO);
	printf("options:");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int value = -1;

		len = sizeof(value);
		getsockopt(fd, all[i].level, all[i].name, &value, &len);
		printf(" %d", value);
	}
	len = sizeof(told);
	getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &told, &len);
	len = sizeof(lingers);
	getsockopt(fd, SOL_SOCKET, SO_LINGER, &lingers, &len);
	printf(" %ld %d %d, %s\n", (long)told.tv_sec, lingers.l_onoff, lingers.l_linger,
		echoes(fd));
	close(fd);
}

static void *many(void *failed)
{
	for (int i = 0; i < 20; i++) {
		int fd = socket(AF_INET, i % 2 ? SOCK_STREAM : SOCK_DGRAM, 0);

		if (join(fd, SERVER, ECHO) < 0 || strcmp(echoes(fd), "hello") != 0)
			__atomic_fetch_add((int *)failed, 1, __ATOMIC_SEQ_CST);
		close(fd);
	}
	return NULL;
}

void outside_threads(void)
{
	pthread_t thread[4];
	int failed = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, many, &failed);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("threads: %d failed\n", failed);
}

void outside_refused(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	const char *first = join(fd, SERVER, CLOSED) < 0 ? error() : "ok";

	printf("refused: %s, then %s", first,
		join(fd, SERVER, ECHO) < 0 ? error() : echoes(fd));
	printf(", then %s\n", join(fd, SERVER, ECHO) < 0 ? error() : "ok");
	close(fd);
}

static void on_alarm(int unused)
{
	(void)unused;
}

void outside_interrupted(void)
{
	struct sigaction handler = {.sa_handler = on_alarm};
	struct timeval soon = {.tv_usec = 100000};
	struct itimerval timer = {{0, 0}, {0, 150000}};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	sigaction(SIGALRM, &handler, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("interrupted: %s", join(fd, SERVER, FULL) < 0 ? error() : "ok");
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	printf(", out of time: %s\n", join(fd, SERVER, FULL) < 0 ? error() : "ok");
	close(fd);
}

static const char *answer(int fd)
{
	char back[8] = "";
	struct address from = {.len = sizeof(from.bytes)};
	struct sockaddr_in *in = (void *)&from.bytes;
	struct timeval second = {.tv_sec = 2};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	if (recvfrom(fd, back, 7, 0, (void *)&from.bytes, &from.len) < 0)
		return error();
	return ntohs(in->sin_port) == ECHO ? "hello" : "from elsewhere";
}

void outside_datagrams(void)
{
	struct address to = at(SERVER, ECHO);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct iovec iov = {(void *)"hello", 5};
	struct mmsghdr both[2] = {{.msg_hdr = {.msg_name = &to.bytes,
					   .msg_namelen = to.len,
					   .msg_iov = &iov,
					   .msg_iovlen = 1}}};
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	int sent;

	sent = (int)sendto(fd, "hello", 5, 0, (void *)&to.bytes, to.len);
	printf("datagrams: %d %s", sent, answer(fd));
	both[1] = both[0];
	sent = (int)sendmsg(fd, &both[0].msg_hdr, 0);
	printf(", %d %s", sent, answer(fd));
	sent = sendmmsg(fd, both, 2, 0);
	printf(", %d %s", sent, answer(fd));
	printf(" %s", answer(fd));
	sent = join(fd, SERVER, ECHO);
	printf(", connected %d %s", sent, echoes(fd));
	sent = connect(fd, &none, sizeof(none));
	printf(", not so %d %s", sent, peer(fd));
	sent = join(fd, SERVER, ECHO);
	printf(", again %d %s\n", sent, echoes(fd));
	close(fd);
}

void outside_fastopen(void)
{
	struct address to = at(SERVER, ECHO);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	ssize_t n = sendto(fd, "hello", 5, MSG_FASTOPEN, (void *)&to.bytes, to.len);
	char back[8] = "";

	printf("fastopen: %zd", n);
	n = recv(fd, back, 7, 0);
	printf(" %s\n", n == 5 ? back : error());
	close(fd);
}

/* A listener and a client of it, all in here. */
static const char *among(const char *bound, const char *to)
{
	struct address a = at(bound, 0);
	int server = socket(a.bytes.ss_family, SOCK_STREAM, 0), fd, port;
	struct sockaddr_in *in = (void *)&a.bytes;

	if (bind(server, (void *)&a.bytes, a.len) < 0 || listen(server, 5) < 0)
		return error();
	getsockname(server, (void *)&a.bytes, &a.len);
	port = ntohs(in->sin_port);
	fd = socket(at(to, 0).bytes.ss_family, SOCK_STREAM, 0);
	if (join(fd, to, port) < 0)
		return error();
	close(accept(server, NULL, NULL));
	close(fd);
	close(server);
	return "ok";
}

void outside_inside(void)
{
	struct address a = at("127.0.0.1", 0);
	int server = socket(AF_INET, SOCK_DGRAM, 0),
	    fd = socket(AF_INET, SOCK_DGRAM, 0);
	char back[8] = "";
	ssize_t n;

	printf("inside: %s", among("127.0.0.1", "127.0.0.1"));
	printf(" %s", among("0.0.0.0", "127.0.0.2"));
	printf(" %s", among("::1", "::1"));
	printf(" %s", among("::", "127.0.0.1"));
	printf(" %s", among("127.0.0.1", "0.0.0.0"));
	bind(server, (void *)&a.bytes, a.len);
	getsockname(server, (void *)&a.bytes, &a.len);
	n = sendto(fd, "hello", 5, 0, (void *)&a.bytes, a.len);
	printf(" %zd", n);
	n = recv(server, back, 7, 0);
	printf(" %zd\n", n);
	close(server);
	close(fd);
}

/* The same socket inside, outside and inside. */
void outside_to_and_fro(void)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	printf("to and fro: %s", join(fd, "127.0.0.1", 7) < 0 ? error() : peer(fd));
	printf(", %s", join(fd, SERVER, ECHO) < 0 ? error() : echoes(fd));
	connect(fd, &none, sizeof(none));
	printf(", %s\n", join(fd, "127.0.0.1", 7) < 0 ? error() : peer(fd));
	close(fd);
}
