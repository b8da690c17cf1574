/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.c - the thread that moves the bytes of all relayed connections.
 *
 * Both sockets are watched for edges from the first to the last moment, so that a busy
 * connection costs no epoll_ctl(2); what an edge said is kept in the side until a call
 * would block.  Events only note and enqueue: a connection ends, and is freed, when the
 * queue is worked off, so that no event of the same batch can name it afterwards.
 */
#include "supervisor/net/relay/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/net/relay/relay_flow.h"
#include "supervisor/util/cleanup.h"

enum { EVENTS = 256 };

struct half { /* what an event of epoll(7) points at */
	struct aw_relay_side side;
	struct link *link;
};

struct link {
	struct aw_relay_pair pair;
	struct half inside, outside;
	struct aw_relay_flow out, in;
	struct aw_relay_end end;
	uint64_t began;
	bool queued;
	bool pending; /* outside is not connected yet, and there is no inside */
	struct link *next_queued; /* in the queue, or among those to adopt */
	struct link *previous, *next;
};

struct aw_relay {
	int epoll, wake;
	pthread_t thread;
	pthread_mutex_t lock;
	bool stop;	    /* with the lock, as is */
	struct link *adopt; /* added, and not known to the thread yet */
	/* the thread's own */
	struct link *all, *queue, **queue_end;
	struct aw_relay_pipes pipes;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* hard: the other end learns that the connection was broken off. */
static void close_socket(int fd, bool hard)
{
	static const struct linger at_once = {.l_onoff = 1};

	if (hard)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	aw_close(fd);
}

static void enqueue(struct aw_relay *relay, struct link *link)
{
	if (link->queued)
		return;
	link->queued = true;
	link->next_queued = NULL;
	*relay->queue_end = link;
	relay->queue_end = &link->next_queued;
}

/* Frees it.  A descriptor may have a copy in a child about to exec: epoll is told. */
static void finish(struct aw_relay *relay, struct link *link, bool hard, bool cut)
{
	const int fds[] = {link->inside.side.fd, link->outside.side.fd};

	for (int i = 0; i < 2; i++) {
		if (fds[i] < 0)
			continue;
		epoll_ctl(relay->epoll, EPOLL_CTL_DEL, fds[i], NULL);
		close_socket(fds[i], hard);
	}
	aw_relay_flow_release(&link->out, &relay->pipes);
	aw_relay_flow_release(&link->in, &relay->pipes);
	*(link->previous ? &link->previous->next : &relay->all) = link->next;
	if (link->next)
		link->next->previous = link->previous;
	link->end.nanoseconds = now() - link->began;
	link->end.cut = cut;
	if (link->pair.ended)
		link->pair.ended(link->pair.ctx, &link->end);
	free(link);
}

static bool watch(struct aw_relay *relay, struct half *half)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = half};

	return epoll_ctl(relay->epoll, EPOLL_CTL_ADD, half->side.fd, &event) == 0;
}

/* What each end was told not to delay has been delayed enough. */
static void prepare_socket(int fd)
{
	static const int on = 1;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* Has it been connected, or not?  False: neither yet. */
static bool has_ended(int fd, int *ret_err)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(*ret_err);

	*ret_err = 0;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, ret_err, &len) < 0)
		*ret_err = errno;
	len = sizeof(peer);
	return *ret_err || getpeername(fd, (struct sockaddr *)&peer, &len) == 0;
}

static void begin(struct aw_relay *relay, struct link *link)
{
	int err;

	if (!has_ended(link->outside.side.fd, &err))
		return;
	link->pending = false;
	link->inside.side.fd = link->pair.begin(link->pair.ctx, err);
	if (link->inside.side.fd < 0) {
		finish(relay, link, true, false);
		return;
	}
	prepare_socket(link->inside.side.fd);
	if (!watch(relay, &link->inside))
		finish(relay, link, true, false);
}

static void work(struct aw_relay *relay, struct link *link)
{
	struct aw_relay_side *in = &link->inside.side, *out = &link->outside.side;
	enum aw_relay_step there, back;

	there = aw_relay_flow_move(&link->out, &link->pair, &relay->pipes);
	if (there == AW_RELAY_STOP) {
		finish(relay, link, true, true);
		return;
	}
	back = aw_relay_flow_move(&link->in, NULL, &relay->pipes);
	if (back == AW_RELAY_STOP) {
		finish(relay, link, true, false);
		return;
	}
	link->out.done |= out->failed;
	link->in.done |= in->failed;
	if (link->out.done && link->in.done)
		finish(relay, link, in->failed || out->failed, false);
	else if (there == AW_RELAY_BUSY || back == AW_RELAY_BUSY)
		enqueue(relay, link);
}

static void work_off(struct aw_relay *relay)
{
	struct link *link = relay->queue, *next;

	relay->queue = NULL;
	relay->queue_end = &relay->queue;
	for (; link; link = next) {
		next = link->next_queued;
		link->queued = false;
		if (link->pending)
			begin(relay, link);
		else
			work(relay, link);
	}
}

static void adopt_one(struct aw_relay *relay, struct link *link)
{
	const struct aw_relay_pair *pair = &link->pair;

	link->next = relay->all;
	if (link->next)
		link->next->previous = link;
	relay->all = link;
	if (pair->may_send && link->out.len &&
		!pair->may_send(pair->ctx, link->out.len))
		finish(relay, link, true, true);
	else if ((!link->pending && !watch(relay, &link->inside)) ||
		 !watch(relay, &link->outside))
		finish(relay, link, true, false);
}

/* Takes over what was added; false when it is time to stop. */
static bool adopt(struct aw_relay *relay)
{
	struct link *link, *next;
	uint64_t count;
	bool stop;

	while (read(relay->wake, &count, sizeof(count)) > 0)
		;
	pthread_mutex_lock(&relay->lock);
	link = relay->adopt;
	relay->adopt = NULL;
	stop = relay->stop;
	pthread_mutex_unlock(&relay->lock);
	for (; link; link = next) {
		next = link->next_queued;
		adopt_one(relay, link);
	}
	return !stop;
}

static void note_event(struct aw_relay *relay, const struct epoll_event *event)
{
	struct half *half = event->data.ptr;

	/* errors are told by the call that meets them */
	if (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		half->side.readable = true;
	if (event->events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		half->side.writable = true;
	enqueue(relay, half->link);
}

static void *main_of_thread(void *arg)
{
	struct epoll_event events[EVENTS];
	struct aw_relay *relay = arg;
	bool go_on = true;

	while (go_on) {
		bool woken = false;
		int n = epoll_wait(relay->epoll, events, EVENTS, relay->queue ? 0 : -1);

		for (int i = 0; i < n; i++)
			if (events[i].data.ptr)
				note_event(relay, &events[i]);
			else
				woken = true;
		work_off(relay);
		if (woken)
			go_on = adopt(relay);
	}
	while (relay->all)
		finish(relay, relay->all, true, false);
	aw_relay_pipes_release(&relay->pipes);
	return NULL;
}

/* Signals are for others; SIGPIPE, which splice(2) sends, for nobody. */
static int start_thread(struct aw_relay *relay)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&relay->thread, NULL, main_of_thread, relay);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		pthread_setname_np(relay->thread, "aw-relay");
	return failed;
}

int aw_relay_create(struct aw_relay **ret, struct aw_error *err)
{
	struct aw_relay *relay = calloc(1, sizeof(*relay));
	struct epoll_event woken = {.events = EPOLLIN};
	int failed;

	if (!relay)
		return aw_fail(err, ENOMEM, "relaying connections");
	relay->queue_end = &relay->queue;
	pthread_mutex_init(&relay->lock, NULL);
	relay->epoll = epoll_create1(EPOLL_CLOEXEC);
	relay->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	failed = relay->epoll < 0 || relay->wake < 0 ||
				 epoll_ctl(relay->epoll, EPOLL_CTL_ADD, relay->wake,
					 &woken) < 0
			 ? errno
			 : start_thread(relay);
	if (!failed) {
		*ret = relay;
		return 0;
	}
	if (relay->epoll >= 0)
		aw_close(relay->epoll);
	if (relay->wake >= 0)
		aw_close(relay->wake);
	pthread_mutex_destroy(&relay->lock);
	free(relay);
	return aw_fail(err, failed, "relaying connections: %s", strerror(failed));
}

static void wake(struct aw_relay *relay)
{
	static const uint64_t one = 1;

	while (write(relay->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static struct link *link_create(const struct aw_relay_pair *pair)
{
	struct link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->pair = *pair;
	link->began = now();
	link->pending = pair->begin != NULL;
	link->inside = (struct half){.side.fd = pair->inside, .link = link};
	link->outside = (struct half){.side.fd = pair->outside, .link = link};
	link->out = (struct aw_relay_flow){.from = &link->inside.side,
		.to = &link->outside.side,
		.moved = &link->end.out,
		.looking = pair->look != NULL};
	link->in = (struct aw_relay_flow){.from = &link->outside.side,
		.to = &link->inside.side,
		.moved = &link->end.in};
	if (aw_relay_flow_start(&link->out, pair->to_outside, pair->to_outside_len) <
			0 ||
		aw_relay_flow_start(&link->in, pair->to_inside, pair->to_inside_len) <
			0) {
		free(link->out.head);
		free(link);
		return NULL;
	}
	return link;
}

static void close_both(const struct aw_relay_pair *pair)
{
	if (pair->inside >= 0)
		close_socket(pair->inside, true);
	close_socket(pair->outside, true);
}

int aw_relay_add(struct aw_relay *relay, const struct aw_relay_pair *pair)
{
	struct link *link = link_create(pair);
	bool stopped;

	if (!link) {
		close_both(pair);
		return -ENOMEM;
	}
	if (pair->inside >= 0)
		prepare_socket(pair->inside);
	prepare_socket(pair->outside);
	pthread_mutex_lock(&relay->lock);
	stopped = relay->stop;
	if (!stopped) {
		link->next_queued = relay->adopt;
		relay->adopt = link;
	}
	pthread_mutex_unlock(&relay->lock);
	if (stopped) {
		close_both(pair);
		free(link->out.head);
		free(link->in.head);
		free(link);
		return -ECANCELED;
	}
	wake(relay);
	return 0;
}

void aw_relay_free(struct aw_relay *relay)
{
	if (!relay)
		return;
	pthread_mutex_lock(&relay->lock);
	relay->stop = true;
	pthread_mutex_unlock(&relay->lock);
	wake(relay);
	pthread_join(relay->thread, NULL);
	aw_close(relay->epoll);
	aw_close(relay->wake);
	pthread_mutex_destroy(&relay->lock);
	free(relay);
}
