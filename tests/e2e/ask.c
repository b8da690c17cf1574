/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c - one open, by a program that gets a signal or has threads.
 *
 *   ask open FILE            print what the open gave
 *   ask alarm FILE 0|1|2     the same with SIGALRM every 50 ms; 1: with SA_RESTART; 2:
 * and with another thread ask threads FILE COUNT   COUNT threads open the file at once
 *   ask loop COUNT           COUNT opens of /dev/null; the time in microseconds
 *   ask time FILE COUNT      COUNT opens of FILE one after the other; microseconds each
 *   ask say SOCKET LINE      send a line to a control socket and print the reply
 *   ask orphan SOCKET LINE   the same by a process whose parents are gone
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms;
static const char *file;
static int opened;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static const char *outcome(void)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == EINTR ? "EINTR" : errno == EACCES ? "EACCES" : "other";
	close(fd);
	return "ok";
}

static void *idle(void *unused)
{
	sleep(60);
	return unused;
}

static void with_alarm(int restart)
{
	pthread_t other;
	struct sigaction action = {
		.sa_handler = on_alarm, .sa_flags = restart ? SA_RESTART : 0};
	const struct itimerval often = {{0, 50000}, {0, 50000}},
			       never = {{0, 0}, {0, 0}};
	const char *got;

	if (restart == 2 && pthread_create(&other, NULL, idle, NULL))
		exit(2);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	got = outcome();
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%s %s\n", got, alarms ? "after signals" : "without a signal");
}

static void *in_thread(void *unused)
{
	(void)unused;
	if (strcmp(outcome(), "ok") == 0)
		__atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void threads(int count)
{
	pthread_t all[64];

	for (int i = 0; i < count && i < 64; i++)
		if (pthread_create(&all[i], NULL, in_thread, NULL))
			exit(2);
	for (int i = 0; i < count && i < 64; i++)
		pthread_join(all[i], NULL);
	printf("%d\n", opened);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void many(int count, int each)
{
	double start = now();

	for (int i = 0; i < count; i++)
		if (strcmp(outcome(), "ok") != 0)
			exit(1);
	printf("%.1f\n", (now() - start) / (each ? count : 1));
}

static void say(const char *path, const char *line)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char reply[4096];
	ssize_t n;

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		printf("out of reach\n");
		return;
	}
	dprintf(fd, "%s\n", line);
	n = read(fd, reply, sizeof(reply) - 1);
	reply[n > 0 ? n : 0] = '\0';
	printf("%s", reply);
}

static void orphan(const char *path, const char *line)
{
	pid_t child = fork();

	if (child) {
		waitpid(child, NULL, 0);
		usleep(300000);
		return;
	}
	if (fork() == 0) {
		setsid();
		usleep(100000);
		say(path, line);
		fflush(stdout);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	file = argv[2];
	if (strcmp(argv[1], "open") == 0) {
		printf("%s\n", outcome());
	} else if (strcmp(argv[1], "alarm") == 0 && argc > 3) {
		with_alarm(atoi(argv[3]));
	} else if (strcmp(argv[1], "threads") == 0 && argc > 3) {
		threads(atoi(argv[3]));
	} else if (strcmp(argv[1], "loop") == 0) {
		file = "/dev/null";
		many(atoi(argv[2]), 0);
	} else if (strcmp(argv[1], "say") == 0 && argc > 3) {
		say(argv[2], argv[3]);
	} else if (strcmp(argv[1], "orphan") == 0 && argc > 3) {
		orphan(argv[2], argv[3]);
	} else if (strcmp(argv[1], "time") == 0 && argc > 3) {
		many(atoi(argv[3]), 1);
	} else {
		return 2;
	}
	return 0;
}
