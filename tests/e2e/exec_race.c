/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_race ALLOWED DENIED TRIES - exchange the name of a program while it is started.
 *
 * One thread starts what stands in a buffer, one writes the two names into it in turn,
 * and one makes calls all the time, so that somebody is seen to call while the exec is
 * under way.  DENIED makes the file "ran".  Prints how often the allowed one ran to its
 * end, and whether the denied one did.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[4096];
static const char *names[2];

static void *exchange(void *arg)
{
	(void)arg;
	for (;;) {
		memcpy(name, names[0], strlen(names[0]) + 1);
		for (volatile int i = 0; i < 3000; i++)
			;
		memcpy(name, names[1], strlen(names[1]) + 1);
		for (volatile int i = 0; i < 3000; i++)
			;
	}
	return NULL;
}

static void *call(void *arg)
{
	(void)arg;
	for (;;) {
		syscall(SYS_faccessat, -1, "/nowhere", 0);
		syscall(SYS_openat, -1, "/nowhere", 0);
	}
	return NULL;
}

/* By a thread that does not lead the process, or by the one that does. */
static void *start(void *arg)
{
	char *argv[] = {(char *)"x", NULL};

	(void)arg;
	for (int i = 0; i < 100; i++)
		execv(name, argv);
	_exit(9);
}

static void one(int leads)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exchange, NULL);
	pthread_create(&thread, NULL, call, NULL);
	if (leads)
		start(NULL);
	pthread_create(&thread, NULL, start, NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	int tries = argc > 3 ? atoi(argv[3]) : 0, allowed = 0, status;

	if (argc < 4)
		return 2;
	names[0] = argv[1];
	names[1] = argv[2];
	for (int i = 0; i < tries; i++) {
		pid_t child = fork();

		if (child == 0)
			one(i % 2);
		if (waitpid(child, &status, 0) == child && WIFEXITED(status) &&
			WEXITSTATUS(status) == 0)
			allowed++;
	}
	printf("allowed %s, denied %s\n", allowed ? "ran" : "never ran",
		access("ran", F_OK) == 0 ? "ran" : "never ran");
	return 0;
}
