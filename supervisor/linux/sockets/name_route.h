/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_route.h - what a target asks name servers goes to the name service instead.
 *
 * All does nothing in a session without one (name_service.h).
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_NAME_ROUTE_H
#define AW_SUPERVISOR_LINUX_SOCKETS_NAME_ROUTE_H

#include "supervisor/linux/sockets/emulate_net.h"

/*
 * Is this where names are asked for?  Then the verdict, without a rule that speaks of
 * it, is to allow it to whoever may know some name, and the route is set.
 */
bool aw_name_route_decide(struct aw_notified *call, struct aw_emulate_address *address,
	const struct aw_address *to, struct aw_decision *decision);

/*
 * Is this a cache of names (nscd, systemd-resolved) that would answer in our place?  No
 * rule but a preset's speaks of it; for the target it is not there.
 */
bool aw_name_route_is_cache(struct aw_notified *call, const struct aw_address *to,
	const struct aw_decision *decision);

/* A call is about to be made with fd: whose questions will come from there? */
void aw_name_route_note(const struct aw_notified *call, int fd,
	const struct aw_emulate_address *address);

#endif
