/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_roles OTHER SECRET TRIES - leave a profile by two execs at once.
 *
 * One thread starts this program again, another one OTHER with many arguments, so that
 * it is still being looked at when the first one has its way.  What was started again
 * has a child that reads SECRET.  Prints what of that ever happened.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HELD = 41, ESCAPED, WORDS = 4000 };

static char *none[] = {NULL}, *many[WORDS + 1];
static const char *other;
static long delay;
static volatile bool going;

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

static bool is_readable(const char *path)
{
	int fd = open(path, O_RDONLY);
	char c;

	return fd >= 0 && read(fd, &c, 1) == 1;
}

static void *start_other(void *arg)
{
	(void)arg;
	while (!going)
		;
	for (long end = now_us() + delay; now_us() < end;)
		;
	syscall(SYS_execve, other, many, none);
	return NULL;
}

static void start_again(const char *self, const char *secret)
{
	char *argv[] = {(char *)self, (char *)secret, NULL};
	pthread_t thread;

	pthread_create(&thread, NULL, start_other, NULL);
	usleep(300); /* it has begun by then */
	going = true;
	syscall(SYS_execve, "/proc/self/exe", argv, none);
	_exit(9);
}

/* 0: none. */
static int status_of(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : 0;
}

int main(int argc, char **argv)
{
	bool held = false, escaped = false;
	pid_t child;

	if (argc == 2) {
		child = fork();
		if (child == 0)
			_exit(is_readable(argv[1]) ? ESCAPED : HELD);
		return status_of(child);
	}
	if (argc < 4)
		return 2;
	other = argv[1];
	for (int i = 0; i < WORDS; i++)
		many[i] = (char *)"aaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	for (int i = 0; i < atoi(argv[3]); i++) {
		int status;

		delay = i * 7 % 400;
		child = fork();
		if (child == 0)
			start_again(argv[0], argv[2]);
		status = status_of(child);
		held |= status == HELD;
		escaped |= status == ESCAPED;
	}
	printf("%s, %s\n", held ? "held" : "never held",
		escaped ? "escaped" : "never escaped");
	return 0;
}
