/* SPDX-License-Identifier: Apache-2.0 */
/* outside.c - does with sockets what its arguments name. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "outside.h"

struct address at(const char *text, int port)
{
	struct address a = {.len = sizeof(struct sockaddr_in)};
	struct sockaddr_in *in = (void *)&a.bytes;
	struct sockaddr_in6 *in6 = (void *)&a.bytes;

	in->sin_port = htons((uint16_t)port); /* at the same place in both */
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		return a;
	}
	in6->sin6_family = AF_INET6;
	inet_pton(AF_INET6, text, &in6->sin6_addr);
	a.len = sizeof(*in6);
	return a;
}

int join(int fd, const char *text, int port)
{
	struct address a = at(text, port);

	return connect(fd, (void *)&a.bytes, a.len);
}

const char *error(void)
{
	static _Thread_local char text[32];

	snprintf(text, sizeof(text), "errno %d", errno);
	return errno == EACCES	       ? "EACCES"
	       : errno == ECONNREFUSED ? "ECONNREFUSED"
	       : errno == EINPROGRESS  ? "EINPROGRESS"
	       : errno == EISCONN      ? "EISCONN"
	       : errno == EINTR	       ? "EINTR"
	       : errno == EPIPE	       ? "EPIPE"
	       : errno == ENOTCONN     ? "ENOTCONN"
	       : errno == EAGAIN       ? "EAGAIN"
				       : text;
}

/* What is sent comes back. */
const char *echoes(int fd)
{
	static _Thread_local char back[8];
	ssize_t n;

	memset(back, 0, sizeof(back));
	if (send(fd, "hello", 5, MSG_NOSIGNAL) != 5)
		return error();
	n = recv(fd, back, sizeof(back) - 1, 0);
	return n < 0 ? error() : n == 5 ? back : "short";
}

const char *peer(int fd)
{
	static char text[80], address[64];
	struct sockaddr_storage from;
	struct sockaddr_in *in = (void *)&from;
	struct sockaddr_in6 *in6 = (void *)&from;
	socklen_t len = sizeof(from);

	if (getpeername(fd, (void *)&from, &len) < 0)
		return error();
	inet_ntop(from.ss_family,
		from.ss_family == AF_INET ? (void *)&in->sin_addr
					  : (void *)&in6->sin6_addr,
		address, sizeof(address));
	snprintf(text, sizeof(text), "%s port %d", address, ntohs(in->sin_port));
	return text;
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {{"tcp", outside_tcp}, {"udp", outside_udp},
	{"nonblocking", outside_nonblocking},
	{"nonblocking_refused", outside_nonblocking_refused},
	{"epoll", outside_epoll_before}, {"duplicates", outside_duplicates},
	{"options", outside_options}, {"threads", outside_threads},
	{"refused", outside_refused}, {"interrupted", outside_interrupted},
	{"datagrams", outside_datagrams}, {"fastopen", outside_fastopen},
	{"inside", outside_inside}, {"to_and_fro", outside_to_and_fro},
	{"denied", outside_denied}, {"local", outside_local}, {"name", outside_name},
	{"forked", outside_forked}};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		for (size_t n = 0; n < sizeof(all) / sizeof(all[0]); n++)
			if (strcmp(all[n].name, argv[i]) == 0) {
				all[n].run();
				fflush(stdout);
			}
	return 0;
}
