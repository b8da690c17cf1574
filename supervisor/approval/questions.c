/* SPDX-License-Identifier: Apache-2.0 */
/* questions.c - open questions and who waits for them. */
#include "supervisor/approval/questions.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "supervisor/approval/remembered.h"

/* A call that waits, or was interrupted a moment ago. */
struct queue {
	uint64_t cookie, device, inode;
	pid_t tid;
	bool absent;
	struct queue *next;
};

struct question {
	struct aw_answered answer;	     /* its id, too */
	struct aw_event_copy *copy;	     /* owned */
	struct aw_subject_key key;	     /* owned */
	uint64_t opened, deadline, answered; /* ms, CLOCK_MONOTONIC */
	uint64_t alone_since;		     /* ms; 0: somebody waits */
	struct queue *askers;		     /* owned */
	bool told;			     /* its end, by aw_questions_next_end() */
	struct question *next;
};

struct aw_questions {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t changes, seen;		  /* seen: by the one that waits */
	struct question *list;		  /* oldest first */
	struct aw_remembered *remembered; /* owned */
	uint64_t last_id, deadline;	  /* deadline in ms */
	size_t askers;
	int news; /* eventfd */
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

const char *aw_answer_how_name(enum aw_answer_how how)
{
	static const char *const names[] = {
		"once", "session", "always", "deadline", "limit", "gone", "moot"};

	return names[how];
}

void aw_questions_set_deadline(struct aw_questions *q, uint64_t deadline)
{
	uint64_t most = UINT64_MAX / 4000;

	if (!deadline)
		deadline = AW_ASK_DEADLINE_S;
	pthread_mutex_lock(&q->lock);
	q->deadline = (deadline < most ? deadline : most) * 1000;
	pthread_mutex_unlock(&q->lock);
}

int aw_questions_create(
	uint64_t deadline, struct aw_questions **ret, struct aw_error *err)
{
	struct aw_questions *q = calloc(1, sizeof(*q));
	pthread_condattr_t clock;

	if (!q || (q->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
		aw_fail(err, errno, "preparing for questions: %s", strerror(errno));
		free(q);
		return -1;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&q->changed, &clock);
	pthread_condattr_destroy(&clock);
	aw_questions_set_deadline(q, deadline);
	*ret = q;
	return 0;
}

static void remove_asker(struct aw_questions *q, struct queue **at)
{
	struct queue *gone = *at;

	*at = gone->next;
	free(gone);
	q->askers--;
}

static void free_question(struct aw_questions *q, struct question *question)
{
	while (question->askers)
		remove_asker(q, &question->askers);
	aw_event_copy_free(question->copy);
	aw_key_release(&question->key);
	free(question);
}

void aw_questions_free(struct aw_questions *q)
{
	if (!q)
		return;
	while (q->list) {
		struct question *first = q->list;

		q->list = first->next;
		free_question(q, first);
	}
	aw_remembered_free(q->remembered);
	close(q->news);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static void signal_change(struct aw_questions *q)
{
	q->changes++;
	pthread_cond_broadcast(&q->changed);
}

static size_t present(const struct question *question)
{
	size_t count = 0;

	for (const struct queue *a = question->askers; a; a = a->next)
		count += !a->absent;
	return count;
}

static void note_presence(struct question *question)
{
	question->alone_since = present(question)	? 0
				: question->alone_since ? question->alone_since
							: now_ms();
}

/* The call itself, or the same one made again after a signal. */
static struct queue *find_asker(struct question *question, const struct aw_asked *asked)
{
	for (struct queue *a = question->askers; a; a = a->next) {
		bool same_file = a->device == asked->device && a->inode == asked->inode;

		if (same_file && (a->cookie == asked->cookie ||
					 (a->absent && a->tid == asked->tid)))
			return a;
	}
	return NULL;
}

static bool join(
	struct aw_questions *q, struct question *question, const struct aw_asked *asked)
{
	struct queue *a = find_asker(question, asked);

	if (!a) {
		a = q->askers < AW_APPROVAL_QUEUE_MAX ? calloc(1, sizeof(*a)) : NULL;
		if (!a)
			return false;
		LL_PREPEND(question->askers, a);
		q->askers++;
	}
	a->cookie = asked->cookie;
	a->tid = asked->tid;
	a->device = asked->device;
	a->inode = asked->inode;
	a->absent = false;
	note_presence(question);
	return true;
}

static size_t count_open(const struct aw_questions *q)
{
	size_t count = 0;

	for (const struct question *one = q->list; one; one = one->next)
		count += one->answer.state == AW_ANSWER_OPEN;
	return count;
}

static struct question *open_question(struct aw_questions *q,
	const struct aw_asked *asked, struct aw_subject_key *key)
{
	struct question *fresh = NULL, **end = &q->list;
	uint64_t one = 1;

	if (count_open(q) < AW_QUESTIONS_MAX && q->askers < AW_APPROVAL_QUEUE_MAX)
		fresh = calloc(1, sizeof(*fresh));
	if (!fresh || !(fresh->copy = aw_event_copy_new(asked->event))) {
		free(fresh);
		return NULL;
	}
	fresh->key = *key;
	*key = (struct aw_subject_key){NULL, 0};
	fresh->answer.id = ++q->last_id;
	fresh->opened = now_ms();
	fresh->deadline = fresh->opened + q->deadline;
	while (*end)
		end = &(*end)->next;
	*end = fresh;
	if (write(q->news, &one, sizeof(one)) < 0) {
		/* full: it is readable already */
	}
	return fresh;
}

static const char *last_of(const struct aw_text *path, size_t *len)
{
	const char *slash = memrchr(path->bytes, '/', path->len);
	const char *name = slash ? slash + 1 : path->bytes;

	*len = path->len - (size_t)(name - path->bytes);
	return name;
}

/* The same command line, of a program with the same name. */
static bool same_command(const struct aw_event *a, const struct aw_event *b)
{
	size_t len_a, len_b;
	const char *name_a, *name_b;

	if (a->argc != b->argc || a->argv_truncated || b->argv_truncated ||
		!a->path.bytes || !b->path.bytes)
		return false;
	name_a = last_of(&a->path, &len_a);
	name_b = last_of(&b->path, &len_b);
	if (len_a != len_b || memcmp(name_a, name_b, len_a) != 0)
		return false;
	for (size_t i = 0; i < a->argc; i++)
		if (a->argv[i].len != b->argv[i].len ||
			(a->argv[i].len && memcmp(a->argv[i].bytes, b->argv[i].bytes,
						   a->argv[i].len) != 0))
			return false;
	return true;
}

/* A no that still holds for what a process tries in the next directory of its PATH. */
static bool holds_on(const struct question *one, uint64_t now)
{
	return one->answer.state == AW_ANSWER_NO &&
	       one->copy->event.action == AW_EXEC && one->answer.how != AW_HOW_GONE &&
	       now - one->answered < AW_QUESTION_NO_MS;
}

static bool is_refused_already(
	const struct question *one, const struct aw_asked *asked, uint64_t now)
{
	const struct aw_event *event = asked->event;

	return holds_on(one, now) && event->action == AW_EXEC &&
	       event->pid == one->copy->event.pid &&
	       same_command(event, &one->copy->event);
}

/* The one that this call belongs to: its answered one first, then the open one. */
static struct question *find_question(struct aw_questions *q,
	const struct aw_asked *asked, const struct aw_subject_key *key)
{
	struct question *open = NULL;
	uint64_t now = now_ms();

	for (struct question *one = q->list; one; one = one->next) {
		if (is_refused_already(one, asked, now))
			return one;
		if (!aw_key_equal(&one->key, key))
			continue;
		if (one->answer.state == AW_ANSWER_OPEN)
			open = one;
		else if (find_asker(one, asked))
			return one;
	}
	return open;
}

static void ask(struct aw_questions *q, const struct aw_asked *asked,
	struct aw_subject_key *key, struct aw_answered *ret)
{
	struct question *question = find_question(q, asked, key);

	if (!question && aw_remembered_find(q->remembered, key, ret))
		return;
	if (!question)
		question = open_question(q, asked, key);
	if (question && join(q, question, asked))
		*ret = question->answer;
	else
		*ret = (struct aw_answered){.state = AW_ANSWER_NO, .how = AW_HOW_LIMIT};
}

void aw_questions_ask(
	struct aw_questions *q, const struct aw_asked *asked, struct aw_answered *ret)
{
	struct aw_subject_key key;

	*ret = (struct aw_answered){.state = AW_ANSWER_NO, .how = AW_HOW_LIMIT};
	if (!aw_key_make(asked, &key))
		return;
	pthread_mutex_lock(&q->lock);
	ask(q, asked, &key, ret);
	pthread_mutex_unlock(&q->lock);
	aw_key_release(&key);
}

static void settle(struct aw_questions *q, struct question *question, bool yes,
	enum aw_answer_how how)
{
	question->answered = now_ms();
	question->answer.state = yes ? AW_ANSWER_YES : AW_ANSWER_NO;
	question->answer.how = how;
	question->answer.waited_ms = question->answered - question->opened;
	signal_change(q);
}

/* An open question that nobody waits for: killed ones leave a trace, others none. */
static void look_after_leaving(
	struct aw_questions *q, struct question *one, enum aw_leaving how)
{
	note_presence(one);
	if (one->askers || one->answer.state != AW_ANSWER_OPEN)
		return;
	one->told = how == AW_LEFT_SERVED;
	settle(q, one, false, AW_HOW_GONE);
}

/* cookie may have waited for more than one, when what it asked about has changed. */
void aw_questions_leave(
	struct aw_questions *q, uint64_t cookie, enum aw_leaving how, uint64_t keep)
{
	pthread_mutex_lock(&q->lock);
	for (struct question *one = q->list; one; one = one->next) {
		struct queue **at = &one->askers;

		while (*at && ((*at)->cookie != cookie || (*at)->absent))
			at = &(*at)->next;
		if (!*at || (keep && (one->answer.id == keep ||
					     one->answer.state != AW_ANSWER_OPEN)))
			continue;
		if (how == AW_LEFT_INTERRUPTED)
			(*at)->absent = true;
		else
			remove_asker(q, at);
		look_after_leaving(q, one, how);
	}
	pthread_mutex_unlock(&q->lock);
}

void aw_questions_end(struct aw_questions *q)
{
	pthread_mutex_lock(&q->lock);
	for (struct question *one = q->list; one; one = one->next) {
		if (one->answer.state != AW_ANSWER_OPEN)
			continue;
		while (one->askers)
			remove_asker(q, &one->askers);
		look_after_leaving(q, one, AW_LEFT_DEAD);
	}
	pthread_mutex_unlock(&q->lock);
}

static struct question *find_id(struct aw_questions *q, uint64_t id)
{
	struct question *one = q->list;

	while (one && one->answer.id != id)
		one = one->next;
	return one;
}

enum aw_answer_state aw_questions_state(struct aw_questions *q, uint64_t id)
{
	const struct question *one;
	enum aw_answer_state state;

	pthread_mutex_lock(&q->lock);
	one = find_id(q, id);
	state = one ? one->answer.state : AW_ANSWER_NO;
	pthread_mutex_unlock(&q->lock);
	return state;
}

int aw_questions_answer(struct aw_questions *q, uint64_t id, bool yes,
	enum aw_answer_how how, uid_t uid, struct aw_error *err)
{
	struct question *one;
	int r = 0;

	pthread_mutex_lock(&q->lock);
	one = find_id(q, id);
	if (!one || one->answer.state != AW_ANSWER_OPEN) {
		r = aw_fail(err, ENOENT, "question %llu is not open%s",
			(unsigned long long)id, one ? " any more" : "");
	} else {
		one->answer.by_human = one->told = true;
		one->answer.uid = uid;
		settle(q, one, yes, how);
		/* one that is not known to the end is asked about again */
		if (how == AW_HOW_SESSION && !one->copy->event.argv_truncated)
			aw_remembered_add(&q->remembered, &one->key, yes, uid);
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}

void aw_questions_visit(struct aw_questions *q, uint64_t after,
	bool (*each)(void *ctx, const struct aw_question *question), void *ctx)
{
	uint64_t now = now_ms();

	pthread_mutex_lock(&q->lock);
	for (const struct question *one = q->list; one; one = one->next) {
		struct aw_question seen = {.id = one->answer.id,
			.event = &one->copy->event,
			.age_ms = now - one->opened,
			.left_ms = one->deadline > now ? one->deadline - now : 0,
			.waiting = present(one)};

		if (one->answer.state != AW_ANSWER_OPEN || seen.id <= after)
			continue;
		if (!each(ctx, &seen))
			break;
	}
	pthread_mutex_unlock(&q->lock);
}

size_t aw_questions_open(struct aw_questions *q)
{
	size_t count;

	pthread_mutex_lock(&q->lock);
	count = count_open(q);
	pthread_mutex_unlock(&q->lock);
	return count;
}

bool aw_questions_idle(struct aw_questions *q)
{
	bool idle;

	pthread_mutex_lock(&q->lock);
	idle = !q->list;
	pthread_mutex_unlock(&q->lock);
	return idle;
}

int aw_questions_fd(const struct aw_questions *q)
{
	return q->news;
}

static void check_clock(struct aw_questions *q, struct question *one, uint64_t now)
{
	if (one->answer.state != AW_ANSWER_OPEN)
		return;
	if (one->alone_since && now - one->alone_since >= AW_QUESTION_LINGER_MS)
		settle(q, one, false, AW_HOW_GONE);
	else if (now >= one->deadline)
		settle(q, one, false, AW_HOW_DEADLINE);
}

/* All have been told, and nobody is about to come back. */
static bool is_over(const struct question *one, uint64_t now)
{
	uint64_t since =
		one->alone_since > one->answered ? one->alone_since : one->answered;

	if (one->answer.state == AW_ANSWER_OPEN || !one->told || holds_on(one, now))
		return false;
	return !one->askers ||
	       (one->alone_since && now - since >= AW_QUESTION_LINGER_MS);
}

bool aw_questions_next_end(struct aw_questions *q, struct aw_answered *ret,
	struct aw_event_copy **ret_event)
{
	uint64_t now = now_ms();
	bool found = false;

	pthread_mutex_lock(&q->lock);
	for (struct question **at = &q->list; *at && !found;) {
		struct question *one = *at;

		check_clock(q, one, now);
		if (one->answer.state != AW_ANSWER_OPEN && !one->told) {
			one->told = found = true;
			*ret = one->answer;
			*ret_event = aw_event_copy_new(&one->copy->event);
		} else if (is_over(one, now)) {
			*at = one->next;
			free_question(q, one);
		} else {
			at = &one->next;
		}
	}
	pthread_mutex_unlock(&q->lock);
	return found;
}

void aw_questions_wait(struct aw_questions *q, int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	if (ms > 0) {
		until.tv_sec += ms / 1000;
		until.tv_nsec += ms % 1000 * 1000000L;
		if (until.tv_nsec >= 1000000000L) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000L;
		}
	}
	pthread_mutex_lock(&q->lock);
	while (q->seen == q->changes) {
		if (ms < 0)
			pthread_cond_wait(&q->changed, &q->lock);
		else if (pthread_cond_timedwait(&q->changed, &q->lock, &until))
			break;
	}
	q->seen = q->changes;
	pthread_mutex_unlock(&q->lock);
}

void aw_questions_wake(struct aw_questions *q)
{
	pthread_mutex_lock(&q->lock);
	signal_change(q);
	pthread_mutex_unlock(&q->lock);
}
