/* SPDX-License-Identifier: Apache-2.0 */
/* handler.c - open in a signal handler while open is under way; "small": on an 8 KB
 * stack */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t inside, bad;
static char small[8192] __attribute__((aligned(64)));

static void on_alarm(int number)
{
	int kept = errno, fd = open("/etc/hostname", O_RDONLY | O_CLOEXEC);

	(void)number;
	if (fd < 0)
		bad++;
	else
		close(fd);
	if (open("/no/such/file", O_RDONLY) != -1 || errno != ENOENT)
		bad++;
	inside++;
	errno = kept;
}

int main(int argc, char **argv)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	stack_t stack = {.ss_sp = small, .ss_size = sizeof small};
	int wrong = 0, i;

	if (argc > 1 && !strcmp(argv[1], "small")) {
		sigaltstack(&stack, NULL);
		action.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 20000 || inside < 20; i++) {
		int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			wrong++;
		else
			close(fd);
		if (open("/no/such/file", O_RDONLY) != -1 || errno != ENOENT)
			wrong++;
		if (i > 2000000)
			break;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("handler ran: %d, wrong inside: %d, wrong outside: %d\n", inside >= 20,
		(int)bad, wrong);
	return 0;
}
