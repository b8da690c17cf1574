/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_judge.c - may this client go there?
 *
 * A name is judged before it is looked up, since whoever may look names up may send
 * data in them, and again with each address that it has.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "supervisor/net/proxy/proxy_internal.h"

/* Numbers of ours among those of calls that wait for a human. */
#define COOKIE(conn) (1ull << 63 | (conn)->id)

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

/* --- what the log and the client are told --- */

struct told {
	struct aw_event event;
	struct aw_rule rule;
	char address[INET6_ADDRSTRLEN], place[AW_PROXY_HOST + 16];
	char reason[AW_CONN_REASON], extra[256];
};

static void tell_why(const struct aw_conn_verdict *j, struct told *t)
{
	const struct aw_rule *rule = t->event.rule;

	if (j->rebound)
		snprintf(t->reason, sizeof(t->reason),
			"%s leads to the private address %s, and neither a rule about "
			"that address nor network.private_names admits it",
			t->place, t->address);
	else if (j->decision.verdict == AW_ASK)
		snprintf(t->reason, sizeof(t->reason),
			"%s needs a human's yes (%s:%u: %s), and nobody gave it",
			t->place, rule ? rule->file : "", rule ? rule->line : 0,
			rule ? rule->text : "");
	else if (rule)
		snprintf(t->reason, sizeof(t->reason), "%s is denied by %s:%u: %s",
			t->place, rule->file, rule->line, rule->text);
	else
		snprintf(t->reason, sizeof(t->reason),
			"%s is not among what network.allow of the policy admits, and "
			"network.default is deny",
			t->place);
}

static void prepare_event(
	const struct aw_conn *conn, const struct aw_conn_verdict *j, struct told *t)
{
	struct aw_watch *watch = conn->server->watch;
	struct aw_event *event = &t->event;

	memset(t, 0, sizeof(*t));
	event->kind = AW_EV_CALL;
	event->call = "proxy";
	event->action = AW_CONNECT;
	event->port = conn->to.port;
	aw_watch_sign(event, &conn->who);
	if (j->address.host)
		event->host =
			(struct aw_text){j->address.host, strlen(j->address.host)};
	if (j->known) {
		inet_ntop(j->address.family, j->address.bytes, t->address,
			sizeof(t->address));
		event->family = j->address.family;
		event->address = (struct aw_text){t->address, strlen(t->address)};
	}
	snprintf(t->place, sizeof(t->place),
		strchr(conn->to.host, ':') ? "[%s]:%u" : "%s:%u", conn->to.host,
		(unsigned)conn->to.port);
	aw_watch_judge(watch, event, &j->decision, &t->rule, false);
	event->enforced = watch->enforce;
	tell_why(j, t);
	if (j->rebound)
		event->text = t->reason;
}

static void log_it(const struct aw_conn *conn, struct told *t, bool refused)
{
	if (refused) {
		t->event.result_known = true;
		t->event.result =
			aw_watch_refusal(conn->server->watch, &t->event, AW_DENY);
	}
	aw_watch_log(conn->server->watch, &t->event);
}

/* --- a human's word --- */

void aw_conn_leave(struct aw_conn *conn)
{
	if (!conn->question)
		return;
	aw_questions_leave(conn->server->watch->questions, COOKIE(conn),
		conn->state == AW_CONN_OVER ? AW_LEFT_DEAD : AW_LEFT_SERVED, 0);
	conn->question = 0;
}

/* True: there is an answer, in event. */
static bool ask(struct aw_conn *conn, struct told *t)
{
	struct aw_questions *questions = conn->server->watch->questions;
	struct aw_asked asked = {
		.event = &t->event, .tid = conn->who.pid, .cookie = COOKIE(conn)};
	struct aw_answered answered = {.state = AW_ANSWER_NO};

	if (!t->event.address.len) /* what is asked about has a name at least */
		t->event.address = t->event.host;
	if (questions)
		aw_questions_ask(questions, &asked, &answered);
	if (answered.state == AW_ANSWER_OPEN) {
		conn->question = answered.id;
		conn->state = AW_CONN_ASK;
		conn->deadline = aw_conn_now(); /* looked at with every tick */
		aw_conn_watch(conn, &conn->client, EPOLLRDHUP);
		return false;
	}
	aw_conn_leave(conn);
	t->event.ask_denied = answered.state == AW_ANSWER_NO;
	aw_answer_members(&answered, t->extra, sizeof(t->extra));
	t->event.extra = t->extra;
	return true;
}

/* --- the way of a request --- */

static bool is_home(const struct aw_address *to)
{
	static const unsigned char home[16] = {[15] = 1};

	return to->family == AF_INET ? to->bytes[0] == 127
				     : memcmp(to->bytes, home, 16) == 0;
}

/* `limits.connections_per_minute`; what is allowed is counted. */
static bool is_too_fast(
	const struct aw_conn *conn, const struct aw_conn_verdict *j, struct told *t)
{
	struct aw_egress *traffic = conn->server->watch->traffic;

	if ((j->known && is_home(&j->address)) || aw_quota_connect(&traffic->quota))
		return false;
	t->event.verdict = AW_DENY;
	t->event.rule = &atomic_load(&traffic->rules)->by_connections.rule;
	t->event.rule_index = AW_NO_RULE;
	t->event.strength = "supervisor";
	snprintf(t->reason, sizeof(t->reason), "%s is denied by %s:%u: %s", t->place,
		t->event.rule->file, t->event.rule->line, t->event.rule->text);
	return true;
}

/* What is told of it when it ends. */
static void note(
	struct aw_conn *conn, const struct aw_conn_verdict *j, const struct told *t)
{
	aw_connection_note(&conn->is, &conn->who, &t->event);
	conn->judged_as = j->address;
	conn->judged_as.host = NULL;
	conn->asked = j->decision.verdict == AW_ASK ? j->decision.rule : AW_NO_RULE;
}

static void go_on(struct aw_conn *conn)
{
	aw_conn_watch(conn, &conn->client, 0);
	conn->judged = true;
	if (conn->state != AW_CONN_OVER)
		aw_conn_connect(conn);
}

void aw_conn_judge(struct aw_conn *conn)
{
	struct aw_conn_verdict j;
	struct told t;
	bool refused;

	if (conn->question && aw_questions_state(conn->server->watch->questions,
				      conn->question) == AW_ANSWER_OPEN)
		return;
	aw_conn_judge_all(conn, &j);
	prepare_event(conn, &j, &t);
	if (j.decision.verdict == AW_ASK && !ask(conn, &t))
		return;
	aw_conn_leave(conn);
	refused = j.decision.verdict == AW_ASK ? t.event.ask_denied
					       : j.decision.verdict != AW_ALLOW;
	refused = refused || is_too_fast(conn, &j, &t);
	log_it(conn, &t, refused);
	if (refused) {
		aw_conn_refuse(conn, 403, AW_SOCKS_NOT_ALLOWED, "%s", t.reason);
		return;
	}
	note(conn, &j, &t);
	go_on(conn);
}

static void look_up(struct aw_conn *conn)
{
	struct aw_conn_verdict j;
	struct told t;

	aw_conn_judge_name(conn, &j);
	if (j.decision.verdict == AW_DENY || j.decision.verdict == AW_HIDE) {
		prepare_event(conn, &j, &t);
		log_it(conn, &t, true);
		aw_conn_refuse(conn, 403, AW_SOCKS_NOT_ALLOWED, "%s", t.reason);
		return;
	}
	conn->state = AW_CONN_LOOKUP;
	conn->deadline = aw_conn_now() + AW_CONN_LOOKUP_MS;
	if (!aw_async_lookup_begin(
		    conn->server->finder, conn->to.host, conn->who.pid, conn->id))
		aw_conn_refuse(conn, 503, AW_SOCKS_FAILED,
			"too many names are being looked up");
}

/* Our own port is admitted to everybody: no way must lead from here to it. */
static bool is_this_proxy(const struct aw_conn *conn)
{
	return conn->to.port == conn->server->port;
}

static bool leads_to_us(const struct aw_conn *conn)
{
	static const unsigned char home[16] = {[15] = 1}, none[16];

	if (!is_this_proxy(conn))
		return false;
	for (size_t i = 0; i < conn->address_count; i++) {
		const unsigned char *a = conn->addresses[i];

		if (memcmp(a, home, 16) == 0 || memcmp(a, none, 16) == 0 ||
			(memcmp(a, mapped, 12) == 0 && (a[12] == 127 || a[12] == 0)))
			return true;
	}
	return false;
}

static void with_addresses(struct aw_conn *conn)
{
	if (leads_to_us(conn))
		aw_conn_refuse(conn, 403, AW_SOCKS_NOT_ALLOWED,
			"the way to this proxy does not lead through this proxy");
	else
		aw_conn_judge(conn);
}

void aw_conn_looked_up(struct aw_conn *conn, const struct aw_found *found)
{
	if (found->trouble) {
		aw_conn_refuse(conn, 502, AW_SOCKS_NO_HOST,
			"%s%s cannot be looked up: %s",
			conn->judged ? "the proxy upstream " : "",
			conn->judged ? conn->upstream->at.host : conn->to.host,
			found->trouble);
		return;
	}
	memcpy(conn->addresses, found->addresses, sizeof(conn->addresses));
	conn->address_count = found->count;
	conn->address_next = 0;
	if (conn->judged)
		aw_conn_connect(conn);
	else
		with_addresses(conn);
}

static void take_literal(struct aw_conn *conn)
{
	unsigned char *to = conn->addresses[0];

	conn->address_count = 1;
	if (conn->to.family == AF_INET6) {
		memcpy(to, conn->to.bytes, 16);
		return;
	}
	memcpy(to, mapped, 12);
	memcpy(to + 12, conn->to.bytes, 4);
}

void aw_conn_set_out(struct aw_conn *conn)
{
	conn->upstream = aw_upstream_for(conn->server->upstreams, &conn->to,
		!conn->socks && !conn->http.connect);
	if (conn->to.family) {
		take_literal(conn);
		with_addresses(conn);
	} else if (conn->upstream && conn->upstream->looks_up) {
		aw_conn_judge(conn);
	} else {
		look_up(conn);
	}
}
