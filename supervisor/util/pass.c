/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c - descriptors beside a message. */
#include "supervisor/util/pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Room for them, laid out as the kernel wants it. */
union room {
	char bytes[CMSG_SPACE(AW_PASS_MAX * sizeof(int))];
	struct cmsghdr align;
};

int aw_pass(int socket, const void *words, size_t size, const int *fds, size_t count,
	int flags)
{
	union room room = {{0}};
	struct iovec iov = {(void *)words, size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (count) {
		msg.msg_control = room.bytes;
		msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
		room.align.cmsg_level = SOL_SOCKET;
		room.align.cmsg_type = SCM_RIGHTS;
		room.align.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&room.align), fds, count * sizeof(int));
	}
	return sendmsg(socket, &msg, flags | MSG_NOSIGNAL) < 0 ? errno : 0;
}

/*
 * A peer that ends with something unread is an error, which the kernel reports once and
 * before what the peer had said (net/unix/af_unix.c, unix_release_sock).  All of that
 * is taken first.
 */
ssize_t aw_pass_take(int socket, void *words, size_t size, int fds[AW_PASS_MAX])
{
	union room room;
	struct iovec iov = {words, size};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = room.bytes,
		.msg_controllen = sizeof(room.bytes)};
	struct cmsghdr *c;
	ssize_t n;

	for (size_t i = 0; i < AW_PASS_MAX; i++)
		fds[i] = -1;
	do
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return n;
}
