/* SPDX-License-Identifier: Apache-2.0 */
/* vforker.c - vfork then exec, vfork then open and _exit, and a vfork child killed
 * inside a call */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int opens(void)
{
	int fd = open("/etc/passwd", O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd;
}

static void report(const char *what, pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	printf("%s: status %x, then open gives %d\n", what, (unsigned)status, opens());
}

/* Ends the process that blocks in the FIFO, from outside. */
static pid_t start_killer(void)
{
	pid_t killer = fork();

	if (killer == 0) {
		char command[200];

		snprintf(command, sizeof command,
			"sleep 0.3; for p in $(ps -o pid= --ppid %d); do [ $p = $$ ] "
			"|| kill -KILL $p; done",
			(int)getppid());
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(1);
	}
	return killer;
}

int main(void)
{
	pid_t child, killer;
	volatile int i;

	child = vfork();
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	report("exec", child);
	child = vfork();
	if (child == 0) {
		execl("/no/such/program", "x", (char *)NULL);
		_exit(errno);
	}
	report("exec that fails", child);
	child = vfork();
	if (child == 0) {
		int fd = open("/etc/passwd", O_RDONLY);

		close(fd);
		_exit(fd);
	}
	report("open and _exit", child);
	for (i = 0; i < 50; i++) {
		child = vfork();
		if (child == 0)
			_exit(open("/no/such/file", O_RDONLY) < 0 ? 7 : 8);
		waitpid(child, NULL, 0);
	}
	mkfifo("fifo", 0600);
	killer = start_killer();
	child = vfork();
	if (child == 0) {
		open("fifo", O_RDONLY);
		_exit(1);
	}
	waitpid(killer, NULL, 0);
	report("killed inside open", child);
	for (i = 0; i < 1000; i++)
		if (opens() < 0)
			printf("blind after the killed child\n");
	return 0;
}
