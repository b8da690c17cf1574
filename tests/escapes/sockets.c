/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockets.c - every pair of socket calls by two threads on one socket.
 *
 * sockets KIND PAIR_MS FOCUS_MS: each pair for so long; those that are known to matter
 * most for FOCUS_MS.  KIND: tcp4, tcp6, udp4, udp6, stream, dgram, or relay, where the
 * server may be reached, but not with the name in the request.  Nothing here knows
 * whether it got through: the servers do (sockets.py).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { S = 100, SPARE = 101, SLOW = 7002, GOOD = 7001, BAD = 7003, HOME = 7004 };

struct address {
	socklen_t len;
	struct sockaddr_storage at;
};

static int family, type, channel[2];
static struct address slow, good, bad, home, names, any;
static bool relay;

static struct address internet(const char *text, int port)
{
	struct address a = {.len = sizeof(struct sockaddr_in)};
	struct sockaddr_in *in = (void *)&a.at;
	struct sockaddr_in6 *in6 = (void *)&a.at;

	in->sin_port = htons((uint16_t)port);
	in->sin_family = AF_INET;
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1)
		return a;
	in6->sin6_family = AF_INET6;
	inet_pton(AF_INET6, text, &in6->sin6_addr);
	a.len = sizeof(*in6);
	return a;
}

static struct address local(const char *name)
{
	struct address a = {.len = 0};
	struct sockaddr_un *un = (void *)&a.at;

	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, name);
	a.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	if (*name == '@')
		un->sun_path[0] = '\0';
	else
		a.len++;
	return a;
}

/* --- the calls --- */

static int to(int fd, const struct address *a)
{
	return connect(fd, (const void *)&a->at, a->len);
}

static void connect_good(void)
{
	to(S, &good);
}
static void connect_slow(void)
{
	to(S, &slow);
}
static void connect_bad(void)
{
	to(S, &bad);
}
static void connect_home(void)
{
	to(S, &home);
}
static void connect_names(void)
{
	to(S, &names);
}
static void shut(void)
{
	shutdown(S, SHUT_RDWR);
}
static void listens(void)
{
	listen(S, 1);
}
static void dups(void)
{
	dup2(SPARE, S);
}
static void closes(void)
{
	close(S);
}

static void unspec(void)
{
	static const struct sockaddr none = {.sa_family = AF_UNSPEC};

	connect(S, &none, sizeof(none));
}

static void binds(void)
{
	bind(S, (const void *)&any.at, any.len);
}

static void accepts(void)
{
	int fd = accept4(S, NULL, NULL, SOCK_NONBLOCK);

	if (fd >= 0)
		close(fd);
}

static void options(void)
{
	int on = 1, four = AF_INET;

	setsockopt(S, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on));
	setsockopt(S, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	setsockopt(S, IPPROTO_IPV6, IPV6_ADDRFORM, &four, sizeof(four));
}

static void send_bad(void)
{
	sendto(S, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_FASTOPEN,
		(const void *)&bad.at, bad.len);
}

static void send_home(void)
{
	sendto(S, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_FASTOPEN,
		(const void *)&home.at, home.len);
}

/* Another process connects it, too. */
static void passes(void)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	int fd = S;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(channel[0], &message, 0) == 1)
		recv(channel[0], &byte, 1, 0);
}

static void passed(void)
{
	char room[CMSG_SPACE(sizeof(int))], byte;
	struct iovec part = {&byte, 1};
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct msghdr message = {.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = room,
			.msg_controllen = sizeof(room)};
		struct cmsghdr *c;

		if (recvmsg(channel[1], &message, 0) != 1)
			_exit(0);
		c = CMSG_FIRSTHDR(&message);
		if (c) {
			memcpy(&fd, CMSG_DATA(c), sizeof(fd));
			to(fd, &home);
			to(fd, &bad);
			close(fd);
		}
		send(channel[1], &byte, 1, MSG_NOSIGNAL);
	}
}

static const struct call {
	const char *name;
	void (*make)(void);
	bool focus; /* makes a socket as new, or takes it where it must not go */
} calls[] = {
	{"connect to a denied host", connect_bad, true},
	{"connect to the loopback", connect_home, true},
	{"connect to the name server", connect_names, true},
	{"shutdown", shut, true},
	{"connect AF_UNSPEC", unspec, false},
	{"connect", connect_good, false},
	{"connect, slowly", connect_slow, false},
	{"send to a denied host", send_bad, false},
	{"send to the loopback", send_home, false},
	{"bind", binds, false},
	{"listen", listens, false},
	{"accept", accepts, false},
	{"dup2", dups, false},
	{"close", closes, false},
	{"setsockopt", options, false},
	{"SCM_RIGHTS", passes, false},
};

enum { CALLS = sizeof(calls) / sizeof(*calls) };

/* --- two threads --- */

static atomic_int turn, done;
static atomic_long usual = 100000; /* ns that a call takes */
static void (*_Atomic ours)(void), (*_Atomic theirs)(void);

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void later(unsigned *seed)
{
	long end = now() + (long)((unsigned long)rand_r(seed) % (unsigned long)usual);

	while (now() < end)
		;
}

static void *other(void *unused)
{
	unsigned seed = 2;
	int last = 0;

	for (;;) {
		while (turn == last)
			sched_yield();
		last = turn;
		if (last < 0)
			return unused;
		later(&seed);
		(*theirs)();
		done = last;
	}
}

/* A socket in one of the states that it can have, under the number S. */
static void prepare(int state, bool blocks)
{
	const struct timeval least = {.tv_usec = 3000};
	int fd = socket(family, type | (blocks ? 0 : SOCK_NONBLOCK), 0);

	if (blocks) {
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &least, sizeof(least));
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &least, sizeof(least));
	}
	if (state == 1)
		bind(fd, (const void *)&any.at, any.len);
	if (state == 2)
		to(fd, &good);
	if (state >= 3)
		to(fd, &slow);
	dup2(fd, S);
	close(fd);
}

static void use(void)
{
	static const char request[] =
		"GET / HTTP/1.1\r\nHost: evil.example.com\r\n\r\n";
	struct pollfd ready = {.fd = S, .events = POLLOUT};

	if (relay && poll(&ready, 1, 2) != 1)
		return;
	send(S, request, relay ? sizeof(request) - 1 : 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The number of tries within so many ms. */
static long pair(int one, int two, long ms, bool focus)
{
	static unsigned seed = 1;
	long end = now() + ms * 1000000, tries = 0, began;

	ours = calls[one].make;
	theirs = calls[two].make;
	for (int last = turn; now() < end; tries++) {
		prepare(rand_r(&seed) % 8, rand_r(&seed) % (focus ? 16 : 4) == 0);
		turn = ++last;
		later(&seed);
		began = now();
		(*ours)();
		usual = (usual * 15 + (now() - began)) / 16 + 1000;
		while (done != last)
			sched_yield();
		use();
		close(S);
	}
	return tries;
}

static bool set_up(const char *kind)
{
	bool six = strchr(kind, '6');

	relay = strcmp(kind, "relay") == 0;
	type = strncmp(kind, "udp", 3) == 0 || strcmp(kind, "dgram") == 0 ? SOCK_DGRAM
									  : SOCK_STREAM;
	if (strcmp(kind, "stream") == 0 || strcmp(kind, "dgram") == 0) {
		family = AF_UNIX;
		good = slow = local(type == SOCK_DGRAM ? "@aw-good-d" : "@aw-good-s");
		bad = names = local(type == SOCK_DGRAM ? "@aw-bad-d" : "@aw-bad-s");
		home = local(type == SOCK_DGRAM ? getenv("BAD_D") : getenv("BAD_S"));
		any = local("@aw-own");
		return true;
	}
	family = six ? AF_INET6 : AF_INET;
	good = internet(six ? "2001:db8::10" : "192.0.2.10", GOOD);
	slow = internet(six ? "2001:db8::10" : "192.0.2.10", SLOW);
	bad = internet(six ? "2001:db8::66" : "192.0.2.66", BAD);
	home = internet(six ? "::1" : "127.0.0.1", HOME);
	names = internet(six ? "2001:db8::53" : "192.0.2.53", 53);
	any = internet(six ? "::1" : "127.0.0.1", 0);
	if (relay)
		bad = home = names = good;
	return true;
}

int main(int argc, char **argv)
{
	long most = 0, tries = 0;
	pthread_t thread;

	if (argc < 4 || !set_up(argv[1]) ||
		socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel) < 0)
		return 2;
	if (fork() == 0)
		passed();
	dup2(socket(family, type | SOCK_NONBLOCK, 0), SPARE);
	if (pthread_create(&thread, NULL, other, NULL) != 0)
		return 2;
	for (int one = 0; one < CALLS; one++) {
		for (int two = one; two < CALLS; two++) {
			bool focus = calls[one].focus && calls[two].make == shut &&
				     type == SOCK_STREAM && family != AF_UNIX;

			most = atol(argv[focus ? 3 : 2]);
			tries += pair(one, two, most, focus);
		}
	}
	turn = -1;
	printf("%ld\n", tries);
	return 0;
}
