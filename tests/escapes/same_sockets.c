/* SPDX-License-Identifier: Apache-2.0 */
/* same_sockets.c - connecting, binding, sending: results, names, who the peer sees */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

static int unix_socket(int type, const char *name, bool abstract, bool bound)
{
	struct sockaddr_un address;
	socklen_t size = unix_address(name, abstract, &address);
	int fd = socket(AF_UNIX, type, 0), rc;

	rc = bound ? bind(fd, (struct sockaddr *)&address, size)
		   : connect(fd, (struct sockaddr *)&address, size);
	printf("%s %s: %s\n", bound ? "bind" : "connect", name,
		rc < 0 ? errno_name(errno) : "ok");
	if (bound && type == SOCK_STREAM)
		listen(fd, 4);
	return fd;
}

static void name_of(int fd, bool peer)
{
	struct sockaddr_un address = {0};
	socklen_t size = sizeof address;

	if (peer)
		getpeername(fd, (struct sockaddr *)&address, &size);
	else
		getsockname(fd, (struct sockaddr *)&address, &size);
	printf("  %s name: %s, %u bytes\n", peer ? "peer's" : "own",
		address.sun_path[0] ? address.sun_path : address.sun_path + 1,
		(unsigned)size);
}

static void peer_of(int fd)
{
	struct ucred ids = {0, 0, 0};
	socklen_t size = sizeof ids;

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ids, &size);
	printf("  the peer is user %d, group %d\n", ids.uid, ids.gid);
}

static void streams(void)
{
	int server, client, peer;

	mkdir("sub", 0755);
	server = unix_socket(SOCK_STREAM, "sub/sock", false, true);
	name_of(server, false);
	show("sub/sock");
	client = unix_socket(SOCK_STREAM, "sub/sock", false, false);
	peer = accept(server, NULL, NULL);
	peer_of(peer);
	peer_of(client);
	name_of(client, true);
	say("once more", connect(client, NULL, 0));
	close(client);
	close(peer);
	if (symlink("sub/sock", "link") == 0)
		close(unix_socket(SOCK_STREAM, "link", false, false));
	if (chdir("sub") == 0) {
		close(unix_socket(SOCK_STREAM, "sock", false, false));
		close(unix_socket(SOCK_STREAM, "../sub/./sock", false, false));
		say("back", chdir(".."));
	}
	close(unix_socket(SOCK_STREAM, "sub/sock", false, true));
	close(unix_socket(SOCK_DGRAM, "sub/sock", false, false));
	close(unix_socket(SOCK_STREAM, "sub/none", false, false));
	close(unix_socket(SOCK_STREAM, "sub", false, false));
	close(unix_socket(SOCK_STREAM, "nofolder/sock", false, true));
	file("plain", "x\n");
	close(unix_socket(SOCK_STREAM, "plain", false, false));
	chmod("sub/sock", 0);
	close(unix_socket(SOCK_STREAM, "sub/sock", false, false));
	close(server);
	close(unix_socket(SOCK_STREAM, "sub/sock", false, false));
}

static void backlog(void)
{
	int server = unix_socket(SOCK_STREAM, "busy", false, true), fd, i;
	struct sockaddr_un address;
	socklen_t size = unix_address("busy", false, &address);

	listen(server, 0);
	for (i = 0; i < 3; i++) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		say("a full queue, non-blocking",
			connect(fd, (struct sockaddr *)&address, size));
	}
	close(server);
}

static void datagrams(void)
{
	struct sockaddr_un address, from = {0};
	socklen_t size = unix_address("in", false, &address), from_size = sizeof from;
	struct iovec text = {(void *)"message", 7};
	struct msghdr message = {.msg_name = &address,
		.msg_namelen = size,
		.msg_iov = &text,
		.msg_iovlen = 1};
	struct mmsghdr two[2] = {{{0}, 0}, {{0}, 0}};
	int in = unix_socket(SOCK_DGRAM, "in", false, true);
	int out = unix_socket(SOCK_DGRAM, "out", false, true), i;
	char buffer[32] = "";

	two[0].msg_hdr = two[1].msg_hdr = message;
	say("sendto", sendto(out, "hello", 5, 0, (struct sockaddr *)&address, size));
	printf("%d bytes, ", (int)recvfrom(in, buffer, sizeof buffer, 0,
				     (struct sockaddr *)&from, &from_size));
	printf("%s from %s\n", buffer, from.sun_path);
	printf("sendmsg: %d\n", (int)sendmsg(out, &message, 0));
	printf("sendmmsg: %d, %u %u\n", sendmmsg(out, two, 2, 0), two[0].msg_len,
		two[1].msg_len);
	for (i = 0; i < 3; i++)
		printf("%d bytes\n",
			(int)recv(in, buffer, sizeof buffer, MSG_DONTWAIT));
	say("nothing more", recv(in, buffer, sizeof buffer, MSG_DONTWAIT));
	unlink("in");
	say("sendto, gone", sendto(out, "x", 1, 0, (struct sockaddr *)&address, size));
}

static void errors(void)
{
	struct sockaddr_un address;
	socklen_t size = unix_address("e", false, &address);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), plain = open("plain", O_RDONLY);
	int stream = socket(AF_INET, SOCK_STREAM, 0), ends[2];
	struct sockaddr_in inet = {.sin_family = AF_INET, .sin_port = htons(1)};

	inet.sin_addr.s_addr = htonl(0x7f010001);
	say("connect of a file", connect(plain, (struct sockaddr *)&address, size));
	say("connect of nothing", connect(99, (struct sockaddr *)&address, size));
	say("connect, bad pointer", connect(fd, (struct sockaddr *)16, size));
	say("connect, no pointer", connect(fd, NULL, size));
	say("connect, too long", connect(fd, (struct sockaddr *)&address, 4000));
	say("connect, too short", connect(fd, (struct sockaddr *)&address, 1));
	say("connect, below zero", connect(fd, (struct sockaddr *)&address, -1));
	say("connect, another family",
		connect(fd, (struct sockaddr *)&inet, sizeof inet));
	say("connect, family unknown",
		connect(stream, (struct sockaddr *)&address, size));
	say("bind, too short", bind(stream, (struct sockaddr *)&inet, 3));
	say("connect, refused", connect(stream, (struct sockaddr *)&inet, sizeof inet));
	say("bind, no name",
		bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)));
	say("sendto, not connected", send(stream, "x", 1, MSG_NOSIGNAL));
	say("sendto of a Unix stream, not connected",
		sendto(fd, "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&address, size));
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	say("sendto of a Unix stream, connected",
		sendto(ends[0], "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&address,
			size));
	memset(address.sun_path, 'p', sizeof address.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	say("bind, 108 bytes without an end",
		bind(fd, (struct sockaddr *)&address, sizeof address));
	say("it is there",
		remove("ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp"
		       "ppppppppppppppppppppppppppppppppppppppppppppp"));
}

static void internet(void)
{
	struct sockaddr_in inet = {.sin_family = AF_INET};
	struct sockaddr_in from = {0};
	socklen_t size = sizeof inet;
	int server = socket(AF_INET, SOCK_STREAM, 0), client, peer, out;
	struct pollfd wait;
	char text[8] = "";

	inet.sin_addr.s_addr = htonl(0x7f010001);
	say("bind TCP", bind(server, (struct sockaddr *)&inet, sizeof inet));
	listen(server, 4);
	getsockname(server, (struct sockaddr *)&inet, &size);
	holds("the kernel chose a port", inet.sin_port != 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	say("bind again", bind(client, (struct sockaddr *)&inet, sizeof inet));
	say("connect TCP", connect(client, (struct sockaddr *)&inet, sizeof inet));
	say("connect once more",
		connect(client, (struct sockaddr *)&inet, sizeof inet));
	size = sizeof from;
	peer = accept(server, (struct sockaddr *)&from, &size);
	say("data", write(client, "data", 4));
	say("arrives", read(peer, text, sizeof text));
	puts(text);
	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	say("connect, non-blocking",
		connect(client, (struct sockaddr *)&inet, sizeof inet));
	wait = (struct pollfd){client, POLLOUT, 0};
	printf("poll: %d\n", poll(&wait, 1, 2000));
	out = socket(AF_INET, SOCK_DGRAM, 0);
	server = socket(AF_INET, SOCK_DGRAM, 0);
	inet.sin_port = 0;
	say("bind UDP", bind(server, (struct sockaddr *)&inet, sizeof inet));
	size = sizeof inet;
	getsockname(server, (struct sockaddr *)&inet, &size);
	say("sendto UDP",
		sendto(out, "one", 3, 0, (struct sockaddr *)&inet, sizeof inet));
	say("connect UDP", connect(out, (struct sockaddr *)&inet, sizeof inet));
	say("send UDP", send(out, "two", 3, 0));
	printf("%d and %d bytes\n", (int)recv(server, text, 8, 0),
		(int)recv(server, text, 8, 0));
}

void same_sockets(void)
{
	int before = descriptors(), fd;

	streams();
	holds("no descriptor is left over", descriptors() == before);
	backlog();
	datagrams();
	errors();
	internet();
	fd = unix_socket(SOCK_STREAM, "aw-same-abstract", true, true);
	name_of(fd, false);
	close(unix_socket(SOCK_STREAM, "aw-same-abstract", true, false));
	peer_of(accept(fd, NULL, NULL));
	umask(0);
	close(unix_socket(SOCK_STREAM, "open.sock", false, true));
	show("open.sock");
	if (geteuid() == 0 && fork() == 0) {
		if (setegid(1002) == 0 && seteuid(1001) == 0) {
			chmod("/proc/self/nothing", 0);
			fd = unix_socket(SOCK_STREAM, "aw-same-abstract-2", true, true);
			close(unix_socket(
				SOCK_STREAM, "aw-same-abstract-2", true, false));
			peer_of(accept(fd, NULL, NULL));
		}
		fflush(stdout);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}
