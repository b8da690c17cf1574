/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_relay.c - connections to outside that have to pass through us. */
#include "supervisor/linux/sockets/emulate_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/private.h"
#include "supervisor/linux/sockets/socket_replace.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/net/egress/egress.h"
#include "supervisor/util/cleanup.h"

/* One from the connect to its end; freed then. */
struct crossing {
	struct aw_relayed_connection passage; /* first: the hooks' context */
	struct aw_transparent_listener *listener;
	struct aw_visit visit;
	int client;  /* owned: the target's socket, until it is connected; or -1 */
	int outside; /* owned, until the relay has it; or -1 */
	bool waits;  /* counted among those that do */
};

static int number_of(int fd, int level, int option)
{
	socklen_t len = sizeof(int);
	int value = -1;

	return getsockopt(fd, level, option, &value, &len) < 0 ? -1 : value;
}

/* Does it lead outside, and not to a loopback or a name service of ours? */
static bool leads_outside(
	const struct aw_notified *call, const struct aw_emulate_address *address)
{
	struct aw_address to;

	if (!call->watch->traffic || address->route == AW_ROUTE_NAMES ||
		(address->domain != AF_INET && address->domain != AF_INET6))
		return false;
	aw_address_of(&address->any, &to);
	if (to.family != AF_INET && to.family != AF_INET6)
		return false;
	if (call->watch->netns)
		return address->route == AW_ROUTE_OUTSIDE;
	return (address->route == AW_ROUTE_AS_IT_IS ||
		       address->route == AW_ROUTE_OUTSIDE) &&
	       !aw_address_is_loopback(&to) && !aw_address_is_any(&to);
}

/* --- may it begin? --- */

static bool refuse(struct aw_notified *call, const struct aw_key_rule *why)
{
	static const struct aw_decision no = {AW_DENY, AW_NO_RULE};

	aw_call_decide(call, &no);
	call->rule = why->rule;
	call->event.rule = &call->rule;
	call->event.strength = "supervisor";
	return false;
}

static bool is_stream(int fd)
{
	return number_of(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM;
}

static bool is_fresh_tcp(int fd)
{
	socklen_t len = sizeof(uint8_t);
	struct tcp_info info;

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state == TCP_CLOSE;
}

/* What does not pass through us cannot be looked at, nor counted. */
static bool may_go_past(struct aw_notified *call, const struct aw_egress_rules *rules,
	const struct aw_address *to)
{
	struct aw_verify verify;

	if (rules->bytes)
		return refuse(call, &rules->by_bytes);
	aw_verify_init(&verify, &call->watch->image, call->target.who.role.profiles,
		call->event.verdict == AW_ASK ? call->event.rule_index : AW_NO_RULE,
		to);
	return !rules->verify || aw_verify_nameless(&verify) ||
	       refuse(call, &rules->by_verify);
}

bool aw_relay_may_begin(
	struct aw_notified *call, int fd, const struct aw_emulate_address *address)
{
	struct aw_egress *traffic = call->watch->traffic;
	const struct aw_egress_rules *rules;
	struct aw_address to;
	bool stream = is_stream(fd), tcp, may; /* MPTCP and SCTP connect, too */

	if (!leads_outside(call, address))
		return true;
	tcp = address->protocol == IPPROTO_TCP && stream;
	rules = atomic_load(&traffic->rules);
	aw_address_of(&address->any, &to);
	if (!tcp && !may_go_past(call, rules, &to))
		return false;
	may = stream ? aw_quota_connect(&traffic->quota)
		     : aw_quota_datagram(&traffic->quota, &to);
	return may || refuse(call, &rules->by_connections);
}

/* --- the connection --- */

static void crossing_free(struct crossing *c)
{
	if (c->waits)
		atomic_fetch_sub(&c->passage.traffic->waiting, 1);
	aw_transparent_listener_close(c->listener);
	if (c->client >= 0)
		aw_close(c->client);
	if (c->outside >= 0)
		aw_close(c->outside);
	free(c);
}

static void drop_crossing(void *crossing)
{
	crossing_free(crossing);
}

static void on_end(void *ctx, const struct aw_relay_end *end)
{
	struct crossing *c = ctx;

	/* one that was never connected is none */
	if (c->client < 0)
		aw_relayed_connection_ended(&c->passage, end);
	crossing_free(c);
}

/* How the connection to the server ended is how the target's does. */
static int on_begin(void *ctx, int err)
{
	struct crossing *c = ctx;
	int fd = err ? -1 : aw_visit_meet(&c->visit);

	if (err)
		aw_visit_refuse(&c->visit);
	if (fd < 0)
		return -1;
	aw_close(aw_take_fd(&c->client));
	aw_transparent_listener_close(c->listener);
	c->listener = NULL;
	return fd;
}

/* A socket like the target's, for the way to the server. */
static int make_outside(
	struct aw_netns *netns, int client, int domain, struct crossing *c)
{
	static const int off = 0;

	c->outside = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	if (c->outside < 0)
		return errno;
	aw_replace_copy_options(netns, client, c->outside);
	/* the first bytes cannot go along: they are not there yet */
	setsockopt(c->outside, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &off, sizeof(off));
	setsockopt(client, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &off, sizeof(off));
	return 0;
}

static int hand_to_relay(struct crossing *c, struct aw_relay_pair *pair)
{
	struct aw_relay *relay = atomic_load(&c->passage.traffic->relay);
	int err;

	pair->outside = aw_take_fd(&c->outside);
	pair->ended = on_end;
	if (c->waits)
		atomic_fetch_sub(&c->passage.traffic->waiting, 1);
	c->waits = false;
	err = aw_relay_add(relay, pair);
	if (err)
		crossing_free(c);
	return err;
}

static void begin_passage(struct crossing *c, struct aw_relay_pair *pair)
{
	struct aw_relayed_connection *p = &c->passage;
	struct aw_connection is = p->is;
	struct aw_address to = p->verify.to;

	is.began = aw_watch_now();
	aw_relayed_connection_begin(p, p->traffic, &is, &to, p->verify.rule, pair);
}

/* By a thread of its own, as it may take long: first there, then here. */
static long connect_waiting(struct aw_waiting *waiting)
{
	struct crossing *c = waiting->data;
	struct aw_relay_pair pair = {.inside = -1};
	int fd, err;

	if (connect(c->outside, (const struct sockaddr *)waiting->address,
		    (socklen_t)waiting->address_len) < 0)
		return -1;
	aw_creds_restore(); /* the rest is ours */
	err = aw_transparent_listener_open(c->passage.traffic->listeners,
		(const struct sockaddr *)waiting->address,
		(socklen_t)waiting->address_len, &c->listener);
	fd = err ? -err : aw_transparent_listener_let_in(c->listener, waiting->fd);
	if (fd >= 0) {
		aw_transparent_listener_close(c->listener);
		c->listener = NULL;
		pair.inside = fd;
		begin_passage(c, &pair);
		waiting->data = NULL; /* the relay's from now on */
		fd = hand_to_relay(c, &pair);
	}
	errno = -fd;
	return fd < 0 ? -1 : 0;
}

static void connect_patiently(struct aw_notified *call, int *fd,
	const struct aw_emulate_address *address, struct crossing *c)
{
	struct aw_waiting waiting = {.watch = call->watch,
		.id = call->id,
		.target = call->target,
		.second = -1,
		.address_len = address->len,
		.work = connect_waiting,
		.data = c,
		.drop = drop_crossing};

	c->waits = true;
	atomic_fetch_add(&c->passage.traffic->waiting, 1);
	memcpy(waiting.address, &address->any, address->len);
	waiting.fd = aw_take_fd(fd);
	aw_emulate_wait(call, &waiting);
}

/* The target's is on its way as long as ours is. */
static int connect_at_once(
	int fd, const struct aw_emulate_address *address, struct crossing *c)
{
	struct aw_relay_pair pair = {.inside = -1, .begin = on_begin};
	const struct sockaddr *to = (const struct sockaddr *)&address->any;
	int err = aw_transparent_listener_open(c->passage.traffic->listeners, to,
		(socklen_t)address->len, &c->listener);

	if (!err) {
		fcntl(c->outside, F_SETFL, fcntl(c->outside, F_GETFL) | O_NONBLOCK);
		if (connect(c->outside, to, (socklen_t)address->len) < 0 &&
			errno != EINPROGRESS)
			err = errno;
	}
	if (!err)
		err = aw_visit_begin(c->listener, fd, &c->visit);
	if (err == EINPROGRESS) {
		c->visit.client = c->client = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		err = c->client < 0 ? errno : EINPROGRESS;
	}
	if (err == EINPROGRESS) {
		begin_passage(c, &pair);
		return hand_to_relay(c, &pair) < 0 ? ENOMEM : EINPROGRESS;
	}
	crossing_free(c);
	return err ? err : ECONNREFUSED;
}

static struct crossing *crossing_create(
	struct aw_notified *call, const struct aw_emulate_address *address)
{
	struct crossing *c = calloc(1, sizeof(*c));
	struct aw_relayed_connection *p = c ? &c->passage : NULL;
	struct aw_address to;

	if (!c)
		return NULL;
	c->client = c->outside = -1;
	aw_address_of(&address->any, &to);
	p->traffic = call->watch->traffic;
	aw_connection_note(&p->is, &call->target.who, &call->event);
	aw_verify_init(&p->verify, &call->watch->image, call->target.who.role.profiles,
		call->event.verdict == AW_ASK ? call->event.rule_index : AW_NO_RULE,
		&to);
	return c;
}

bool aw_relay_wants(
	const struct aw_notified *call, const struct aw_emulate_address *address)
{
	return aw_egress_relays(call->watch->traffic) &&
	       address->protocol == IPPROTO_TCP && leads_outside(call, address);
}

bool aw_relay_connect(
	struct aw_notified *call, int *fd, const struct aw_emulate_address *address)
{
	struct crossing *c;
	int err;

	if (!aw_relay_wants(call, address))
		return false;
	c = crossing_create(call, address);
	err = c ? make_outside(call->watch->netns, *fd, address->domain, c) : ENOMEM;
	/* it may have been elsewhere before */
	if (!err)
		err = aw_replace_change(call, fd,
			call->watch->netns ? AW_ROUTE_INSIDE : AW_ROUTE_OUTSIDE);
	if (err) {
		if (c)
			crossing_free(c);
		aw_emulate_answer(call, -err);
	} else if (fcntl(*fd, F_GETFL) & O_NONBLOCK) {
		aw_emulate_answer(call, -connect_at_once(*fd, address, c));
	} else {
		connect_patiently(call, fd, address, c);
	}
	return true;
}

void aw_relay_note(
	struct aw_notified *call, int fd, const struct aw_emulate_address *address)
{
	struct aw_connection c;

	if (!leads_outside(call, address) || address->protocol != IPPROTO_TCP ||
		!is_fresh_tcp(fd))
		return;
	aw_connection_note(&c, &call->target.who, &call->event);
	aw_conntrack_add(call->watch->traffic->ends, fd, &c);
}
