/* SPDX-License-Identifier: Apache-2.0 */
/* closer.c - close every descriptor, in a loop and by close_range, then go on working */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(const char *when)
{
	int first = open("/etc/passwd", O_RDONLY),
	    second = open("made", O_WRONLY | O_CREAT, 0600);
	int missing = open("/no/such/file", O_RDONLY);

	printf("%s: %d %d %d %s\n", when, first, second, missing, strerror(errno));
	close(first);
	close(second);
}

int main(void)
{
	pid_t child;
	int fd, status;

	work("at first");
	for (fd = 3; fd < 4096; fd++)
		close(fd);
	work("after a loop");
	syscall(SYS_close_range, 3, ~0U, 0);
	work("after close_range");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		syscall(SYS_close_range, 3, ~0U, 0);
		work("in a child");
		fflush(stdout);
		execl("/bin/cat", "cat", "/etc/hostname", (char *)NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	printf("child: %x\n", (unsigned)status);
	close(0);
	printf("the lowest number is free: %d\n", open("/dev/null", O_RDONLY));
	return 0;
}
