/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_back.c PROGRAM COUNT - lets nobody open PROGRAM (fanotify(7), needs root) while
 * COUNT children execute it and another program runs; then lets all go on.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void allow_all(int fd)
{
	char events[8192];
	ssize_t n = read(fd, events, sizeof(events));
	struct fanotify_event_metadata *event = (void *)events;

	for (; n > 0 && FAN_EVENT_OK(event, n); event = FAN_EVENT_NEXT(event, n)) {
		struct fanotify_response yes = {event->fd, FAN_ALLOW};

		if (write(fd, &yes, sizeof(yes)) < 0)
			perror("answer");
		close(event->fd);
	}
}

int main(int argc, char **argv)
{
	int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, 0);
	int left = argc > 2 ? atoi(argv[2]) : 0, failed = 0, status;
	double start;

	if (fd < 0 ||
		fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, argv[1]) < 0) {
		perror("fanotify");
		return 2;
	}
	for (int i = 0; i < left; i++)
		if (fork() == 0) {
			execl(argv[1], argv[1], NULL);
			_exit(1);
		}
	usleep(200000);
	start = now();
	status = system("ls / >/dev/null");
	printf("ls: %x, %s\n", status, now() - start < 5 ? "in time" : "late");
	while (left > 0) {
		struct pollfd event = {.fd = fd, .events = POLLIN};

		if (poll(&event, 1, 20) > 0)
			allow_all(fd);
		for (; left > 0 && waitpid(-1, &status, WNOHANG) > 0; left--)
			failed += status != 0;
	}
	printf("failed: %d\n", failed);
	return 0;
}
