/* SPDX-License-Identifier: Apache-2.0 */
/* names.c NAME... - look each up and connect to its port 80; for static programs. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *reach(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM, 0);
	int failed = connect(fd, a->ai_addr, a->ai_addrlen), err = errno;

	close(fd);
	return failed ? strerror(err) : "reached";
}

int main(int argc, char **argv)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_family = AF_INET};
	struct addrinfo *found;

	for (int i = 1; i < argc; i++) {
		found = NULL;
		puts(getaddrinfo(argv[i], "80", &hints, &found) ? "no-name"
								: reach(found));
	}
	return 0;
}
