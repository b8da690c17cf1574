/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - which way a connection or a datagram goes, once it is known where to.
 *
 * Behind a sandbox that makes a network namespace the target's sockets lead nowhere but
 * to its own loopback.  What may go further goes over a socket of ours, which takes the
 * place of the target's (swap.h).
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_ROUTE_H
#define AW_SUPERVISOR_LINUX_SOCKETS_ROUTE_H

#include "supervisor/linux/sockets/emulate_net.h"

/*
 * An abstract name of Unix sockets belongs to a network namespace, too (unix(7)): one
 * that a rule admits may be inside or outside.  decision: of the rules alone.
 */
enum aw_route aw_route_of_name(struct aw_notified *call, const struct aw_address *to,
	const struct aw_decision *decision);

/* One that the session has bound itself, or is about to, is inside. */
enum aw_route aw_route_of_own_name(
	const struct aw_notified *call, const struct aw_address *to);

/*
 * The verdict about an address, with the names that it has, and address->route.  Inside
 * the sandbox's loopback no rule is needed; what a rule says of it counts.
 */
void aw_route_decide(struct aw_notified *call, struct aw_emulate_address *address,
	struct aw_address *to, struct aw_decision *decision);

/*
 * In audit, after the rules: what enforce would leave to the session behind a sandbox
 * with a network of its own is no denial.
 */
void aw_route_foresee(struct aw_notified *call, const union aw_any_address *at,
	const struct aw_address *to, struct aw_decision *decision);

#endif
