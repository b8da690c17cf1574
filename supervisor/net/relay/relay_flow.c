/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_flow.c - bytes from one socket to another, by splice(2).
 *
 * splice(2) into a pipe says EAGAIN for an empty socket and for a full pipe; only with
 * an empty pipe it can be the socket.  Where no pipe can be had, bytes are copied.
 */
#include "supervisor/net/relay/relay_flow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	TURNS = 16,	      /* of reading and writing, before others have theirs */
	PIPE_BYTES = 1 << 18, /* asked for; what the kernel gives is as good */
	SPLICE_BYTES = 1 << 20,
};

static bool pipe_borrow(struct aw_relay_pipes *pipes, int ret[2])
{
	if (pipes->count) {
		memcpy(ret, pipes->free[--pipes->count], sizeof(int[2]));
		return true;
	}
	if (pipe2(ret, O_NONBLOCK | O_CLOEXEC) < 0) {
		ret[0] = ret[1] = -1;
		return false;
	}
	fcntl(ret[1], F_SETPIPE_SZ, PIPE_BYTES);
	return true;
}

static void pipe_return(struct aw_relay_pipes *pipes, int pipe[2], bool empty)
{
	if (pipe[0] < 0)
		return;
	if (empty && pipes->count < AW_RELAY_PIPES) {
		memcpy(pipes->free[pipes->count++], pipe, sizeof(int[2]));
	} else {
		close(pipe[0]);
		close(pipe[1]);
	}
	pipe[0] = pipe[1] = -1;
}

void aw_relay_pipes_release(struct aw_relay_pipes *pipes)
{
	while (pipes->count) {
		close(pipes->free[--pipes->count][0]);
		close(pipes->free[pipes->count][1]);
	}
}

static int grow_head(struct aw_relay_flow *flow, size_t room)
{
	unsigned char *grown;

	if (flow->room >= room)
		return 0;
	grown = realloc(flow->head, room);
	if (!grown)
		return -ENOMEM;
	flow->head = grown;
	flow->room = room;
	return 0;
}

static void drop_head(struct aw_relay_flow *flow)
{
	free(flow->head);
	flow->head = NULL;
	flow->len = flow->sent = flow->clear = flow->room = 0;
}

int aw_relay_flow_start(struct aw_relay_flow *flow, const void *bytes, size_t len)
{
	flow->pipe[0] = flow->pipe[1] = -1;
	if (!len)
		return 0;
	if (grow_head(flow, len) < 0)
		return -ENOMEM;
	memcpy(flow->head, bytes, len);
	flow->len = flow->clear = len;
	return 0;
}

void aw_relay_flow_release(struct aw_relay_flow *flow, struct aw_relay_pipes *pipes)
{
	pipe_return(pipes, flow->pipe, flow->held == 0);
	drop_head(flow);
}

/* The outcome of a read that was no success. */
static void note_read(struct aw_relay_flow *flow, ssize_t n)
{
	if (n < 0 && errno == EINTR)
		return;
	if (n < 0 && errno == EAGAIN) {
		if (!flow->held)
			flow->from->readable = false;
		return;
	}
	flow->ended = true;
	if (n < 0)
		flow->from->failed = true;
}

static enum aw_relay_step look_at(
	struct aw_relay_flow *flow, const struct aw_relay_pair *pair)
{
	size_t on = 0;

	if (flow->ended) {
		/* who has said nothing that is still looked at may hang up */
		flow->looking = false;
		return flow->len ? AW_RELAY_STOP : AW_RELAY_BUSY;
	}
	switch (pair->look(pair->ctx, flow->head, flow->len, &on)) {
	case AW_RELAY_PASS:
		flow->looking = false;
		return AW_RELAY_BUSY;
	case AW_RELAY_PART:
		flow->clear = on < flow->len ? on : flow->len;
		break;
	case AW_RELAY_MORE:
		break;
	case AW_RELAY_CUT:
		return AW_RELAY_STOP;
	}
	return flow->len - flow->clear < AW_RELAY_PEEK ? AW_RELAY_BUSY : AW_RELAY_STOP;
}

static bool may_send(const struct aw_relay_pair *pair, ssize_t n)
{
	return !pair || !pair->may_send || pair->may_send(pair->ctx, (size_t)n);
}

/* Into memory: to be looked at, or for want of a pipe. */
static enum aw_relay_step fill_head(
	struct aw_relay_flow *flow, const struct aw_relay_pair *pair)
{
	ssize_t n;

	if (grow_head(flow, AW_RELAY_PEEK) < 0)
		return AW_RELAY_STOP;
	n = recv(flow->from->fd, flow->head + flow->len, AW_RELAY_PEEK - flow->len, 0);
	if (n <= 0) {
		note_read(flow, n);
		if (!flow->len)
			drop_head(flow);
		return flow->looking && flow->ended ? look_at(flow, pair)
						    : AW_RELAY_IDLE;
	}
	flow->len += (size_t)n;
	if (!may_send(pair, n))
		return AW_RELAY_STOP;
	return flow->looking ? look_at(flow, pair) : AW_RELAY_BUSY;
}

static enum aw_relay_step fill(struct aw_relay_flow *flow,
	const struct aw_relay_pair *pair, struct aw_relay_pipes *pipes)
{
	ssize_t n;

	/* what may go has to be gone first */
	if (flow->ended || !flow->from->readable ||
		(flow->head && (!flow->looking || flow->clear)))
		return AW_RELAY_IDLE;
	if (flow->looking || (flow->pipe[0] < 0 && !pipe_borrow(pipes, flow->pipe)))
		return fill_head(flow, pair);
	n = splice(flow->from->fd, NULL, flow->pipe[1], NULL, SPLICE_BYTES,
		SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	if (n <= 0) {
		note_read(flow, n);
		return AW_RELAY_IDLE;
	}
	flow->held += (size_t)n;
	return may_send(pair, n) ? AW_RELAY_BUSY : AW_RELAY_STOP;
}

/* The outcome of a write that was no success: who does not take it gets no more. */
static void note_write(struct aw_relay_flow *flow)
{
	if (errno == EAGAIN)
		flow->to->writable = false;
	else if (errno != EINTR)
		flow->done = flow->to->failed = true;
}

static bool drain_head(struct aw_relay_flow *flow)
{
	size_t end = flow->looking ? flow->clear : flow->len;
	ssize_t n;

	if (flow->sent == end) {
		flow->len -= end;
		flow->sent = flow->clear = 0;
		if (!flow->len)
			drop_head(flow);
		else if (end)
			memmove(flow->head, flow->head + end, flow->len);
		return false;
	}
	n = send(flow->to->fd, flow->head + flow->sent, end - flow->sent, MSG_NOSIGNAL);
	if (n < 0) {
		note_write(flow);
		return false;
	}
	flow->sent += (size_t)n;
	*flow->moved += (uint64_t)n;
	return true;
}

static bool drain_pipe(struct aw_relay_flow *flow)
{
	ssize_t n;

	if (!flow->held || flow->head)
		return false;
	n = splice(flow->pipe[0], NULL, flow->to->fd, NULL, flow->held,
		SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	if (n < 0) {
		note_write(flow);
		return false;
	}
	flow->held -= (size_t)n;
	*flow->moved += (uint64_t)n;
	return true;
}

/* True while it goes on. */
static bool drain(struct aw_relay_flow *flow)
{
	bool any = false;

	while (flow->to->writable && !flow->done &&
		(drain_head(flow) || drain_pipe(flow)))
		any = true;
	return any;
}

enum aw_relay_step aw_relay_flow_move(struct aw_relay_flow *flow,
	const struct aw_relay_pair *pair, struct aw_relay_pipes *pipes)
{
	enum aw_relay_step step = AW_RELAY_IDLE;
	bool drained = false;

	for (int turn = 0; turn < TURNS && !flow->done; turn++) {
		step = fill(flow, pair, pipes);
		if (step == AW_RELAY_STOP)
			return step;
		drained = drain(flow);
		if (step == AW_RELAY_IDLE && !drained)
			break;
	}
	if (!flow->held)
		pipe_return(pipes, flow->pipe, true);
	if (!flow->done && flow->ended && !flow->held && !flow->head) {
		if (!flow->from->failed)
			shutdown(flow->to->fd, SHUT_WR);
		flow->done = true;
	}
	if (flow->done)
		return AW_RELAY_IDLE;
	return step == AW_RELAY_BUSY || drained ? AW_RELAY_BUSY : AW_RELAY_IDLE;
}
