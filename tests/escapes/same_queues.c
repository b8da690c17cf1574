/* SPDX-License-Identifier: Apache-2.0 */
/* same_queues.c - connecting to servers that let wait: what ends it, and when */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

static void wake_up(int number)
{
	(void)number;
}

static void patience_of(int fd)
{
	struct timeval patience;
	socklen_t size = sizeof patience;

	getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, &size);
	printf("  waits for %ld.%06ld s\n", (long)patience.tv_sec,
		(long)patience.tv_usec);
}

/* A connect that has to wait: until there is room, until a signal, until its timeout. */
static void full_queue(
	int family, const struct sockaddr *address, socklen_t size, int server)
{
	struct sigaction action = {.sa_handler = wake_up}, old;
	struct timeval soon = {.tv_usec = 300000};
	int fds[3], i, fd = socket(family, SOCK_STREAM, 0);
	pid_t child;
	long start;

	for (i = 0; i < 3; i++) {
		fds[i] = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fds[i], address, size);
	}
	start = clock_ms();
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
	say("until its timeout", connect(fd, address, size));
	holds("  in its time", clock_ms() - start >= 290 && clock_ms() - start < 3000);
	patience_of(fd);
	close(fd);
	fd = socket(family, SOCK_STREAM, 0);
	sigaction(SIGALRM, &action, &old);
	start = clock_ms();
	ualarm(300000, 0);
	say("until a signal", connect(fd, address, size));
	holds("  in its time", clock_ms() - start >= 290 && clock_ms() - start < 3000);
	sigaction(SIGALRM, &old, NULL);
	patience_of(fd);
	close(fd);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		usleep(300000);
		for (;;)
			accept(server, NULL, NULL);
	}
	fd = socket(family, SOCK_STREAM, 0);
	start = clock_ms();
	say("until there is room", connect(fd, address, size));
	holds("  in its time", clock_ms() - start >= 290 && clock_ms() - start < 3000);
	printf("flags %d\n", fcntl(fd, F_GETFL) & O_NONBLOCK);
	patience_of(fd);
	close(fd);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (i = 0; i < 3; i++)
		close(fds[i]);
	close(server);
}

static void files(void)
{
	struct sockaddr_un address;
	socklen_t size = unix_address("full", false, &address);
	int server = socket(AF_UNIX, SOCK_STREAM, 0);

	say("bind", bind(server, (struct sockaddr *)&address, size));
	listen(server, 0);
	full_queue(AF_UNIX, (struct sockaddr *)&address, size, server);
}

static void loopback(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof address;
	int server = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(0x7f010001);
	say("bind TCP", bind(server, (struct sockaddr *)&address, size));
	listen(server, 0);
	getsockname(server, (struct sockaddr *)&address, &size);
	full_queue(AF_INET, (struct sockaddr *)&address, size, server);
}

void same_queues(void)
{
	files();
	loopback();
}
