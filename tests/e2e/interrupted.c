/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupted.c FOLDER - calls that nothing interrupts, made under a fast timer whose
 * handler does not restart them. Prints how many failed with EINTR, and the others that
 * failed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int interrupted, failed;

static void on(int number)
{
	(void)number;
}

/* In the handlers errno is left alone, so a call that works does not change it. */
static void count(int works)
{
	if (!works && errno == EINTR)
		interrupted++;
	else if (!works || errno != 77)
		failed++;
	errno = 77;
}

static void calls(void)
{
	struct stat st;
	FILE *file;
	DIR *dir;
	int fd;

	count((fd = open("file", O_RDWR | O_CREAT, 0644)) >= 0);
	close(fd);
	count((file = fopen("file", "re")) != NULL);
	if (file)
		fclose(file);
	count((dir = opendir(".")) != NULL);
	if (dir)
		closedir(dir);
	count(mkdir("folder", 0755) == 0);
	count(chmod("folder", 0700) == 0);
	count(rename("folder", "other") == 0);
	count(rmdir("other") == 0);
	count(stat("file", &st) == 0);
	count(access("file", W_OK) == 0);
	count(unlink("file") == 0);
	count(kill(getpid(), SIGUSR1) == 0);
	count(raise(SIGUSR1) == 0);
	count((errno = pthread_kill(pthread_self(), SIGUSR1)) == 0 && (errno = 77));
	count(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1}) == 0);
}

int main(int argc, char **argv)
{
	const struct itimerval often = {{0, 300}, {0, 300}};
	struct sigaction action = {.sa_handler = on};

	if (argc < 2 || chdir(argv[1]) < 0)
		return 2;
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	errno = 77;
	for (int i = 0; i < 300; i++)
		calls();
	printf("interrupted %d, failed %d\n", interrupted, failed);
	return 0;
}
