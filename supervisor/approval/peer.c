/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - who speaks on a socket, and is it the same that is looked at? */
#include "supervisor/approval/peer.h"

#include <poll.h>
#include <sys/socket.h>

#include "supervisor/process/inside.h"
#include "supervisor/util/cleanup.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

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
	outside = aw_is_outside(pid, self);
	/* its number may have been another's by then, unless it lives still */
	end.fd = pidfd;
	return outside && (pidfd < 0 || poll(&end, 1, 0) == 0);
}
