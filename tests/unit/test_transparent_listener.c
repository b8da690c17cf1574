/* SPDX-License-Identifier: Apache-2.0 */
/* test_transparent_listener.c - sockets that connect to who stands in for a server. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/net/relay/transparent_listener.h"
#include "tests/unit/tap.h"

static bool speaks(int from, int to)
{
	char got[4] = "";
	struct pollfd wait = {.fd = to, .events = POLLIN};

	return send(from, "hi!", 3, MSG_NOSIGNAL) == 3 && poll(&wait, 1, 1000) == 1 &&
	       recv(to, got, 3, 0) == 3 && strcmp(got, "hi!") == 0;
}

static short events_of(int fd, int patience)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN | POLLOUT};

	return poll(&wait, 1, patience) == 1 ? wait.revents : 0;
}

static int error_of(int fd)
{
	socklen_t len = sizeof(int);
	int err = -1;

	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	return err;
}

static int client(int flags)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

static void who_blocks_is_let_in(struct aw_transparent_listener *listener)
{
	int mine = client(0), other = client(SOCK_NONBLOCK), theirs;
	struct aw_visit visit;

	aw_visit_begin(listener, other, &visit);
	theirs = aw_transparent_listener_let_in(listener, mine);
	ok(theirs >= 0 && speaks(mine, theirs) && speaks(theirs, mine),
		"a socket that blocks is let in");
	ok(events_of(other, 50) == 0, "... alone");
	close(mine);
	close(theirs);
	close(other);
}

static void who_does_not_waits(struct aw_transparent_listener *listener)
{
	int mine = client(SOCK_NONBLOCK), late = client(SOCK_NONBLOCK), theirs;
	struct aw_visit visit, another;

	ok(aw_visit_begin(listener, mine, &visit) == EINPROGRESS &&
			aw_visit_begin(listener, late, &another) == EINPROGRESS &&
			events_of(mine, 50) == 0,
		"a socket that does not block waits");
	theirs = aw_visit_meet(&visit);
	ok(theirs >= 0 && events_of(mine, 1000) == POLLOUT && !error_of(mine) &&
			speaks(mine, theirs) && speaks(theirs, mine),
		"... and is met");
	aw_visit_refuse(&visit);
	ok(speaks(mine, theirs), "who has arrived is not refused");
	ok(events_of(late, 50) == 0, "the other still waits");
	aw_visit_refuse(&another);
	ok(events_of(late, 1000) & POLLERR && error_of(late) == ECONNREFUSED,
		"... and is refused");
	close(theirs);
	close(mine);
	close(late);
}

static void who_has_gone_is_not_met(struct aw_transparent_listener *listener)
{
	int mine = client(SOCK_NONBLOCK), theirs;
	struct aw_visit visit;

	aw_visit_begin(listener, mine, &visit);
	shutdown(mine, SHUT_RDWR);
	close(mine);
	theirs = aw_visit_meet(&visit);
	ok(theirs == -ECONNREFUSED || theirs == -ECONNRESET, "who has gone is not met");
}

int main(void)
{
	struct aw_transparent_listeners *all = aw_transparent_listeners_create(NULL);
	struct sockaddr_in here = {.sin_family = AF_INET};
	struct aw_transparent_listener *listener, *same;

	here.sin_addr.s_addr = htonl(0xc0000207);
	here.sin_port = htons(443);
	if (!all || aw_transparent_listener_open(
			    all, (struct sockaddr *)&here, sizeof(here), &listener))
		return 1;
	ok(aw_transparent_listener_open(
		   all, (struct sockaddr *)&here, sizeof(here), &same) == 0 &&
			same == listener,
		"one for a server");
	aw_transparent_listener_close(same);
	who_blocks_is_let_in(listener);
	who_does_not_waits(listener);
	who_has_gone_is_not_met(listener);
	aw_transparent_listener_close(listener);
	aw_transparent_listeners_free(all);
	aw_transparent_listeners_free(NULL);
	return done();
}
