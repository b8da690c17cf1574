/* SPDX-License-Identifier: Apache-2.0 */
/* ask_socket.c - one connection, one question, one answer. */
#include "preload/linux/ask_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "preload/environ.h"
#include "preload/linux/arch.h"
#include "preload/linux/process_state.h"
#include "preload/text.h"

static char path[108];

/* The socket's path: from the session, or before hello from our own environment. */
static const char *socket_path(void)
{
	const struct aw_page *page = aw_session();
	const char *found;

	if (page)
		return page->socket;
	if (!path[0] && (found = aw_environ_get("AGENTWATCH_SOCKET")))
		aw_text_copy(path, sizeof(path), found);
	return path;
}

static int dial(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *where = socket_path();
	size_t len;
	long fd, r;

	if (!where || !where[0])
		return -1;
	len = aw_text_copy(address.sun_path, sizeof(address.sun_path), where);
	fd = aw_raw(__NR_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	do
		r = aw_raw(__NR_connect, fd, &address,
			offsetof(struct sockaddr_un, sun_path) + len + 1);
	while (r == -EINTR);
	if (r < 0) {
		aw_raw(__NR_close, fd);
		return -1;
	}
	return (int)fd;
}

/* Send head and parts whole; a signal or a full buffer only delays. */
static bool send_all(
	int fd, const struct aw_wire_head *head, const void *const parts[5])
{
	struct iovec iov[1 + AW_WIRE_PARTS] = {{(void *)head, sizeof(*head)}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 1 + AW_WIRE_PARTS};

	for (int i = 0; i < AW_WIRE_PARTS; i++)
		iov[1 + i] = (struct iovec){
			parts ? (void *)parts[i] : NULL, parts ? head->len[i] : 0};
	while (msg.msg_iovlen) {
		long n = aw_raw(__NR_sendmsg, fd, &msg, MSG_NOSIGNAL);

		if (n == -EINTR)
			continue;
		if (n < 0)
			return false;
		while (msg.msg_iovlen && (size_t)n >= msg.msg_iov->iov_len) {
			n -= (long)msg.msg_iov->iov_len;
			msg.msg_iov++;
			msg.msg_iovlen--;
		}
		if (msg.msg_iovlen) {
			msg.msg_iov->iov_base = (char *)msg.msg_iov->iov_base + n;
			msg.msg_iov->iov_len -= (size_t)n;
		}
	}
	return true;
}

static bool receive(int fd, struct aw_wire_answer *answer, int fds[2], bool restart)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {answer, sizeof(*answer)};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	long n;

	do
		n = aw_raw(__NR_recvmsg, fd, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (n == -EINTR && restart);
	if (n == -EINTR) { /* a handler without SA_RESTART has run */
		*answer = (struct aw_wire_answer){.magic = AW_WIRE_MAGIC,
			.verdict = AW_ASK,
			.refuse = 1,
			.err = EINTR};
		return true;
	}
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return n == sizeof(*answer) && answer->magic == AW_WIRE_MAGIC;
}

static bool exchange(struct aw_wire_head *head, const void *const parts[5],
	struct aw_wire_answer *ret, int fds[2], bool restart)
{
	int fd = dial();
	bool ok;

	if (fd < 0)
		return false;
	head->magic = AW_WIRE_MAGIC;
	ok = send_all(fd, head, parts) && receive(fd, ret, fds, restart);
	aw_raw(__NR_close, fd);
	return ok;
}

bool aw_socket_register(const char *name, struct aw_registration *ret)
{
	struct aw_wire_head head = {.type = aw_text_equal(name, AW_REGISTER_BIG)
						    ? AW_WIRE_REGISTER_BIG
						    : AW_WIRE_REGISTER};
	struct aw_wire_answer answer;
	int fds[2] = {-1, -1};

	if (!exchange(&head, NULL, &answer, fds, true) || fds[0] < 0)
		return false;
	ret->ring_fd = fds[0];
	ret->session_fd = fds[1];
	return true;
}

int aw_socket_again(void)
{
	struct aw_wire_head head = {.type = AW_WIRE_AGAIN};
	struct aw_wire_answer answer;
	int fds[2] = {-1, -1};

	return exchange(&head, NULL, &answer, fds, true) ? fds[0] : -1;
}

bool aw_socket_ask(struct aw_wire_head *head, const void *const parts[5],
	struct aw_wire_answer *ret, bool restart)
{
	int fds[2] = {-1, -1};

	return exchange(head, parts, ret, fds, restart);
}
