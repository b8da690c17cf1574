/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - the ancestors of who speaks. */
#include "supervisor/ask/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/cleanup.h"
#include "supervisor/proc.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

enum { DEPTH = 1024 };

/* A supervisor cannot call itself anything else (service.c), whoever looks at it. */
static bool is_supervisor(pid_t pid)
{
	char path[48], name[32] = "";
	AW_FCLOSE FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	return file && fgets(name, sizeof(name), file) &&
	       strcmp(name, "agentwatch\n") == 0;
}

/* Alive, and not for us to see (proc(5), hidepid): so not ours, as a supervisor is. */
static bool is_hidden(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == EPERM;
}

/* From pid up to the first process; what is gone on the way is not outside. */
static bool has_plain_ancestors(pid_t pid, pid_t self)
{
	for (int depth = 0; depth < DEPTH; depth++) {
		struct aw_proc_stat stat;

		if (pid == self)
			return false;
		if (!aw_proc_stat(pid, &stat))
			return depth > 0 && is_hidden(pid);
		if (depth > 0 && is_supervisor(pid))
			return false;
		if (stat.ppid <= 0 || pid == 1)
			return true;
		pid = stat.ppid;
	}
	return false;
}

bool aw_peer_is_outside(int socket, pid_t pid, pid_t self)
{
	AW_CLOSE int pidfd = -1;
	socklen_t size = sizeof(pidfd);
	struct pollfd end = {.events = POLLIN};
	bool outside;

	if (pid <= 0)
		return false;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) < 0)
		pidfd = -1;
	outside = has_plain_ancestors(pid, self);
	/* its number may have been another's by then, unless it lives still */
	end.fd = pidfd;
	return outside && (pidfd < 0 || poll(&end, 1, 0) == 0);
}
