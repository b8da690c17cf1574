/* SPDX-License-Identifier: Apache-2.0 */
/* connect_loop.c - "serve": accept on a loopback port, which is printed first, and take
 * in all that is sent, until killed; N PORT: connect to it and close, N times; "flood"
 * N PORT: connect once, send N MB, print the seconds that took. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int serve(int listener, struct sockaddr_in *at)
{
	static char bytes[1 << 18];
	socklen_t len = sizeof(*at);

	if (bind(listener, (struct sockaddr *)at, len) < 0 ||
		listen(listener, 4096) < 0 ||
		getsockname(listener, (struct sockaddr *)at, &len) < 0)
		return 1;
	printf("%d\n", ntohs(at->sin_port));
	fflush(stdout);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			return 1;
		while (recv(fd, bytes, sizeof(bytes), 0) > 0)
			; /* until the other side is through */
		close(fd);
	}
}

/* Ends with a reset: no port is left waiting that a later run could need. */
static int visit(const struct sockaddr_in *at)
{
	const struct linger none = {.l_onoff = 1};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none)) < 0 ||
		connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0)
		return -1;
	return close(fd);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until the other side has taken all: it closes when we have. */
static int flood(const struct sockaddr_in *at, long megabytes)
{
	static char bytes[1 << 20];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	double start = now();

	if (fd < 0 || connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0)
		return 1;
	for (; megabytes > 0; megabytes--)
		for (size_t sent = 0; sent < sizeof(bytes);) {
			ssize_t n = write(fd, bytes + sent, sizeof(bytes) - sent);

			if (n <= 0)
				return 1;
			sent += (size_t)n;
		}
	shutdown(fd, SHUT_WR);
	if (recv(fd, bytes, 1, 0) != 0)
		return 1;
	printf("%.6f\n", now() - start);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve(socket(AF_INET, SOCK_STREAM, 0), &at);
	if (argc < 3)
		return 2;
	if (argc > 3 && strcmp(argv[1], "flood") == 0) {
		at.sin_port = htons((uint16_t)atoi(argv[3]));
		return flood(&at, atol(argv[2]));
	}
	at.sin_port = htons((uint16_t)atoi(argv[2]));
	for (long left = atol(argv[1]); left > 0; left--)
		if (visit(&at) < 0)
			return 1;
	return 0;
}
