/* SPDX-License-Identifier: Apache-2.0 */
/* notify.c - the threads that wait for notified calls, one of them at a time. */
#include "supervisor/linux/seccomp/notify.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/priority.h"
#include "supervisor/linux/seccomp/fair.h"
#include "supervisor/linux/target/creds.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* Threads at most, when all are held up. */
enum { CREW_MOST = 64 };

struct aw_notify {
	struct aw_watch *watch;
	pthread_t threads[CREW_MOST];
	_Atomic unsigned count;
	unsigned usual;
	struct aw_fair *fair; /* owned */
	uint64_t seen;	      /* the last call that was taken, as of the last look */
	bool stalled;	      /* ... at which nobody was there to take the next one */
	size_t request_size, response_size;
};

/* Watch.notify, and who adds threads. */
static pthread_mutex_t crew_lock = PTHREAD_MUTEX_INITIALIZER;

/* What a thread works with; one without could not even let calls go on. */
struct server {
	struct aw_notify *notify;
	unsigned slot; /* which thread it is */
	struct seccomp_notif *request;
	struct aw_notified call;
};

static void reinforce_now(struct aw_notify *notify);

/* Nobody is left under the filter (Linux 6.11 ends the waiting then). */
static bool is_over(int listener)
{
	struct pollfd fd = {.fd = listener};

	return poll(&fd, 1, 0) > 0 && fd.revents & POLLHUP;
}

static void wake(struct aw_watch *watch, int count)
{
	syscall(SYS_futex, &watch->receiving, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* False: another thread waits for calls, or did until now. */
static bool take_turn(struct aw_watch *watch)
{
	uint32_t nobody = 0;

	if (atomic_compare_exchange_strong(&watch->receiving, &nobody, 1))
		return true;
	syscall(SYS_futex, &watch->receiving, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	return false;
}

/* The turn is free; who has a call now comes back for it, unless more are waiting. */
static void leave_turn(struct aw_watch *watch, bool received)
{
	struct pollfd more = {.fd = watch->listener, .events = POLLIN};

	atomic_store(&watch->receiving, 0);
	if (!received || (poll(&more, 1, 0) > 0 && more.revents & POLLIN))
		wake(watch, 1);
}

static void serve_call(struct server *server)
{
	struct aw_notify *notify = server->notify;
	enum aw_fair_turn turn = aw_fair_begin(
		notify->fair, server->slot, notify->count, server->request);

	if (turn == AW_FAIR_LATER)
		return;
	if (turn == AW_FAIR_LAST && notify->count >= notify->usual)
		reinforce_now(notify);
	do
		aw_call_handle(&server->call, server->request);
	while (aw_fair_next(
		notify->fair, server->slot, notify->count, server->request));
}

/*
 * Of more threads than usual the newest goes again.  It must have no turn, and whoever
 * counted on its coming back for one is woken.
 */
static bool is_spare(struct server *server)
{
	struct aw_notify *notify = server->notify;
	bool pooled = false;

	if (server->slot < notify->usual || server->slot + 1 != notify->count ||
		!aw_fair_is_calm(notify->fair))
		return false;
	pthread_mutex_lock(&crew_lock);
	if (notify->watch->notify == notify && server->slot + 1 == notify->count) {
		notify->count--;
		pthread_detach(pthread_self());
		pooled = true;
	}
	pthread_mutex_unlock(&crew_lock);
	return pooled;
}

/* One call after the other until the session ends, or there are enough others. */
static void serve_calls(struct server *server)
{
	struct aw_watch *watch = server->call.watch;
	struct seccomp_notif *request = server->request;
	size_t size = server->notify->request_size;

	while (!atomic_load(&watch->ending)) {
		bool received;
		int code;

		if (!take_turn(watch))
			continue;
		memset(request, 0, size);
		received =
			ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_RECV, request) == 0;
		code = errno;
		if (received)
			atomic_store(watch->last_call, request->id);
		leave_turn(watch, received);
		if (received) {
			serve_call(server);
			if (is_spare(server)) {
				wake(watch, 1);
				break;
			}
		} else if (code == ENOENT ? is_over(watch->listener) : code != EINTR) {
			break;
		}
	}
}

static void free_server(struct server *server)
{
	if (!server)
		return;
	aw_vector_free(&server->call.argv);
	free(server->call.argv_text);
	free(server->call.response);
	free(server->request);
	free(server);
}

static struct server *new_server(struct aw_notify *notify)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->notify = notify;
	server->slot = notify->count;
	server->request = calloc(1, notify->request_size);
	server->call.watch = notify->watch;
	server->call.response = calloc(1, notify->response_size);
	server->call.response_size = notify->response_size;
	if (server->request && server->call.response)
		return server;
	free_server(server);
	return NULL;
}

static void *serve(void *arg)
{
	struct server *server = arg;

	prctl(PR_SET_NAME, "aw-notify");
	aw_priority_raise();
	if (server->notify->watch->holds)
		aw_creds_prepare();
	serve_calls(server);
	free_server(server);
	return NULL;
}

static void wake_up(int signal)
{
	(void)signal; /* only to end a blocking ioctl */
}

static bool add_thread(struct aw_notify *notify)
{
	struct server *server;

	if (notify->count == CREW_MOST || !(server = new_server(notify)))
		return false;
	if (pthread_create(&notify->threads[notify->count], NULL, serve, server) != 0) {
		free_server(server);
		return false;
	}
	notify->count++;
	return true;
}

void aw_notify_reinforce(struct aw_notify *notify)
{
	pthread_mutex_lock(&crew_lock);
	while (notify && notify->count < notify->usual && add_thread(notify))
		;
	pthread_mutex_unlock(&crew_lock);
}

/*
 * A call waits, nobody can take it, and that was so the last time: all threads are held
 * up by something that may itself wait for the session (fanotify(7), fuse(4)).
 */
static bool is_stalled(struct aw_notify *notify)
{
	struct pollfd more = {.fd = notify->watch->listener, .events = POLLIN};
	uint64_t last = atomic_load(notify->watch->last_call);
	bool waits = !atomic_load(&notify->watch->receiving) && poll(&more, 1, 0) > 0 &&
		     more.revents & POLLIN;
	bool before = notify->stalled && notify->seen == last;

	notify->stalled = waits;
	notify->seen = last;
	return waits && before;
}

/* By one of its threads, which is the last that had no call. */
static void reinforce_now(struct aw_notify *notify)
{
	pthread_mutex_lock(&crew_lock);
	if (notify->watch->notify == notify)
		add_thread(notify);
	pthread_mutex_unlock(&crew_lock);
}

void aw_notify_relieve(struct aw_watch *watch)
{
	if (watch->listener < 0 || atomic_load(&watch->receiving))
		return;
	wake(watch, 1);
	pthread_mutex_lock(&crew_lock);
	if (watch->notify && is_stalled(watch->notify))
		add_thread(watch->notify);
	pthread_mutex_unlock(&crew_lock);
}

int aw_notify_start(struct aw_watch *watch, unsigned usual, struct aw_notify **ret,
	struct aw_error *err)
{
	struct sigaction action = {.sa_handler = wake_up};
	struct seccomp_notif_sizes sizes;
	struct aw_notify *notify = calloc(1, sizeof(*notify));

	if (!notify)
		return aw_fail(err, ENOMEM, "starting the notification service");
	sigaction(SIGUSR2, &action, NULL);
	syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
	notify->watch = watch;
	notify->usual = usual < CREW_MOST ? usual : CREW_MOST;
	notify->request_size = sizes.seccomp_notif > sizeof(struct seccomp_notif)
				       ? sizes.seccomp_notif
				       : sizeof(struct seccomp_notif);
	notify->response_size =
		sizes.seccomp_notif_resp > sizeof(struct seccomp_notif_resp)
			? sizes.seccomp_notif_resp
			: sizeof(struct seccomp_notif_resp);
	/* Linux 6.6: the target runs on our processor while we wait for the next call */
	ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
		SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	aw_path_walk_prepare();
	notify->fair = aw_fair_create(CREW_MOST, notify->request_size);
	if (!notify->fair || !add_thread(notify)) {
		aw_fair_free(notify->fair);
		free(notify);
		return aw_fail(err, EAGAIN, "starting the notification service");
	}
	pthread_mutex_lock(&crew_lock);
	watch->notify = notify;
	pthread_mutex_unlock(&crew_lock);
	*ret = notify;
	return 0;
}

void aw_notify_stop(struct aw_notify *notify)
{
	if (!notify)
		return;
	pthread_mutex_lock(&crew_lock);
	notify->watch->notify = NULL;
	pthread_mutex_unlock(&crew_lock);
	atomic_store(&notify->watch->ending, true);
	for (unsigned i = 0; i < notify->count; i++) {
		struct timespec soon;

		do {
			pthread_kill(notify->threads[i], SIGUSR2);
			clock_gettime(CLOCK_MONOTONIC, &soon);
			soon.tv_nsec += 1000000;
			if (soon.tv_nsec >= 1000000000) {
				soon.tv_sec++;
				soon.tv_nsec -= 1000000000;
			}
		} while (pthread_clockjoin_np(notify->threads[i], NULL, CLOCK_MONOTONIC,
				 &soon) != 0);
	}
	aw_fair_free(notify->fair);
	free(notify);
}
