/* SPDX-License-Identifier: Apache-2.0 */
/* cancel.c - pthread_cancel of a thread that is blocked in open (a FIFO) or in connect */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "sock"};
static int cleaned;

static void clean(void *what)
{
	cleaned++;
	printf("cleaned up: %s\n", (const char *)what);
}

static void *in_open(void *unused)
{
	pthread_cleanup_push(clean, (void *)"open");
	open("fifo", O_RDONLY);
	pthread_cleanup_pop(0);
	return unused;
}

static void *in_connect(void *unused)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	pthread_cleanup_push(clean, (void *)"connect");
	connect(fd, (struct sockaddr *)&address, sizeof address);
	pthread_cleanup_pop(0);
	return unused;
}

static void cancel(void *(*what)(void *), const char *name)
{
	struct timespec soon;
	pthread_t thread;
	void *result = NULL;
	int rc;

	pthread_create(&thread, NULL, what, NULL);
	usleep(200000);
	pthread_cancel(thread);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 4;
	rc = pthread_timedjoin_np(thread, &result, &soon);
	printf("%s: join %d, cancelled %d\n", name, rc,
		rc == 0 && result == PTHREAD_CANCELED);
}

int main(void)
{
	int server = socket(AF_UNIX, SOCK_STREAM, 0), i, fd;

	mkfifo("fifo", 0600);
	cancel(in_open, "open");
	bind(server, (struct sockaddr *)&address, sizeof address);
	listen(server, 0);
	for (i = 0; i < 4; i++) { /* fill the queue, so that the next one waits */
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
			break;
	}
	cancel(in_connect, "connect");
	printf("%d\n", cleaned);
	fflush(stdout);
	_exit(0);
}
