/* SPDX-License-Identifier: Apache-2.0 */
/* plan_network.c - how much of the network a sandbox must leave. */
#include <stdlib.h>

#include "policy/image/region.h"
#include "supervisor/sandbox/plan_internal.h"

/* More ports than these are as good as all of them. */
#define PORTS_MAX 1024

struct ports {
	uint16_t *list; /* owned */
	size_t count;
	bool all;
};

static void add_ports(void *ctx, unsigned low, unsigned high)
{
	struct ports *ports = ctx;

	if (ports->all || high - low >= PORTS_MAX ||
		ports->count + (high - low) >= PORTS_MAX) {
		ports->all = true;
		return;
	}
	for (unsigned port = low; port <= high; port++) {
		size_t i = 0;

		while (i < ports->count && ports->list[i] != port)
			i++;
		if (i == ports->count)
			ports->list[ports->count++] = (uint16_t)port;
	}
}

static bool find_ports(const struct aw_image *image, enum aw_action action,
	uint16_t **ret, size_t *ret_count, bool *ret_all)
{
	struct ports ports = {.list = calloc(PORTS_MAX, sizeof(uint16_t))};

	if (!ports.list)
		return false;
	*ret_all = !aw_image_ports(image, action, add_ports, &ports) || ports.all;
	*ret = ports.list;
	*ret_count = *ret_all ? 0 : ports.count;
	return true;
}

bool aw_plan_fill_network(const struct aw_plan_params *params, struct aw_plan *plan)
{
	const struct aw_image *image = params->policy->image;
	static const enum aw_plan_network networks[] = {
		[AW_REACH_ALL] = AW_PLAN_NET_ALL,
		[AW_REACH_NONE] = AW_PLAN_NET_NONE,
		[AW_REACH_SOME] = AW_PLAN_NET_SOME,
	};

	plan->network = networks[aw_image_network(image)];
	/* an open network with exceptions stays the machine's: who may go nearly
	 * everywhere also serves others and joins groups */
	plan->apart =
		plan->network == AW_PLAN_NET_NONE ||
		(aw_image_network_closed(image) && params->enforce && params->notified);
	return find_ports(image, AW_CONNECT, &plan->connect_ports, &plan->connect_count,
		       &plan->all_connect_ports) &&
	       find_ports(image, AW_BIND, &plan->listen_ports, &plan->listen_count,
		       &plan->all_listen_ports);
}
