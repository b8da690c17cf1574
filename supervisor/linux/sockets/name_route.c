/* SPDX-License-Identifier: Apache-2.0 */
/* name_route.c - the way to the name service. */
#include "supervisor/linux/sockets/name_route.h"

#include <string.h>
#include <sys/socket.h>

#include "policy/array.h"
#include "supervisor/net/dns/name_service.h"

static struct aw_name_service *service_of(const struct aw_notified *call)
{
	return atomic_load(&call->watch->dns);
}

/* The host's loopback stands in for a server that nobody can be in the place of. */
static void stand_in(
	struct aw_name_service *service, struct aw_emulate_address *address)
{
	struct sockaddr_storage at;
	int type = address->protocol == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM;
	socklen_t len = aw_name_service_stand_in(service, address->domain, type, &at);

	if (!len)
		return;
	memcpy(&address->any, &at, len);
	address->len = len;
}

bool aw_name_route_decide(struct aw_notified *call, struct aw_emulate_address *address,
	const struct aw_address *to, struct aw_decision *decision)
{
	struct aw_name_service *service = service_of(call);
	bool plain =
		address->protocol == IPPROTO_TCP || address->protocol == IPPROTO_UDP;

	if (!service || !plain || call->event.action == AW_BIND ||
		(to->family != AF_INET && to->family != AF_INET6) ||
		(address->domain != AF_INET && address->domain != AF_INET6) ||
		!aw_name_service_is_at(service, to))
		return false;
	/* where no name is allowed, too: the service says so at once, and the log says
	 * which name it was */
	if (decision->verdict == AW_DENY && decision->rule == AW_NO_RULE)
		decision->verdict = AW_ALLOW;
	address->route = AW_ROUTE_NAMES;
	if (decision->verdict < AW_DENY &&
		aw_name_service_reach(service) == AW_NAMES_NEARBY)
		stand_in(service, address);
	return true;
}

bool aw_name_route_is_cache(struct aw_notified *call, const struct aw_address *to,
	const struct aw_decision *decision)
{
	static const char *const caches[] = {
		"/run/nscd/socket", "/var/run/nscd/socket", "/run/systemd/resolve/"};
	struct aw_rule rule;
	bool found = false;

	if (!service_of(call) || to->family != AF_UNIX || call->event.action == AW_BIND)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(caches) && !found; i++) {
		size_t len = strlen(caches[i]);

		found = to->path_len >= len && memcmp(to->path, caches[i], len) == 0 &&
			(to->path_len == len || caches[i][len - 1] == '/');
	}
	return found && (!aw_image_rule(atomic_load(&call->watch->image),
				 decision->rule, &rule) ||
				strcmp(rule.layer, "preset") == 0);
}

void aw_name_route_note(const struct aw_notified *call, int fd,
	const struct aw_emulate_address *address)
{
	if (address->route == AW_ROUTE_NAMES)
		aw_name_service_note(service_of(call), fd, call->target.who.pid,
			call->target.who.role.profiles);
}
