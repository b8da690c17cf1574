/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_wait.c - calls that wait: for the other end of a pipe, for a server. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

enum {
	LOOK_MS = 20,
	IDLE_SECONDS = 2,
	RESTART = 512 /* ERESTARTSYS: the kernel's own, of signal.c */
};

/* Who waits now; looked after by one more thread as long as there are any. */
struct waiter {
	struct aw_waiting call;
	pthread_t thread;
	bool cancelled;
	struct waiter *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiter *waiters;
static bool looked_after;

/* A thread that is through stays for a while: most calls do not wait, but they come one
 * after the other. */
static pthread_cond_t more_work = PTHREAD_COND_INITIALIZER;
static struct waiter *queue; /* for threads that are idle, one each */
static unsigned idle;	     /* threads that nothing is queued for */

bool aw_emulate_has_signal(pid_t tid, bool *ret_sure)
{
	static const char *const sets[] = {"SigPnd", "ShdPnd", "SigBlk", "SigIgn"};
	uint64_t masks[4] = {0};
	const char *threads, *tgid;
	char text[AW_PROC_STATUS];

	*ret_sure = false;
	if (!aw_proc_status(tid, text, sizeof(text)))
		return true; /* gone */
	for (int i = 0; i < 4; i++) {
		const char *at = aw_proc_status_value(text, sets[i]);

		masks[i] = at ? strtoull(at, NULL, 16) : 0;
	}
	/* ignored by default: SIGCHLD, SIGCONT, SIGURG, SIGWINCH; handled ones come
	 * through and the call is restarted */
	threads = aw_proc_status_value(text, "Threads");
	/* the kernel gives what is for the whole process to its first thread, if that
	 * takes it (signal.c, complete_signal()) */
	tgid = aw_proc_status_value(text, "Tgid");
	*ret_sure = (masks[0] & ~masks[2]) || (threads && atoi(threads) == 1) ||
		    (tgid && atoi(tgid) == tid);
	return (masks[0] | masks[1]) & ~masks[2] & ~masks[3];
}

static bool is_gone(const struct waiter *w)
{
	return ioctl(w->call.watch->listener, SECCOMP_IOCTL_NOTIF_ID_VALID,
		       &w->call.id) < 0 &&
	       errno == ENOENT;
}

/*
 * What calls that wait hold of ours, which no limit of the command's counts.  Those of
 * one process may have some of it, and all of the session no more than this.
 */
struct amount {
	unsigned calls, files;
	size_t bytes;
};

enum { OF_PROCESS, OF_SESSION };

static const struct amount most[] = {
	[OF_PROCESS] = {1024, 1024, 16 << 20},
	[OF_SESSION] = {4096, 4096, 64 << 20},
};

struct account {
	pid_t pid;
	struct amount holds;
	struct account *next;
};

static struct account *accounts;
static struct amount total;

static bool fits(const struct amount *has, const struct amount *more, int of)
{
	return has->calls + more->calls <= most[of].calls &&
	       has->files + more->files <= most[of].files &&
	       has->bytes + more->bytes <= most[of].bytes;
}

static void change(struct amount *has, const struct amount *by, int sign)
{
	has->calls += (unsigned)sign * by->calls;
	has->files += (unsigned)sign * by->files;
	has->bytes += (size_t)sign * by->bytes;
}

static struct amount amount_of(const struct aw_waiting *call)
{
	return (struct amount){.calls = 1,
		.files = 1 + (call->second >= 0) + call->files,
		.bytes = call->bytes};
}

/* With the lock held. */
static struct account *account_of(pid_t pid)
{
	struct account *a = accounts;

	while (a && a->pid != pid)
		a = a->next;
	if (a || !(a = calloc(1, sizeof(*a))))
		return a;
	a->pid = pid;
	a->next = accounts;
	accounts = a;
	return a;
}

static void close_if_empty(const struct account *empty)
{
	struct account **at = &accounts;

	if (empty->holds.calls)
		return;
	while (*at != empty)
		at = &(*at)->next;
	*at = empty->next;
	free((void *)(uintptr_t)empty);
}

static bool charge(const struct aw_waiting *call)
{
	struct amount more = amount_of(call);
	struct account *a;
	bool may;

	pthread_mutex_lock(&lock);
	a = account_of(call->target.who.pid);
	may = a && fits(&a->holds, &more, OF_PROCESS) &&
	      fits(&total, &more, OF_SESSION);
	if (may) {
		change(&a->holds, &more, 1);
		change(&total, &more, 1);
	} else if (a) {
		close_if_empty(a);
	}
	pthread_mutex_unlock(&lock);
	return may;
}

static void discharge(pid_t pid, const struct amount *less)
{
	struct account *a;

	pthread_mutex_lock(&lock);
	a = account_of(pid);
	if (a) {
		change(&a->holds, less, -1);
		close_if_empty(a);
	}
	change(&total, less, -1);
	pthread_mutex_unlock(&lock);
}

static void *look_after(void *unused)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
	bool more = true, sure;

	(void)unused;
	while (more) {
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&lock);
		for (struct waiter *w = waiters; w; w = w->next) {
			if (!is_gone(w) &&
				!aw_emulate_has_signal(w->call.target.tid, &sure))
				continue;
			w->cancelled = true;
			pthread_kill(w->thread, SIGUSR2); /* until it has come back */
		}
		more = looked_after = waiters != NULL;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void respond(const struct aw_waiting *call, long result, int err)
{
	struct seccomp_notif_resp response = {.id = call->id};

	if (result >= 0)
		response.val = result;
	else
		response.error = -err;
	ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* Put the descriptor into the target; its number there, or -1 with errno. */
static long hand_over(const struct aw_waiting *call, int fd)
{
	struct seccomp_notif_addfd add = {.id = call->id,
		.srcfd = (uint32_t)fd,
		.newfd_flags = call->flags & O_CLOEXEC ? O_CLOEXEC : 0};
	int number = ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	int saved = errno;

	aw_close(fd);
	errno = saved;
	return number;
}

static void forget(struct waiter *w)
{
	pthread_mutex_lock(&lock);
	for (struct waiter **at = &waiters; *at; at = &(*at)->next) {
		if (*at == w) {
			*at = w->next;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

static void drop(const struct aw_waiting *call)
{
	aw_close(call->fd);
	if (call->second >= 0)
		aw_close(call->second);
	if (call->data)
		call->drop(call->data);
}

static void wait_for(struct waiter *w)
{
	const struct amount held = amount_of(&w->call);
	long result = -1;
	bool sure;
	int err;

	err = aw_creds_assume(w->call.watch, &w->call.target);
	if (!err) {
		result = w->call.work(&w->call);
		err = errno;
		aw_creds_restore();
	}
	forget(w);
	/* interrupted: the kernel runs the handler, then starts the call again or not */
	if (result < 0 && err == EINTR && w->cancelled &&
		aw_emulate_has_signal(w->call.target.tid, &sure) && sure)
		err = RESTART;
	if (result >= 0 && w->call.as_descriptor) {
		result = hand_over(&w->call, (int)result);
		err = errno;
	}
	/* nothing of ours stays open when the target goes on */
	drop(&w->call);
	discharge(w->call.target.who.pid, &held);
	respond(&w->call, result, err);
	free(w);
}

/* Detached threads: both end by themselves. */
static int start_thread(pthread_t *ret, void *(*run)(void *), void *arg)
{
	pthread_attr_t attributes;
	int err;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	err = pthread_create(ret, &attributes, run, arg);
	pthread_attr_destroy(&attributes);
	return err;
}

/* From now on it is looked after. */
static void enlist(struct waiter *w)
{
	pthread_t other;

	pthread_mutex_lock(&lock);
	w->thread = pthread_self();
	w->next = waiters;
	waiters = w;
	if (!looked_after)
		looked_after = !start_thread(&other, look_after, NULL);
	pthread_mutex_unlock(&lock);
}

/* NULL: nothing has come for a while. */
static struct waiter *next_work(void)
{
	struct timespec until;
	struct waiter *w;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_SECONDS;
	pthread_mutex_lock(&lock);
	idle++;
	while (!queue && err != ETIMEDOUT)
		err = pthread_cond_clockwait(
			&more_work, &lock, CLOCK_MONOTONIC, &until);
	w = queue;
	if (w)
		queue = w->next;
	else
		idle--;
	pthread_mutex_unlock(&lock);
	return w;
}

static void *work_on(void *arg)
{
	aw_creds_prepare();
	for (struct waiter *w = arg; w; w = next_work()) {
		enlist(w);
		wait_for(w);
	}
	return NULL;
}

/* To a thread that is idle, or a new one. */
static int give_work(struct waiter *w)
{
	pthread_t thread;
	bool taken;

	pthread_mutex_lock(&lock);
	taken = idle > 0;
	if (taken) {
		idle--;
		w->next = queue;
		queue = w;
		pthread_cond_signal(&more_work);
	}
	pthread_mutex_unlock(&lock);
	return taken ? 0 : start_thread(&thread, work_on, w);
}

void aw_emulate_wait(struct aw_notified *call, const struct aw_waiting *waiting)
{
	const struct amount held = amount_of(waiting);
	struct waiter *w = calloc(1, sizeof(*w));
	bool charged = w && charge(waiting);
	int err = w ? ENOBUFS : ENOMEM;

	aw_creds_restore(); /* or a new thread would take those rights for ours */
	if (charged) {
		w->call = *waiting;
		err = give_work(w);
	}
	if (!err) {
		call->reply = AW_REPLY_DONE;
		return;
	}
	if (charged)
		discharge(waiting->target.who.pid, &held);
	drop(waiting);
	free(w);
	aw_emulate_answer(call, waiting->done ? waiting->done : -err);
}
