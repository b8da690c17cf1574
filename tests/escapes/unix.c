/* SPDX-License-Identifier: Apache-2.0 */
/* unix.c - Unix sockets of the host, and what is passed over them */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

enum {
	STREAM,
	ABSTRACT,
	RELATIVE,
	SYMLINK,
	PROC_FD,
	DGRAM_SENDTO,
	DGRAM_SENDMSG,
	DGRAM_CONNECT,
	SEQPACKET,
	DOCKER
};

static int connected(struct target *t, int how)
{
	struct sockaddr_un address;
	char path[512], buffer[512];
	socklen_t size;
	int fd;

	switch (how) {
	case ABSTRACT:
		size = unix_address(t->abstract, true, &address);
		return connect_to(&address, size, SOCK_STREAM);
	case RELATIVE:
		if (chdir(dirname(strcpy(buffer, t->stream))) < 0)
			return errno;
		snprintf(path, sizeof path, "%s", basename(t->stream));
		break;
	case SYMLINK:
		if (symlink(t->stream, "s") < 0)
			return errno;
		strcpy(path, "s");
		break;
	case PROC_FD:
		fd = open(t->stream, O_PATH);
		if (fd < 0)
			return errno;
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		break;
	default:
		strcpy(path, t->stream);
	}
	return connect_to(&address, unix_address(path, false, &address), SOCK_STREAM);
}

static int dgram(struct target *t, int how)
{
	struct sockaddr_un address;
	socklen_t size = unix_address(t->dgram, false, &address);
	struct iovec text = {(void *)"hello", 5};
	struct msghdr message = {.msg_name = &address,
		.msg_namelen = size,
		.msg_iov = &text,
		.msg_iovlen = 1};
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (how == DGRAM_SENDTO)
		return result(sendto(fd, "x", 1, 0, (struct sockaddr *)&address, size));
	if (how == DGRAM_SENDMSG)
		return result(sendmsg(fd, &message, 0));
	close(fd);
	return connect_to(&address, size, SOCK_DGRAM);
}

/* What the server says of us: the ids that it sees. */
static int credentials(struct target *t, int arg)
{
	struct sockaddr_un address;
	socklen_t size = arg ? unix_address(t->abstract, true, &address)
			     : unix_address(t->stream, false, &address);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), rc;
	char want[64];

	if (connect(fd, (struct sockaddr *)&address, size) < 0)
		return errno;
	rc = take(t, fd);
	snprintf(want, sizeof want, "uid %d gid %d pid ", getuid(), getgid());
	if (rc == 0 && !t->denied && strncmp(t->got, want, strlen(want)) != 0)
		return EPERM;
	return rc;
}

static int receive(int from, int *ret_fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec text = {&byte, 1};
	struct msghdr message = {.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control};

	if (recvmsg(from, &message, 0) < 0)
		return errno;
	if (!CMSG_FIRSTHDR(&message))
		return ENODATA;
	memcpy(ret_fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof *ret_fd);
	return 0;
}

/* The server at the allowed socket passes a descriptor of the denied file. */
static int passed_outside(struct target *t, int arg)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), rc;

	(void)arg;
	snprintf(t->stream, sizeof t->stream, "%s/w/sock/%s.s", t->root, t->name);
	if (connect(fd, (struct sockaddr *)&address,
		    unix_address(t->stream, false, &address)) < 0)
		return errno;
	rc = receive(fd, &fd);
	return rc ? rc : take(t, fd);
}

/* A child opens the folder by O_PATH and passes that; we go on from there. */
static int passed_inside(struct target *t, int arg)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {{0}};
	struct iovec text = {(void *)"x", 1};
	struct msghdr message = {.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control};
	char path[64];
	int pair[2], fd;

	(void)arg;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return errno;
	if (fork() == 0) {
		fd = open(t->read, O_PATH);
		if (fd < 0)
			_exit(1);
		control.head.cmsg_len = CMSG_LEN(sizeof fd);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
		_exit(sendmsg(pair[1], &message, 0) < 0);
	}
	close(pair[1]);
	if (receive(pair[0], &fd) != 0)
		return EACCES;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return take_path(t, path);
}

const struct attempt unix_table[] = {
	{"unix_stream", "u", "connect to a Unix socket", connected, STREAM},
	{"docker_socket", "u", "connect to the socket of a container engine", connected,
		DOCKER},
	{"unix_abstract", "u", "connect to an abstract Unix socket", connected,
		ABSTRACT},
	{"unix_relative", "u", "connect by a relative path", connected, RELATIVE},
	{"unix_symlink", "u", "connect through a symbolic link", connected, SYMLINK},
	{"unix_proc_fd", "u", "connect through /proc/self/fd of an O_PATH", connected,
		PROC_FD},
	{"unix_dgram_sendto", "u", "sendto to a Unix datagram socket", dgram,
		DGRAM_SENDTO},
	{"unix_dgram_sendmsg", "u", "sendmsg to a Unix datagram socket", dgram,
		DGRAM_SENDMSG},
	{"unix_dgram_connect", "u", "connect and send to a Unix datagram socket", dgram,
		DGRAM_CONNECT},
	{"peer_ids", "u", "whose ids the server sees", credentials, 0},
	{"peer_ids_abstract", "u", "the same at an abstract socket", credentials, 1},
	{"scm_outside", "r", "a descriptor passed by a process outside", passed_outside,
		0},
	{"scm_inside", "r", "an O_PATH descriptor passed by a process inside",
		passed_inside, 0},
	{0},
};
