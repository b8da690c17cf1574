/* SPDX-License-Identifier: Apache-2.0 */
/* outside_policy.c - what a policy makes a difference to. */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "outside.h"

void outside_denied(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0),
	    dgram = socket(AF_INET, SOCK_DGRAM, 0);

	printf("denied: %s", join(fd, "192.0.2.20", ECHO) < 0 ? error() : "ok");
	printf(", %s", join(fd, SERVER, ECHO) < 0 ? error() : echoes(fd));
	printf(", udp %s", join(dgram, SERVER, ECHO) < 0 ? error() : echoes(dgram));
	printf(", %s", join(dgram, "192.0.2.20", ECHO) < 0 ? error() : "ok");
	printf(", %s\n", echoes(dgram));
	close(fd);
	close(dgram);
}

void outside_local(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0),
	    dgram = socket(AF_INET, SOCK_DGRAM, 0),
	    soon = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct timeval second = {.tv_sec = 1};
	struct pollfd p = {.fd = soon, .events = POLLOUT};
	int err = 0;
	socklen_t len = sizeof(err);

	setsockopt(dgram, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	printf("local: %s", join(fd, "127.0.0.1", LOCAL) < 0 ? error() : echoes(fd));
	printf(", %s", join(dgram, "127.0.0.1", LOCAL) < 0 ? error() : echoes(dgram));
	if (join(soon, "127.0.0.1", LOCAL) < 0)
		poll(&p, 1, 3000);
	getsockopt(soon, SOL_SOCKET, SO_ERROR, &err, &len);
	errno = err;
	printf(", %s\n", err ? error() : "ok");
}

void outside_name(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "\0aw-outside"};
	socklen_t len = (socklen_t)offsetof(struct sockaddr_un, sun_path) + 11;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0),
	    dgram = socket(AF_UNIX, SOCK_DGRAM, 0);

	printf("name: %s", connect(fd, (void *)&un, len) < 0 ? error() : echoes(fd));
	un.sun_path[len - offsetof(struct sockaddr_un, sun_path)] = 'd';
	printf(", %s\n", sendto(dgram, "hello", 5, 0, (void *)&un, len + 1) < 0
				 ? error()
				 : "ok");
}

/* Another process has it, too: of that one the kernel does not let us take it. */
void outside_forked(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), go[2];
	char byte;

	if (pipe(go) < 0)
		return;
	fflush(stdout);
	if (fork() == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) < 0)
			_exit(1);
		printf("forked: the child %s\n", echoes(fd));
		fflush(stdout);
		_exit(0);
	}
	join(fd, SERVER, ECHO);
	close(go[1]);
	wait(NULL);
	printf("forked: the parent %s\n", echoes(fd));
}
