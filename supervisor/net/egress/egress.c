/* SPDX-License-Identifier: Apache-2.0 */
/* egress.c - what all connections to outside have in common. */
#include "supervisor/net/egress/egress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_MS = 500 };

/* The place where a key has got its value: of several limits the smallest counts. */
static void find_place(struct aw_key_rule *rule, const struct aw_policy *policy,
	const char *key, uint64_t value)
{
	for (size_t nth = 0; aw_policy_given(policy, key, nth, &rule->given); nth++)
		if (!value || strtod(rule->given.value, NULL) == (double)value)
			return;
}

/* A limit is known by its name alone, as aw_policy_print() asks for it. */
static void set_rule(struct aw_key_rule *rule, const struct aw_policy *policy,
	const char *key, uint64_t value)
{
	const char *name = value ? strchr(key, '.') + 1 : key;

	find_place(rule, policy, name, value);
	if (value)
		snprintf(rule->text, sizeof(rule->text), "%s: %llu", key,
			(unsigned long long)value);
	else
		snprintf(rule->text, sizeof(rule->text), "%s: true", key);
	rule->rule = (struct aw_rule){.file = rule->given.file,
		.line = rule->given.line,
		.text = rule->text,
		.layer = rule->given.layer};
}

static bool is_same_rule(const struct aw_key_rule *a, const struct aw_key_rule *b)
{
	return strcmp(a->text, b->text) == 0 && a->given.line == b->given.line &&
	       strcmp(a->given.file, b->given.file) == 0 &&
	       strcmp(a->given.layer, b->given.layer) == 0;
}

/* Those that are there stay until the end, so that another reading adds none. */
static bool is_there(
	const struct aw_egress *traffic, const struct aw_egress_rules *rules)
{
	const struct aw_egress_rules *now = atomic_load(&traffic->rules);

	return now && now->verify == rules->verify && now->bytes == rules->bytes &&
	       is_same_rule(&now->by_verify, &rules->by_verify) &&
	       is_same_rule(&now->by_bytes, &rules->by_bytes) &&
	       is_same_rule(&now->by_connections, &rules->by_connections);
}

int aw_egress_reload(
	struct aw_egress *traffic, const struct aw_policy *policy, struct aw_error *err)
{
	struct aw_egress_rules *rules;
	struct aw_relay *relay;

	if (!traffic)
		return 0;
	rules = calloc(1, sizeof(*rules));
	if (!rules)
		return aw_fail(err, ENOMEM, "connections to outside");
	rules->verify = policy->network.match_sni;
	rules->bytes = policy->limits.bytes_out != 0;
	set_rule(&rules->by_verify, policy, "network.match_sni", 0);
	set_rule(
		&rules->by_bytes, policy, "limits.bytes_out", policy->limits.bytes_out);
	set_rule(&rules->by_connections, policy, "limits.connections_per_minute",
		policy->limits.connections_per_minute);
	if ((rules->verify || rules->bytes) && !atomic_load(&traffic->relay)) {
		if (aw_relay_create(&relay, err) < 0) {
			free(rules);
			return -1;
		}
		atomic_store(&traffic->relay, relay);
	}
	aw_quota_limit(&traffic->quota, &policy->limits);
	if (is_there(traffic, rules)) {
		free(rules);
		return 0;
	}
	rules->before = atomic_load(&traffic->rules);
	atomic_store(&traffic->rules, rules);
	return 0;
}

int aw_egress_create(struct aw_watch *watch, const struct aw_policy *policy,
	struct aw_egress **ret, struct aw_error *err)
{
	struct aw_egress *traffic = calloc(1, sizeof(*traffic));
	struct aw_error why;

	if (!traffic)
		return aw_fail(err, ENOMEM, "connections to outside");
	traffic->watch = watch;
	aw_quota_init(&traffic->quota);
	traffic->listeners = aw_transparent_listeners_create(watch->netns);
	if (!traffic->listeners || aw_egress_reload(traffic, policy, err) < 0) {
		aw_egress_free(traffic);
		return -1;
	}
	if (aw_conntrack_create(watch, &traffic->ends, &why) < 0)
		aw_watch_warn(watch, NULL, "connection",
			"ends of connections are not logged: %s", why.text);
	*ret = traffic;
	return 0;
}

void aw_egress_free(struct aw_egress *traffic)
{
	struct aw_egress_rules *before;

	if (!traffic)
		return;
	/* nobody waits for them any more; one that does not hear of it keeps it all */
	for (int i = 0; i < PATIENCE_MS && atomic_load(&traffic->waiting); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	if (atomic_load(&traffic->waiting))
		return;
	aw_relay_free(atomic_load(&traffic->relay));
	aw_conntrack_free(traffic->ends);
	aw_transparent_listeners_free(traffic->listeners);
	aw_quota_release(&traffic->quota);
	for (struct aw_egress_rules *r = atomic_load(&traffic->rules); r; r = before) {
		before = r->before;
		free(r);
	}
	free(traffic);
}

bool aw_egress_relays(const struct aw_egress *traffic)
{
	const struct aw_egress_rules *rules =
		traffic ? atomic_load(&traffic->rules) : NULL;

	return rules && (rules->verify || rules->bytes);
}

/* --- one connection --- */

/* A call that was refused, though the program has made none: the log's way to say it. */
static void log_cut(struct aw_relayed_connection *passage)
{
	struct aw_watch *watch = passage->traffic->watch;
	const struct aw_verify *v = &passage->verify;
	struct aw_event event = {.kind = AW_EV_CALL,
		.action = AW_SEND,
		.call = passage->too_much ? "relay"
			: v->how	  ? v->how
					  : "relay",
		.verdict = AW_DENY,
		.enforced = true,
		.strength = "supervisor",
		.source = AW_FROM_KERNEL,
		.rule_index = AW_NO_RULE,
		.result_known = true,
		.result = ECONNRESET};
	struct aw_rule rule;

	passage->told = true;
	aw_connection_tell(&passage->is, &event);
	if (passage->too_much) {
		event.rule = &passage->rules->by_bytes.rule;
		event.text =
			"the connection was cut: the session has sent all that it may";
	} else {
		event.text = v->why[0] ? v->why
				       : "the client had not said whole what it wants";
		if (v->name[0])
			event.host = (struct aw_text){v->name, strlen(v->name)};
		/* with a reason it is its reader who tells, inside of readers */
		event.rule = v->why[0] && aw_image_rule(atomic_load(&watch->image),
						  v->decision.rule, &rule)
				     ? &rule
				     : &passage->rules->by_verify.rule;
	}
	aw_watch_log(watch, &event);
}

static enum aw_relay_look look(
	void *ctx, const unsigned char *bytes, size_t len, size_t *ret_on)
{
	struct aw_relayed_connection *passage = ctx;
	struct aw_epoch *readers = &passage->traffic->watch->readers;
	unsigned door = aw_epoch_enter(readers);
	enum aw_relay_look said = aw_verify_look(&passage->verify, bytes, len, ret_on);

	if (said == AW_RELAY_CUT)
		log_cut(passage);
	aw_epoch_leave(readers, door);
	return said;
}

static bool may_send(void *ctx, size_t bytes)
{
	struct aw_relayed_connection *passage = ctx;
	bool may = aw_quota_send(&passage->traffic->quota, bytes);

	if (!may) {
		passage->too_much = true;
		log_cut(passage);
	}
	return may;
}

void aw_relayed_connection_begin(struct aw_relayed_connection *ret,
	struct aw_egress *traffic, const struct aw_connection *c,
	const struct aw_address *to, uint32_t asked, struct aw_relay_pair *pair)
{
	ret->traffic = traffic;
	ret->rules = atomic_load(&traffic->rules);
	ret->is = *c;
	ret->too_much = ret->told = false;
	aw_verify_init(
		&ret->verify, &traffic->watch->image, c->who.role.profiles, asked, to);
	pair->look = ret->rules->verify ? look : NULL;
	pair->may_send = may_send;
	pair->ctx = ret;
}

void aw_relayed_connection_ended(
	struct aw_relayed_connection *passage, const struct aw_relay_end *end)
{
	if (end->cut && !passage->told)
		log_cut(passage);
	aw_connection_log(passage->traffic->watch, &passage->is, end->out, end->in,
		end->nanoseconds);
}
