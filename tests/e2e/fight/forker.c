/* SPDX-License-Identifier: Apache-2.0 */
/* forker.c - fork without exec while four threads open files; every child opens some
 * too */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop, failures;

static int open_some(int count)
{
	int bad = 0;

	while (count-- > 0) {
		int fd = open("/etc/passwd", O_RDONLY);

		if (fd < 0)
			bad++;
		else
			close(fd);
	}
	return bad;
}

static void *opener(void *unused)
{
	while (!stop)
		failures += open_some(10);
	return unused;
}

int main(void)
{
	pthread_t threads[4];
	int i, status, bad = 0;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, opener, NULL);
	for (i = 0; i < 60; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(open_some(20));
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			bad++;
	}
	stop = 1;
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("children that failed: %d, opens that failed: %d\n", bad, failures);
	return 0;
}
