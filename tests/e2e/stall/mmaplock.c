/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmaplock.c - one process keeps its memory map locked while its threads make calls;
 * another one counts how long its own take.
 *
 * mmaplock GIGABYTES THREADS CALLS: prints the median, the time that 99 of 100 calls
 * take at most, and the longest, in microseconds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char path[] = "/etc/hostname";

static void call(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);

	if (fd >= 0)
		close(fd);
}

static void *calls(void *unused)
{
	for (;;)
		call();
	return unused;
}

static void hold_up(size_t bytes, int threads, int ready)
{
	char *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	volatile char sum = 0;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (all == MAP_FAILED)
		_exit(1);
	madvise(all, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += 4096)
		sum += all[at];
	for (int i = 0; i < threads; i++)
		pthread_create(&thread, NULL, calls, NULL);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;) {
		mprotect(all, bytes, PROT_READ);
		mprotect(all, bytes, PROT_READ | PROT_WRITE);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 3 ? strtoul(argv[1], NULL, 10) << 30 : 0;
	int count = argc > 3 ? atoi(argv[3]) : 0, ready[2];
	double *times = calloc((size_t)count + 1, sizeof(*times));
	pid_t pid;
	char byte;

	if (!times || count < 100 || pipe(ready) < 0)
		return 2;
	pid = bytes ? fork() : 0;
	if (bytes && pid == 0)
		hold_up(bytes, atoi(argv[2]), ready[1]);
	if (bytes && read(ready[0], &byte, 1) != 1)
		return 2;
	for (int i = 0; i < count; i++) {
		double began = now();

		call();
		times[i] = now() - began;
		usleep(500);
	}
	qsort(times, (size_t)count, sizeof(*times), compare);
	printf("%.0f %.0f %.0f\n", times[count / 2], times[count * 99 / 100],
		times[count - 1]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return 0;
}
