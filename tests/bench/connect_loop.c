/* SPDX-License-Identifier: Apache-2.0 */
/* connect_loop.c - "serve": accept on a loopback port, which is printed first, until
 * killed; N PORT: connect to it and close, N times. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int serve(int listener, struct sockaddr_in *at)
{
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
		recv(fd, &len, sizeof(len), 0); /* until the other side is through */
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

int main(int argc, char **argv)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve(socket(AF_INET, SOCK_STREAM, 0), &at);
	if (argc < 3)
		return 2;
	at.sin_port = htons((uint16_t)atoi(argv[2]));
	for (long left = atol(argv[1]); left > 0; left--)
		if (visit(&at) < 0)
			return 1;
	return 0;
}
