/* SPDX-License-Identifier: Apache-2.0 */
/* route.c - inside the sandbox, or out of it. */
#include "supervisor/linux/sockets/route.h"

#include <string.h>
#include <sys/socket.h>

#include "policy/image/region.h"
#include "supervisor/linux/netns/listens.h"
#include "supervisor/linux/sockets/name_route.h"
#include "supervisor/net/dns/name_service.h"
#include "supervisor/net/proxy/client.h"

static bool is_inside_ipv4(const unsigned char *bytes)
{
	static const unsigned char none[4],
		plain[4] = {192, 0, 0, 8}; /* socket_factory.c */

	return bytes[0] == 127 || memcmp(bytes, none, 4) == 0 ||
	       memcmp(bytes, plain, 4) == 0;
}

/* The loopback, or what stands for it: any address that only the sandbox's inside has. */
static bool leads_inside(const struct aw_address *to)
{
	static const unsigned char none[16],
		one[16] = {[15] = 1}, plain[16] = {1, [15] = 1}, /* socket_factory.c */
		mapped[12] = {[10] = 0xff, 0xff};
	const unsigned char *bytes = to->bytes;

	if (to->family == AF_INET)
		return is_inside_ipv4(bytes);
	if (to->family != AF_INET6)
		return false;
	if (memcmp(bytes, mapped, sizeof(mapped)) == 0)
		return is_inside_ipv4(bytes + 12);
	return memcmp(bytes, none, 16) == 0 || memcmp(bytes, one, 16) == 0 ||
	       memcmp(bytes, plain, 16) == 0;
}

/* No rule speaks of it: what stays among the processes behind a sandbox needs none. */
static void admit_inside(struct aw_notified *call, const struct aw_address *to,
	struct aw_decision *decision)
{
	aw_image_decide_inside(atomic_load(&call->watch->image),
		call->target.who.role.profiles, call->event.action, to, decision);
}

/*
 * A server of the session's, or nobody at all: then enforce would answer as audit does.
 * What else listens on this machine is out of reach there.
 */
static bool would_be_inside(
	const struct aw_notified *call, const union aw_any_address *at)
{
	int protocol = call->event.action == AW_SEND ? IPPROTO_UDP : IPPROTO_TCP;
	ino_t inode;

	return !aw_here_listens(protocol, at, &inode) ||
	       (inode && aw_client_holds(call->watch, inode));
}

void aw_route_foresee(struct aw_notified *call, const union aw_any_address *at,
	const struct aw_address *to, struct aw_decision *decision)
{
	const struct aw_watch *watch = call->watch;

	if (watch->enforce || !watch->foresees_network ||
		decision->verdict != AW_DENY || decision->rule != AW_NO_RULE ||
		!leads_inside(to))
		return;
	if (call->event.action == AW_BIND || would_be_inside(call, at))
		admit_inside(call, to, decision);
}

/*
 * Somebody inside comes first, then the host's own loopback, where a rule admits that:
 * a model's server, say.
 */
static void decide_inside(struct aw_notified *call, struct aw_emulate_address *address,
	const struct aw_address *to, struct aw_decision *decision)
{
	struct aw_decision named = *decision;
	struct aw_address copy = *to;

	address->route = AW_ROUTE_INSIDE;
	if (call->event.action == AW_BIND) {
		admit_inside(call, to, decision);
		return;
	}
	if (named.verdict == AW_DENY)
		aw_names_decide(call->watch->names, atomic_load(&call->watch->image),
			call->target.who.role.profiles, call->event.action, &copy,
			&named);
	if (named.verdict != AW_DENY && !aw_netns_listens(call->watch->netns,
						address->protocol, &address->judged)) {
		*decision = named;
		address->route = AW_ROUTE_OUTSIDE;
		return;
	}
	admit_inside(call, to, decision);
}

enum aw_route aw_route_of_name(struct aw_notified *call, const struct aw_address *to,
	const struct aw_decision *decision)
{
	enum aw_route own = aw_route_of_own_name(call, to);

	return own == AW_ROUTE_INSIDE && decision->verdict < AW_DENY &&
			       call->event.action != AW_BIND
		       ? AW_ROUTE_EITHER
		       : own;
}

enum aw_route aw_route_of_own_name(
	const struct aw_notified *call, const struct aw_address *to)
{
	return call->watch->netns && to->family == AF_UNIX && to->path_len &&
			       to->path[0] == '@'
		       ? AW_ROUTE_INSIDE
		       : AW_ROUTE_AS_IT_IS;
}

/*
 * A datagram socket is bound to any port that is free by sending alone; who does that
 * in two steps, as musl does before it asks for a name, gets no more.
 */
static void admit_any_port(const struct aw_notified *call,
	const struct aw_emulate_address *address, const struct aw_address *to,
	struct aw_decision *decision)
{
	static const unsigned char none[16];

	if (call->event.action == AW_BIND && decision->verdict == AW_DENY &&
		decision->rule == AW_NO_RULE && address->protocol == IPPROTO_UDP &&
		(to->family == AF_INET || to->family == AF_INET6) && !to->port &&
		memcmp(to->bytes, none, sizeof(none)) == 0)
		decision->verdict = AW_ALLOW;
}

void aw_route_decide(struct aw_notified *call, struct aw_emulate_address *address,
	struct aw_address *to, struct aw_decision *decision)
{
	struct aw_name_service *names = atomic_load(&call->watch->dns);
	bool apart = call->watch->netns &&
		     (address->domain == AF_INET || address->domain == AF_INET6);

	admit_any_port(call, address, to, decision);
	if (aw_name_route_decide(call, address, to, decision))
		return;
	if (apart && leads_inside(to)) {
		decide_inside(call, address, to, decision);
		return;
	}
	aw_names_decide(call->watch->names, atomic_load(&call->watch->image),
		call->target.who.role.profiles, call->event.action, to, decision);
	if (apart && (to->family == AF_INET || to->family == AF_INET6))
		address->route = call->event.action == AW_BIND ? AW_ROUTE_INSIDE
							       : AW_ROUTE_OUTSIDE;
	else if (names && aw_name_service_network(names))
		address->route = AW_ROUTE_OUTSIDE; /* it may have asked for names */
}
