/* SPDX-License-Identifier: Apache-2.0 */
/* name_query.c - one question: who asks, what is said, and its line in the log. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utlist.h>

#include "supervisor/net/dns/name_service_internal.h"
#include "supervisor/util/share.h"

enum { DATAGRAM_MAX = 4096 };

/* Who has noted this port; false: nobody. */
static bool find_owner(struct aw_name_service *s, struct aw_name_query *q)
{
	const struct sockaddr_in *in = (const void *)&q->from;
	const struct sockaddr_in6 *in6 = (const void *)&q->from;
	bool six = q->from.ss_family == AF_INET6;
	uint16_t port = ntohs(six ? in6->sin6_port : in->sin_port);
	struct aw_name_owner *owner = &s->owners[q->connection != NULL][six][port];

	q->pid = (pid_t)atomic_load(&owner->pid);
	q->c.profiles = atomic_load(&owner->profiles);
	return q->pid != 0;
}

static void sign(
	struct aw_name_service *s, struct aw_name_query *q, struct aw_event *event)
{
	struct aw_process_info who;

	if (q->pid && aw_processes_peek(s->watch->tree, q->pid, &who))
		aw_watch_sign(event, &who);
	else
		event->pid = q->pid ? q->pid : s->watch->self;
}

static void log_query(struct aw_name_service *s, struct aw_name_query *q)
{
	const struct aw_name_case *c = &q->c;
	bool denied = c->decision.verdict >= AW_DENY;
	struct aw_event event = {.kind = AW_EV_CALL,
		.ts = q->ts,
		.call = "dns",
		.action = AW_CONNECT,
		.port = -1,
		.host = {c->q.name, strlen(c->q.name)},
		/* a name that is asked about is looked up: the connection waits */
		.verdict = denied ? AW_DENY : AW_ALLOW,
		.enforced = true,
		.rule_index = c->decision.rule,
		.source = AW_FROM_KERNEL,
		.strength = "supervisor",
		.result_known = true,
		.result = c->result};
	char extra[1024], number[16], quoted[2 * sizeof(c->reason)];
	struct aw_rule rule;
	size_t n = 0;

	for (const char *at = c->reason; *at; at++) {
		if (*at == '"' || *at == '\\')
			quoted[n++] = '\\';
		quoted[n++] = (unsigned char)*at < ' ' ? ' ' : *at;
	}
	quoted[n] = '\0';
	if (aw_image_rule(c->image, c->decision.rule, &rule))
		event.rule = &rule;
	snprintf(extra, sizeof(extra), "\"type\":\"%s\"%s%s%s%s%s%s",
		aw_dns_type_name(c->q.type, number),
		c->answers[0] ? ",\"answers\":[" : "", c->answers,
		c->answers[0] ? "]" : "", n && !event.rule ? ",\"reason\":\"" : "",
		n && !event.rule ? quoted : "", n && !event.rule ? "\"" : "");
	event.extra = extra;
	sign(s, q, &event);
	aw_watch_log(s->watch, &event);
}

static void release(struct aw_name_service *s, struct aw_name_query *q)
{
	DL_DELETE(s->queries, q);
	s->query_count--;
	aw_resolved_release(q->answer);
	if (q->connection) {
		q->connection->waiting--;
		if (q->connection->over)
			aw_name_close(s, q->connection);
	}
	free(q);
}

static size_t room_of(const struct aw_name_query *q)
{
	if (q->connection)
		return AW_DNS_MESSAGE;
	return q->c.q.room < DATAGRAM_MAX ? q->c.q.room : DATAGRAM_MAX;
}

/* The end of a question: len bytes of answer at s->reply + 2. */
static void finish(struct aw_name_service *s, struct aw_name_query *q, size_t len)
{
	log_query(s, q); /* first: what can be done with it comes behind it */
	if (!q->connection)
		sendto(q->fd, s->reply + 2, len, MSG_DONTWAIT | MSG_NOSIGNAL,
			(const struct sockaddr *)&q->from,
			q->from.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						      : sizeof(struct sockaddr_in));
	else if (!q->connection->over)
		aw_name_send(s, q->connection, len);
	release(s, q);
}

static const struct aw_variable_names *private_names(struct aw_name_service *s)
{
	const struct aw_variable_names *names;

	pthread_mutex_lock(&s->lock);
	names = s->private ? &s->private->names : NULL;
	pthread_mutex_unlock(&s->lock);
	return names;
}

/* A refusal that needs no look at the policy. */
static size_t refuse_plainly(struct aw_name_query *q, int code, const char *reason)
{
	struct aw_name_case *c = &q->c;

	c->decision = (struct aw_decision){AW_DENY, AW_NO_RULE};
	c->why = AW_DNS_NO_WHY;
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
	return aw_name_answer_code(c, code, code == AW_DNS_REFUSED ? EACCES : EINVAL,
		q->service->reply + 2, room_of(q));
}

/* By the policy of this moment, which may be another one when an answer has come. */
static void judge(struct aw_name_service *s, struct aw_name_query *q)
{
	q->c.image = atomic_load(&s->watch->image);
	q->c.private_names = private_names(s);
	aw_name_judge(&s->law, &q->c);
}

/* One more that waits for servers, and leaves room for those of others? */
static bool has_room(const struct aw_name_service *s, const struct aw_name_query *of)
{
	const struct aw_name_query *q;
	size_t mine = 0;

	DL_FOREACH(s->queries, q)
	mine += q != of && q->pid == of->pid;
	return aw_share_has_room(mine, AW_NAME_QUERIES - s->query_count + 1);
}

/* Its length, or 0: servers are being asked. */
static size_t deal_with(struct aw_name_service *s, struct aw_name_query *q)
{
	unsigned char *to = s->reply + 2;
	size_t len;
	int known;

	if (!find_owner(s, q))
		return refuse_plainly(
			q, AW_DNS_REFUSED, "asked by nobody who is watched");
	judge(s, q);
	len = aw_name_answer_here(&s->law, &q->c, to, room_of(q));
	if (len)
		return len;
	known = -1;
	if (has_room(s, q))
		known = aw_resolve(
			s->resolver, q->c.q.name, q->c.q.type, q->pid, q, &q->answer);
	if (known < 0)
		return aw_name_answer_code(
			&q->c, AW_DNS_FAILURE, EAGAIN, to, room_of(q));
	return known ? aw_name_answer(&s->law, &q->c, q->answer, to, room_of(q)) : 0;
}

void aw_name_ask(struct aw_name_service *s, const unsigned char *bytes, size_t len,
	struct aw_name_connection *connection, int fd,
	const struct sockaddr_storage *from)
{
	struct aw_name_query *q =
		s->query_count < AW_NAME_QUERIES ? calloc(1, sizeof(*q)) : NULL;
	int code;

	if (!q)
		return; /* a program asks again; it has asked too much */
	code = aw_dns_read(bytes, len, &q->c.q);
	if (code < 0) {
		free(q);
		return;
	}
	q->service = s;
	q->ts = aw_watch_now();
	q->connection = connection;
	q->fd = fd;
	q->from = *from;
	q->c.image = atomic_load(&s->watch->image);
	DL_APPEND(s->queries, q);
	s->query_count++;
	if (connection)
		connection->waiting++;
	if (code == AW_DNS_FINE) {
		len = deal_with(s, q);
	} else {
		find_owner(s, q);
		len = refuse_plainly(q, code, "not a question for a name");
	}
	if (len)
		finish(s, q, len);
}

void aw_name_on_resolved(void *ctx, struct aw_resolved *answer)
{
	struct aw_name_query *q = ctx;
	struct aw_name_service *s = q->service;
	const uint64_t one = 1;

	q->answer = answer;
	pthread_mutex_lock(&s->lock);
	q->done = s->done;
	s->done = q;
	pthread_mutex_unlock(&s->lock);
	if (write(s->wake, &one, sizeof(one)) < 0)
		return; /* it is full: the loop wakes up anyway */
}

void aw_name_answer_done(struct aw_name_service *s)
{
	struct aw_name_query *done, *next;

	pthread_mutex_lock(&s->lock);
	done = s->done;
	s->done = NULL;
	pthread_mutex_unlock(&s->lock);
	for (; done; done = next) {
		size_t len, room = room_of(done);

		next = done->done;
		judge(s, done);
		len = done->c.decision.verdict < AW_DENY
			      ? aw_name_answer(&s->law, &done->c, done->answer,
					s->reply + 2, room)
			      : aw_name_answer_here(
					&s->law, &done->c, s->reply + 2, room);
		finish(s, done, len);
	}
}

void aw_name_drop_queries(struct aw_name_service *s)
{
	while (s->queries)
		release(s, s->queries);
}
