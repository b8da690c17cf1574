/* SPDX-License-Identifier: Apache-2.0 */
/* relay_line.h - connections through a relay for a test to hold both ends of. */
#ifndef AW_TESTS_UNIT_RELAY_LINE_H
#define AW_TESTS_UNIT_RELAY_LINE_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/net/relay/relay.h"
#include "tests/unit/tap.h"

/* One connection: near - inside ~ outside - far. */
struct line {
	int near, far;
	sem_t ended;
	struct aw_relay_end end;
	_Atomic size_t looks, longest; /* of look */
	const char *wanted;	       /* what look waits for; "" passes, NULL cuts */
	size_t budget;
};

__attribute__((unused)) static struct aw_relay *relay;

__attribute__((unused)) static void tcp_pair(int ret[2])
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ret[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&at, len) < 0 ||
		listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&at, &len) < 0 ||
		connect(ret[0], (struct sockaddr *)&at, len) < 0)
		abort();
	ret[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (ret[1] < 0)
		abort();
	close(listener);
}

__attribute__((unused)) static enum aw_relay_look look(
	void *ctx, const unsigned char *bytes, size_t len, size_t *ret_on)
{
	struct line *line = ctx;
	size_t wanted;

	(void)ret_on;
	line->looks++;
	line->longest = len;
	if (!line->wanted)
		return AW_RELAY_CUT;
	wanted = strlen(line->wanted);
	if (memcmp(bytes, line->wanted, len < wanted ? len : wanted) != 0)
		return AW_RELAY_CUT;
	return len < wanted ? AW_RELAY_MORE : AW_RELAY_PASS;
}

/* Words go on when their dot has come; an exclamation mark is too loud. */
__attribute__((unused)) static enum aw_relay_look look_on(
	void *ctx, const unsigned char *bytes, size_t len, size_t *ret_on)
{
	const unsigned char *dot = memrchr(bytes, '.', len);

	((struct line *)ctx)->longest = len;
	if (memchr(bytes, '!', len))
		return AW_RELAY_CUT;
	*ret_on = dot ? (size_t)(dot - bytes) + 1 : 0;
	return dot ? AW_RELAY_PART : AW_RELAY_MORE;
}

__attribute__((unused)) static bool may_send(void *ctx, size_t bytes)
{
	struct line *line = ctx;

	if (bytes > line->budget)
		return false;
	line->budget -= bytes;
	return true;
}

__attribute__((unused)) static void ended(void *ctx, const struct aw_relay_end *end)
{
	struct line *line = ctx;

	line->end = *end;
	sem_post(&line->ended);
}

__attribute__((unused)) static void line_open(
	struct line *line, const struct aw_relay_pair *like)
{
	struct aw_relay_pair pair = *like;
	int near[2], far[2];

	tcp_pair(near);
	tcp_pair(far);
	line->near = near[0];
	line->far = far[0];
	sem_init(&line->ended, 0, 0);
	pair.inside = near[1];
	pair.outside = far[1];
	pair.ended = ended;
	pair.ctx = line;
	if (aw_relay_add(relay, &pair) < 0)
		abort();
}

/* Ends seen from outside are given; true when the relay has said that it is over. */
__attribute__((unused)) static bool line_ended(struct line *line)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	return sem_timedwait(&line->ended, &until) == 0;
}

__attribute__((unused)) static void line_close(struct line *line)
{
	if (line->near >= 0)
		close(line->near);
	if (line->far >= 0)
		close(line->far);
	line->near = line->far = -1;
}

/* What comes within ten seconds, up to size bytes; -errno, 0 for an end. */
__attribute__((unused)) static ssize_t get(int fd, void *to, size_t size)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	size_t have = 0;

	while (have < size) {
		ssize_t n = poll(&wait, 1, 10000) == 1
				    ? recv(fd, (char *)to + have, size - have, 0)
				    : (errno = ETIME, -1);

		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

__attribute__((unused)) static bool comes(int fd, const char *text)
{
	char got[64];
	size_t len = strlen(text);

	return get(fd, got, len) == (ssize_t)len && memcmp(got, text, len) == 0;
}

__attribute__((unused)) static void put(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		note("send: %s", strerror(errno));
}

__attribute__((unused)) static bool is_silent(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, 30) == 0;
}

__attribute__((unused)) static bool is_reset(int fd)
{
	char byte;

	return get(fd, &byte, 1) == -ECONNRESET;
}

#endif
