/* SPDX-License-Identifier: Apache-2.0 */
/* pending_events.c - connections that wait for the name of their address. */
#include "supervisor/audit/pending_events.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/decide/watch.h"

enum { ANCESTORS = 16 };

/* One event, with copies of what it only borrows. */
struct held {
	struct aw_event event;
	struct aw_rule rule;
	char address[INET6_ADDRSTRLEN];
	unsigned door; /* entered: the rule's texts are the policy's */
	struct held *next;
};

struct list {
	struct held *first, **end;
};

struct aw_pending_events {
	struct aw_epoch *readers;
	pthread_mutex_t lock; /* of coming and count */
	struct list coming;
	size_t count;
	struct list due; /* the reader's */
	struct aw_answers *answers;
};

static void put(struct list *list, struct held *held)
{
	held->next = NULL;
	*list->end = held;
	list->end = &held->next;
}

static void empty(struct list *list)
{
	list->first = NULL;
	list->end = &list->first;
}

struct aw_pending_events *aw_pending_events_new(struct aw_epoch *readers)
{
	struct aw_pending_events *late = calloc(1, sizeof(*late));

	if (!late)
		return NULL;
	late->readers = readers;
	late->answers = aw_answers_new();
	if (!late->answers) {
		free(late);
		return NULL;
	}
	pthread_mutex_init(&late->lock, NULL);
	empty(&late->coming);
	empty(&late->due);
	return late;
}

static void discard(struct list *list)
{
	struct held *next;

	for (struct held *held = list->first; held; held = next) {
		next = held->next;
		free(held);
	}
}

void aw_pending_events_free(struct aw_pending_events *late)
{
	if (!late)
		return;
	discard(&late->coming);
	discard(&late->due);
	aw_answers_free(late->answers);
	pthread_mutex_destroy(&late->lock);
	free(late);
}

/* Is it about an address that somebody may have been told, and nothing more? */
static bool may_get_name(const struct aw_event *event)
{
	return event->kind == AW_EV_CALL &&
	       (event->action == AW_CONNECT || event->action == AW_SEND) &&
	       (event->family == AF_INET || event->family == AF_INET6) &&
	       event->address.len && event->address.len < INET6_ADDRSTRLEN &&
	       !event->host.len && !event->path.len && !event->raw.len &&
	       !event->raw2.len && !event->argc && !event->text && !event->extra;
}

static struct held *copy(const struct aw_event *event)
{
	struct held *held = calloc(1, sizeof(*held));

	if (!held)
		return NULL;
	held->event = *event;
	if (event->rule) {
		held->rule = *event->rule;
		held->event.rule = &held->rule;
	}
	memcpy(held->address, event->address.bytes, event->address.len);
	held->event.address.bytes = held->address;
	held->event.path = held->event.path2 = held->event.raw = held->event.raw2 =
		(struct aw_text){NULL, 0};
	return held;
}

bool aw_pending_events_hold(
	struct aw_pending_events *late, const struct aw_event *event)
{
	struct held *held;
	bool room;

	if (!may_get_name(event) || !(held = copy(event)))
		return false;
	pthread_mutex_lock(&late->lock);
	room = late->count < AW_PENDING_EVENTS_MAX;
	if (room) {
		held->door = aw_epoch_enter(late->readers);
		put(&late->coming, held);
		late->count++;
	}
	pthread_mutex_unlock(&late->lock);
	if (!room)
		free(held);
	return room;
}

void aw_pending_events_answer(
	struct aw_pending_events *late, const struct aw_dns_report *answer)
{
	aw_answers_add(late->answers, answer);
}

/* The process and those that it descends from, as far as they are known. */
static size_t line_of(
	struct aw_watch *watch, const struct aw_event *event, pid_t ret[ANCESTORS])
{
	pid_t next = event->ppid;
	struct aw_process_info who;
	size_t count = 1;

	ret[0] = event->pid;
	while (count < ANCESTORS && next > 0) {
		ret[count++] = next;
		if (!aw_processes_peek(watch->tree, next, &who))
			break;
		next = who.ppid;
	}
	return count;
}

static bool to_address(const struct aw_event *event, struct aw_address *ret)
{
	*ret = (struct aw_address){
		.family = event->family, .port = (uint16_t)event->port};
	return inet_pton(event->family, event->address.bytes, ret->bytes) == 1;
}

/* A rule may be about the name; one about the address has decided already. */
static void judge_by_name(
	struct aw_watch *watch, struct held *held, const struct aw_address *to)
{
	struct aw_event *event = &held->event;
	struct aw_decision decision;

	if (!event->judged || event->rule)
		return;
	aw_image_decide_address_in(atomic_load(&watch->image), event->profiles,
		event->action, to, &decision);
	if (decision.rule != AW_NO_RULE)
		aw_watch_judge(watch, event, &decision, &held->rule,
			event->source == AW_FROM_SHIM);
}

static void name(
	struct aw_pending_events *late, struct aw_watch *watch, struct held *held)
{
	unsigned char bytes[AW_ANSWER_SIZE] = {[10] = 0xff, [11] = 0xff};
	bool v4 = held->event.family == AF_INET;
	pid_t pids[ANCESTORS];
	struct aw_address to;
	const char *host;
	size_t count;

	if (!to_address(&held->event, &to))
		return;
	memcpy(v4 ? bytes + 12 : bytes, to.bytes, v4 ? 4 : 16);
	count = line_of(watch, &held->event, pids);
	host = aw_answers_find(late->answers, bytes, held->event.ts, pids, count);
	if (!host)
		return;
	held->event.host = (struct aw_text){host, strlen(host)};
	to.host = host;
	judge_by_name(watch, held, &to);
}

static void let_go(
	struct aw_pending_events *late, struct aw_watch *watch, struct held *held)
{
	name(late, watch, held);
	aw_watch_log_now(watch, &held->event);
	aw_epoch_leave(late->readers, held->door);
	free(held);
}

void aw_pending_events_begin(struct aw_pending_events *late)
{
	pthread_mutex_lock(&late->lock);
	if (late->coming.first) {
		*late->due.end = late->coming.first;
		late->due.end = late->coming.end;
		empty(&late->coming);
		late->count = 0;
	}
	pthread_mutex_unlock(&late->lock);
}

void aw_pending_events_end(struct aw_pending_events *late, struct aw_watch *watch)
{
	struct held *next;

	for (struct held *held = late->due.first; held; held = next) {
		next = held->next;
		let_go(late, watch, held);
	}
	empty(&late->due);
}

/* Those of a process go over to another list; returns how many. */
static size_t split(struct list *list, pid_t pid, struct list *ret)
{
	struct held *held = list->first, *next;
	size_t count = 0;

	empty(list);
	for (; held; held = next) {
		next = held->next;
		put(held->event.pid == pid ? ret : list, held);
		count += held->event.pid == pid;
	}
	return count;
}

void aw_pending_events_exit(
	struct aw_pending_events *late, struct aw_watch *watch, pid_t pid)
{
	struct held *next;
	struct list mine;

	empty(&mine);
	split(&late->due, pid, &mine);
	pthread_mutex_lock(&late->lock);
	late->count -= split(&late->coming, pid, &mine);
	pthread_mutex_unlock(&late->lock);
	for (struct held *held = mine.first; held; held = next) {
		next = held->next;
		let_go(late, watch, held);
	}
}
