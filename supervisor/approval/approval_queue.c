/* SPDX-License-Identifier: Apache-2.0 */
/* approval_queue.c - the thread that looks after all calls that wait for a human. */
#include "supervisor/approval/approval_queue.h"

#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "supervisor/decide/watch.h"
#include "supervisor/util/json.h"

enum { LOOK_MS = 20, CLOCK_MS = 200 };

struct aw_approval_queue {
	struct aw_watch *watch;
	pthread_mutex_t lock;
	pthread_t thread;
	bool started, prepared;
	_Atomic bool ending, look_again;
	struct aw_waiter *waiters; /* owned */
};

static void user_name(uid_t uid, char *to, size_t size)
{
	struct passwd account, *found = NULL;
	char room[1024];

	if (getpwuid_r(uid, &account, room, sizeof(room), &found) == 0 && found)
		snprintf(to, size, "user %.40s", found->pw_name);
	else
		snprintf(to, size, "user %u", (unsigned)uid);
}

void aw_answer_members(const struct aw_answered *answered, char *text, size_t size)
{
	struct aw_json by = {0};
	char name[64];
	int used;

	used = snprintf(
		text, size, "\"answer\":\"%s\"", aw_answer_how_name(answered->how));
	if (answered->by_human) {
		user_name(answered->uid, name, sizeof(name));
		aw_json_string(&by, name, strlen(name));
		if (!by.failed)
			used += snprintf(text + used, size - (size_t)used,
				",\"answered_by\":%.*s", (int)by.len, by.bytes);
		aw_json_free(&by);
	}
	if (answered->id)
		snprintf(text + used, size - (size_t)used,
			",\"question\":%llu,\"waited_ms\":%llu",
			(unsigned long long)answered->id,
			(unsigned long long)answered->waited_ms);
}

/* Nobody was told no: what waited is gone. */
static void log_gone(struct aw_watch *watch, const struct aw_answered *answered,
	struct aw_event_copy *copy)
{
	char extra[256];

	aw_answer_members(answered, extra, sizeof(extra));
	copy->event.verdict = AW_ASK;
	copy->event.ask_denied = copy->event.enforced = true;
	copy->event.extra = extra;
	aw_watch_log(watch, &copy->event);
}

static void say_late(struct aw_watch *watch, const struct aw_answered *answered,
	const struct aw_event *event)
{
	struct aw_event warning = {.kind = AW_EV_WARNING, .warning_kind = "ask"};
	char text[256];

	snprintf(text, sizeof(text),
		"question %llu (%s) was not answered in %llu s and counts as denied",
		(unsigned long long)answered->id, aw_action_name(event->action),
		(unsigned long long)(answered->waited_ms + 500) / 1000);
	warning.text = text;
	warning.pid = event->pid;
	warning.ppid = event->ppid;
	warning.exe = event->exe;
	aw_watch_log(watch, &warning);
}

static void tell_ends(struct aw_watch *watch)
{
	struct aw_event_copy *copy = NULL;
	struct aw_answered answered;

	while (aw_questions_next_end(watch->questions, &answered, &copy)) {
		if (copy && answered.how == AW_HOW_GONE)
			log_gone(watch, &answered, copy);
		else if (copy && answered.how == AW_HOW_DEADLINE)
			say_late(watch, &answered, &copy->event);
		aw_event_copy_free(copy);
		copy = NULL;
	}
}

/* False: it does not wait any more. */
static bool tend(struct aw_approval_queue *queue, struct aw_waiter *w, bool judge_again)
{
	struct aw_questions *questions = queue->watch->questions;
	enum aw_waiter_state state;

	if (judge_again ||
		aw_questions_state(questions, w->question) != AW_ANSWER_OPEN) {
		w->kind->resume(w);
		return false;
	}
	state = w->kind->look(w);
	if (state == AW_WAITS)
		return true;
	aw_questions_leave(questions, w->cookie,
		state == AW_WAITER_DEAD ? AW_LEFT_DEAD : AW_LEFT_INTERRUPTED, 0);
	if (state == AW_WAITER_INTERRUPTED)
		w->kind->interrupt(w);
	w->kind->free(w);
	return false;
}

static struct aw_waiter *take_all(struct aw_approval_queue *queue)
{
	struct aw_waiter *all;

	pthread_mutex_lock(&queue->lock);
	all = queue->waiters;
	queue->waiters = NULL;
	pthread_mutex_unlock(&queue->lock);
	return all;
}

static void put_back(struct aw_approval_queue *queue, struct aw_waiter *w)
{
	pthread_mutex_lock(&queue->lock);
	w->next = queue->waiters;
	queue->waiters = w;
	pthread_mutex_unlock(&queue->lock);
}

static bool tend_all(struct aw_approval_queue *queue)
{
	bool judge_again = atomic_exchange(&queue->look_again, false), any = false;
	struct aw_waiter *w = take_all(queue), *next;

	for (; w; w = next) {
		next = w->next;
		if (!queue->prepared && w->kind->prepare)
			w->kind->prepare();
		queue->prepared = true;
		if (tend(queue, w, judge_again)) {
			put_back(queue, w);
			any = true;
		}
	}
	return any;
}

static void *run(void *arg)
{
	struct aw_approval_queue *queue = arg;
	struct aw_questions *questions = queue->watch->questions;
	bool any = true;
	unsigned door;

	prctl(PR_SET_NAME, "aw-asker");
	while (!atomic_load(&queue->ending)) {
		aw_questions_wait(questions, any			    ? LOOK_MS
					     : aw_questions_idle(questions) ? -1
									    : CLOCK_MS);
		if (atomic_load(&queue->ending))
			break;
		door = aw_epoch_enter(&queue->watch->readers);
		any = tend_all(queue);
		tell_ends(queue->watch);
		aw_epoch_leave(&queue->watch->readers, door);
	}
	return NULL;
}

int aw_approval_queue_create(
	struct aw_watch *watch, struct aw_approval_queue **ret, struct aw_error *err)
{
	struct aw_approval_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return aw_fail(err, ENOMEM, "preparing for questions: out of memory");
	queue->watch = watch;
	pthread_mutex_init(&queue->lock, NULL);
	*ret = queue;
	return 0;
}

bool aw_approval_queue_add(struct aw_approval_queue *queue, struct aw_waiter *waiter)
{
	bool taken;

	pthread_mutex_lock(&queue->lock);
	if (!queue->started && !atomic_load(&queue->ending))
		queue->started = !pthread_create(&queue->thread, NULL, run, queue);
	taken = queue->started && !atomic_load(&queue->ending);
	if (taken) {
		waiter->next = queue->waiters;
		queue->waiters = waiter;
	}
	pthread_mutex_unlock(&queue->lock);
	if (taken) /* it may have been answered before it came here */
		aw_questions_wake(queue->watch->questions);
	return taken;
}

void aw_approval_queue_look_again(struct aw_approval_queue *queue)
{
	atomic_store(&queue->look_again, true);
	aw_questions_wake(queue->watch->questions);
}

void aw_approval_queue_stop(struct aw_approval_queue *queue)
{
	struct aw_waiter *w, *next;

	if (!queue)
		return;
	pthread_mutex_lock(&queue->lock);
	atomic_store(&queue->ending, true);
	pthread_mutex_unlock(&queue->lock);
	aw_questions_wake(queue->watch->questions);
	if (queue->started)
		pthread_join(queue->thread, NULL);
	for (w = queue->waiters; w; w = next) {
		next = w->next;
		aw_questions_leave(queue->watch->questions, w->cookie, AW_LEFT_DEAD, 0);
		w->kind->free(w);
	}
	queue->waiters = NULL;
	if (!queue->started)
		return;
	/* who was interrupted, or killed just then, does not come back any more */
	aw_questions_end(queue->watch->questions);
	tell_ends(queue->watch);
}

void aw_approval_queue_free(struct aw_approval_queue *queue)
{
	if (!queue)
		return;
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}
