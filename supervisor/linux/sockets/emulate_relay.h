/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulate_relay.h - connections to outside that have to pass through us.
 *
 * The target's own socket is connected to who stands in for the server
 * (supervisor/net/relay/transparent_listener.h), so that all it knows of the socket
 * stays true; the server is connected to first, or meanwhile, so that how this ends is
 * how that ended.
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_EMULATE_RELAY_H
#define AW_SUPERVISOR_LINUX_SOCKETS_EMULATE_RELAY_H

#include "supervisor/linux/sockets/emulate_net.h"

/*
 * What the policy says of connections and datagrams to outside besides where they go;
 * false: it is refused, and the call's reply says so.
 */
bool aw_relay_may_begin(
	struct aw_notified *call, int fd, const struct aw_emulate_address *address);

/* Is it a connection that has to pass through us? */
bool aw_relay_wants(
	const struct aw_notified *call, const struct aw_emulate_address *address);

/* Connect it over the relay, if it has to be; false: it has not, nothing was done. */
bool aw_relay_connect(
	struct aw_notified *call, int *fd, const struct aw_emulate_address *address);

/* A connection that goes over a socket of its own begins: its end is waited for. */
void aw_relay_note(
	struct aw_notified *call, int fd, const struct aw_emulate_address *address);

#endif
