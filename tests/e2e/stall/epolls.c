/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epolls.c - connects outside in a process with many epoll instances that watch much.
 *
 * epolls INSTANCES WATCHED ADDRESS PORT: prints the time of the longest of some
 * connects in ms, and whether an instance that watched the socket before tells of the
 * connection.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	int instances = argc > 4 ? atoi(argv[1]) : 0,
	    count = argc > 4 ? atoi(argv[2]) : 0;
	struct sockaddr_in to = {.sin_family = AF_INET};
	struct epoll_event event = {.events = EPOLLOUT}, back;
	struct rlimit all;
	double worst = 0;
	static int epolls[1000], events[10000];
	int first, told = 0;

	if (argc < 5 || instances > 1000 || count > 10000)
		return 2;
	getrlimit(RLIMIT_NOFILE, &all);
	all.rlim_cur = all.rlim_max;
	setrlimit(RLIMIT_NOFILE, &all);
	to.sin_port = htons((unsigned short)atoi(argv[4]));
	inet_pton(AF_INET, argv[3], &to.sin_addr);
	for (int i = 0; i < instances; i++) /* the first to be looked at */
		epolls[i] = epoll_create1(0);
	first = epolls[0];
	for (int n = 0; n < count; n++) {
		struct epoll_event in = {.events = EPOLLIN};

		events[n] = eventfd(0, 0);
		for (int i = 0; i < instances; i++)
			if (epoll_ctl(epolls[i], EPOLL_CTL_ADD, events[n], &in) < 0)
				return 3;
	}
	for (int i = 0; i < 5; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		double began;

		epoll_ctl(first, EPOLL_CTL_ADD, fd, &event);
		began = now();
		connect(fd, (struct sockaddr *)&to, sizeof(to));
		if (now() - began > worst)
			worst = now() - began;
		told += epoll_wait(first, &back, 1, 2000) == 1 &&
			back.events == EPOLLOUT;
		close(fd);
	}
	printf("%.0f %d\n", worst, told);
	return 0;
}
