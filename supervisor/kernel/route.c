/* SPDX-License-Identifier: Apache-2.0 */
/* route.c - inside the wall, or out of it. */
#include "supervisor/kernel/route.h"

#include <string.h>
#include <sys/socket.h>

#include "policy/private.h"
#include "policy/profile.h"
#include "policy/region.h"
#include "supervisor/kernel/name_route.h"
#include "supervisor/net/listens.h"
#include "supervisor/net/name_service.h"

static bool is_inside_ipv4(const unsigned char *bytes)
{
	static const unsigned char none[4], plain[4] = {192, 0, 0, 8}; /* maker.c */

	return bytes[0] == 127 || memcmp(bytes, none, 4) == 0 ||
	       memcmp(bytes, plain, 4) == 0;
}

bool aw_route_is_inside(const struct aw_address *to)
{
	static const unsigned char none[16], one[16] = {[15] = 1},
					     plain[16] = {1, [15] = 1}, /* maker.c */
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

/*
 * Bound to all interfaces of a network that has a loopback alone, it listens on that:
 * so who may listen there may do this.
 */
static void admit_all_interfaces(struct aw_notified *call, const struct aw_address *to,
	struct aw_decision *decision)
{
	static const struct aw_address loopback[] = {
		{.family = AF_INET, .bytes = {127, [3] = 1}},
		{.family = AF_INET6, .bytes = {[15] = 1}}};
	struct aw_decision worst = {AW_ALLOW, AW_NO_RULE}, one;

	if (!aw_address_is_any(to))
		return;
	for (size_t i = 0; i < (to->family == AF_INET ? 1U : 2U); i++) {
		struct aw_address home = loopback[i];

		home.port = to->port;
		aw_image_decide_address_in(atomic_load(&call->watch->image),
			call->target.who.role.profiles, AW_BIND, &home, &one);
		if (one.verdict >= worst.verdict)
			worst = one;
	}
	if (worst.verdict < decision->verdict)
		*decision = worst;
}

/* No rule speaks of it: what stays among the processes behind a wall needs none. */
static void admit_inside(struct aw_notified *call, const struct aw_address *to,
	struct aw_decision *decision)
{
	const struct aw_image *image = atomic_load(&call->watch->image);
	uint32_t profiles = call->target.who.role.profiles;
	enum aw_action action = call->event.action;

	if (decision->verdict != AW_DENY || decision->rule != AW_NO_RULE)
		return;
	if (action == AW_BIND && aw_image_lists_listening(image, profiles)) {
		admit_all_interfaces(call, to, decision);
		return;
	}
	/* unless a profile is against it */
	aw_image_decide_address_in(
		image, profiles | AW_PROFILES_ALONE, action, to, decision);
}

/*
 * Somebody inside comes first, then the host's own loopback, where a rule admits that:
 * a model's server, say.
 */
static void decide_inside(struct aw_notified *call, struct aw_hand_address *address,
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
	if (named.verdict != AW_DENY && !aw_inner_listens(call->watch->inner,
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
	return call->watch->inner && to->family == AF_UNIX && to->path_len &&
			       to->path[0] == '@'
		       ? AW_ROUTE_INSIDE
		       : AW_ROUTE_AS_IT_IS;
}

/*
 * A datagram socket is bound to any port that is free by sending alone; who does that
 * in two steps, as musl does before it asks for a name, gets no more.
 */
static void admit_any_port(const struct aw_notified *call,
	const struct aw_hand_address *address, const struct aw_address *to,
	struct aw_decision *decision)
{
	static const unsigned char none[16];

	if (call->event.action == AW_BIND && decision->verdict == AW_DENY &&
		decision->rule == AW_NO_RULE && address->protocol == IPPROTO_UDP &&
		(to->family == AF_INET || to->family == AF_INET6) && !to->port &&
		memcmp(to->bytes, none, sizeof(none)) == 0)
		decision->verdict = AW_ALLOW;
}

void aw_route_decide(struct aw_notified *call, struct aw_hand_address *address,
	struct aw_address *to, struct aw_decision *decision)
{
	struct aw_name_service *names = atomic_load(&call->watch->dns);
	bool apart = call->watch->inner &&
		     (address->domain == AF_INET || address->domain == AF_INET6);

	admit_any_port(call, address, to, decision);
	if (aw_name_route_decide(call, address, to, decision))
		return;
	if (apart && aw_route_is_inside(to)) {
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
