/* SPDX-License-Identifier: Apache-2.0 */
/*
 * victim.c - a process outside the session, with secrets in its memory, its environment
 * and a descriptor.
 *
 *   esc-victim SECRET FILE    prints "PID ADDRESS FD"; then answers each line on
 * standard input by "signals N memory TEXT"; ends with its input
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char secret[64];
static volatile sig_atomic_t seen;

static void count(int number)
{
	(void)number;
	seen++;
}

int main(int argc, char **argv)
{
	char byte;
	ssize_t got;
	int fd;

	if (argc != 3)
		return 2;
	signal(SIGUSR1, count);
	signal(SIGTERM, count);
	signal(SIGXCPU, count);
	setpgid(0, 0);
	prctl(PR_SET_NAME, "esc-victim");
	snprintf(secret, sizeof secret, "%s", argv[1]);
	fd = open(argv[2], O_RDONLY);
	memset(argv[1], 'x', strlen(argv[1]));
	printf("%d %lx %d\n", getpid(), (unsigned long)secret, fd);
	fflush(stdout);
	for (;;) {
		got = read(0, &byte, 1);
		if (got == 0 || (got < 0 && errno != EINTR))
			return 0;
		if (got == 1) {
			printf("signals %d memory %.60s\n", (int)seen, secret);
			fflush(stdout);
		}
	}
}
