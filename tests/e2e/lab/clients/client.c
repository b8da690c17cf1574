/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - TCP and UDP by poll(2) with non-blocking sockets; for a static musl
 * program. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail(const char *what)
{
	printf("%s\n", what);
	return 1;
}

static int wait_for(int fd, short what)
{
	struct pollfd one = {.fd = fd, .events = what};

	return poll(&one, 1, 5000) == 1;
}

static int talk(const struct addrinfo *to)
{
	int fd =
		socket(to->ai_family, to->ai_socktype | SOCK_NONBLOCK, to->ai_protocol);
	int error = 0;
	socklen_t len = sizeof(error);
	char data[64];
	ssize_t n;

	if (connect(fd, to->ai_addr, to->ai_addrlen) < 0) {
		if (errno != EINPROGRESS)
			return fail(strerror(errno));
		if (!wait_for(fd, POLLOUT))
			return fail("no connection");
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
		if (error)
			return fail(strerror(error));
	}
	if (write(fd, "echo", 4) != 4)
		return fail(strerror(errno));
	if (!wait_for(fd, POLLIN) || (n = read(fd, data, sizeof(data))) < 0)
		return fail("no answer");
	printf("%.*s\n", (int)n, data);
	return 0;
}

int main(int argc, char **argv)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
	int err;

	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "udp") == 0)
		hints.ai_socktype = SOCK_DGRAM;
	err = getaddrinfo(argv[2], "7007", &hints, &list);
	return err ? fail(gai_strerror(err)) : talk(list);
}
