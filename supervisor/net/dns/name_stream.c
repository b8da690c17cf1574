/* SPDX-License-Identifier: Apache-2.0 */
/* name_stream.c - questions over TCP: a length, then the message. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utlist.h>

#include "supervisor/net/dns/name_service_internal.h"

static void wait_for(
	struct aw_name_service *s, struct aw_name_connection *c, unsigned what)
{
	struct epoll_event event = {.events = what, .data.ptr = c};

	epoll_ctl(s->loop, EPOLL_CTL_MOD, c->fd, &event);
}

void aw_name_close(struct aw_name_service *s, struct aw_name_connection *c)
{
	if (c->fd >= 0) {
		close(c->fd);
		c->fd = -1;
		s->connection_count--;
	}
	c->over = true;
	if (c->waiting)
		return;
	DL_DELETE(s->connections, c);
	free(c->out);
	free(c);
}

void aw_name_close_idle(struct aw_name_service *s)
{
	struct aw_name_connection *c, *next;

	DL_FOREACH_SAFE(s->connections, c, next)
	if (c->fd >= 0 && !c->waiting && aw_name_seconds() - c->last > AW_NAME_IDLE_S)
		aw_name_close(s, c);
}

/* Where there are too many, the one that has been silent for the longest goes. */
static void make_room(struct aw_name_service *s)
{
	struct aw_name_connection *c, *oldest = NULL;

	if (s->connection_count < AW_NAME_CONNECTIONS)
		return;
	DL_FOREACH(s->connections, c)
	if (c->fd >= 0 && (!oldest || c->last < oldest->last))
		oldest = c;
	if (oldest)
		aw_name_close(s, oldest);
}

void aw_name_accept(struct aw_name_service *s, const struct aw_name_port *port)
{
	struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
	socklen_t len = sizeof(from);
	int fd = accept4(
		port->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct aw_name_connection *c;
	struct epoll_event event = {.events = EPOLLIN};

	if (fd < 0)
		return;
	make_room(s);
	c = calloc(1, sizeof(*c));
	event.data.ptr = c;
	if (!c || epoll_ctl(s->loop, EPOLL_CTL_ADD, fd, &event) < 0) {
		close(fd);
		free(c);
		return;
	}
	c->kind = AW_NAME_CONNECTION;
	c->fd = fd;
	c->from = from;
	c->last = aw_name_seconds();
	DL_APPEND(s->connections, c);
	s->connection_count++;
}

/* What is left to be sent; false: it is closed. */
static bool flush(struct aw_name_service *s, struct aw_name_connection *c)
{
	ssize_t n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at,
		MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		aw_name_close(s, c);
		return false;
	}
	if (n > 0)
		c->out_at += (size_t)n;
	c->last = aw_name_seconds();
	if (c->out_at < c->out_len)
		return true;
	free(c->out);
	c->out = NULL;
	c->out_len = c->out_at = 0;
	return true;
}

/* One more answer behind those that are there; one that is not read is cut. */
void aw_name_send(struct aw_name_service *s, struct aw_name_connection *c, size_t len)
{
	size_t left = c->out_len - c->out_at;
	unsigned char *out;

	s->reply[0] = (unsigned char)(len >> 8);
	s->reply[1] = (unsigned char)len;
	out = left > 4 * AW_DNS_MESSAGE ? NULL : malloc(left + len + 2);
	if (!out) {
		shutdown(c->fd, SHUT_RDWR);
		return;
	}
	if (left)
		memcpy(out, c->out + c->out_at, left);
	memcpy(out + left, s->reply, len + 2);
	free(c->out);
	c->out = out;
	c->out_at = 0;
	c->out_len = left + len + 2;
	wait_for(s, c, EPOLLOUT);
}

/* Each message that is there whole. */
static void take_messages(struct aw_name_service *s, struct aw_name_connection *c)
{
	size_t len;

	while (!c->over && c->in_len >= 2) {
		len = (size_t)c->in[0] << 8 | c->in[1];
		if (len > AW_DNS_QUERY || c->waiting >= AW_NAME_AT_ONCE) {
			c->over = true;
			return;
		}
		if (c->in_len < len + 2)
			return;
		aw_name_ask(s, c->in + 2, len, c, -1, &c->from);
		c->in_len -= len + 2;
		memmove(c->in, c->in + len + 2, c->in_len);
	}
}

static void receive(struct aw_name_service *s, struct aw_name_connection *c)
{
	ssize_t n =
		recv(c->fd, c->in + c->in_len, sizeof(c->in) - c->in_len, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		aw_name_close(s, c);
		return;
	}
	c->last = aw_name_seconds();
	c->in_len += (size_t)n;
	c->waiting++; /* it stays until this is done */
	take_messages(s, c);
	c->waiting--;
	if (c->over)
		aw_name_close(s, c);
}

void aw_name_serve_connection(
	struct aw_name_service *s, struct aw_name_connection *c, unsigned events)
{
	if (events & EPOLLOUT && c->out_len) {
		if (flush(s, c) && !c->out_len)
			wait_for(s, c, EPOLLIN);
		return;
	}
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		receive(s, c);
}
