/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replace_epoll.c - an epoll instance of a target's watches another socket instead.
 *
 * An entry belongs to a file and the number it was added under, in the table of who
 * adds it (epoll(7)).  So a thread of ours, with a table of its own that is otherwise
 * empty, takes the files over and gives each the number that the target knows it by.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/linux/sockets/socket_replace.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/pass.h"

enum {
	FILES = 3, /* the epoll instance, the old socket, the new one */
	FILES_MOST = 64
};

struct params {
	int number;
	struct epoll_event event;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int channel = -1; /* to the thread */

static bool receive(int fd, struct params *ret, int files[FILES])
{
	return aw_pass_take(fd, ret, sizeof(*ret), files) == sizeof(*ret) &&
	       files[FILES - 1] >= 0;
}

/* Out of the way of a number: the lowest one that is free is another. */
static void move_from(int *fd, int number)
{
	int moved;

	if (*fd != number)
		return;
	moved = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
	aw_close(*fd);
	*fd = moved;
}

static void rearrange(struct params *params, int files[FILES])
{
	for (int i = 0; i < FILES; i++)
		move_from(&files[i], params->number);
	if (dup2(files[1], params->number) >= 0)
		epoll_ctl(files[0], EPOLL_CTL_DEL, params->number, NULL);
	if (dup2(files[2], params->number) >= 0)
		epoll_ctl(files[0], EPOLL_CTL_ADD, params->number, &params->event);
	aw_close(params->number);
	for (int i = 0; i < FILES; i++)
		aw_close(files[i]);
}

static void *serve(void *arg)
{
	int fd = *(int *)arg, files[FILES];
	struct params params;

	free(arg);
	/* what is open elsewhere must not stay so here */
	if (unshare(CLONE_FILES) < 0) {
		shutdown(fd, SHUT_RDWR);
		return NULL;
	}
	if (fd > 0)
		close_range(0, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0U, 0);
	send(fd, "", 1, MSG_NOSIGNAL);
	while (receive(fd, &params, files)) {
		move_from(&fd, params.number);
		rearrange(&params, files);
		send(fd, "", 1, MSG_NOSIGNAL);
	}
	aw_close(fd);
	return NULL;
}

static bool wait_for(int fd)
{
	char byte;
	ssize_t n;

	do
		n = recv(fd, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static int start(void)
{
	int pair[2], *theirs = malloc(sizeof(*theirs));
	pthread_t thread;

	if (!theirs ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		free(theirs);
		return -1;
	}
	*theirs = pair[1];
	if (pthread_create(&thread, NULL, serve, theirs) != 0) {
		aw_close(pair[0]);
		aw_close(pair[1]);
		free(theirs);
		return -1;
	}
	pthread_detach(thread);
	wait_for(pair[0]); /* then it has one of its own */
	aw_close(pair[1]);
	return pair[0];
}

/* With the lock held: done, or not by this thread, which is not asked again then. */
static bool ask_it(const struct params *params, const int files[FILES])
{
	if (channel < 0)
		channel = start();
	if (channel < 0)
		return false;
	if (aw_pass(channel, params, sizeof(*params), files, FILES, 0) == 0 &&
		wait_for(channel))
		return true;
	aw_close(channel);
	channel = -1;
	return false;
}

static void ask(const struct params *params, const int files[FILES])
{
	pthread_mutex_lock(&lock);
	if (!ask_it(params, files))
		ask_it(params, files);
	pthread_mutex_unlock(&lock);
}

/* Several files may have had the number. */
bool aw_replace_is_watched(const struct aw_watched *at)
{
	struct kcmp_epoll_slot slot = {
		.efd = (uint32_t)at->epoll, .tfd = (uint32_t)at->number};
	long order = 0;

	for (; order >= 0 && slot.toff < FILES_MOST; slot.toff++) {
		order = syscall(
			SYS_kcmp, getpid(), at->tid, KCMP_EPOLL_TFD, at->old, &slot);
		if (order == 0)
			return true;
	}
	return order < 0 && errno != ENOENT;
}

/* What is found is not looked for any further: the file has this number once. */
void aw_replace_watch_instead(const struct aw_watched *at, int epoll, int fd)
{
	const int files[FILES] = {epoll, at->old, fd};
	AW_FCLOSE FILE *file = NULL;
	AW_FREE char *line = NULL;
	char path[64];
	struct stat st;
	size_t size = 0;

	if (fstat(at->old, &st) < 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)at->tid, at->epoll);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0) {
		unsigned long ino;
		unsigned under, events;
		uint64_t data;

		if (sscanf(line, "tfd: %u events: %x data: %" SCNx64 " pos:%*d ino:%lx",
			    &under, &events, &data, &ino) != 4 ||
			ino != st.st_ino || under != (unsigned)at->number)
			continue;
		ask(&(struct params){(int)under, {events, {.u64 = data}}}, files);
		return;
	}
}
