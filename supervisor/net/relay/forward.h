/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward.h - ports inside that are reachable at ports outside: `network.forward`.
 *
 * The ports outside are taken before the command is started, so that one that is not
 * free is told in time, and given back at the end.  Each connection goes on to the
 * loopback of the command, IPv4 first; where nothing listens there it is closed.
 */
#ifndef AW_SUPERVISOR_NET_RELAY_FORWARD_H
#define AW_SUPERVISOR_NET_RELAY_FORWARD_H

#include "policy/load/load.h"
#include "supervisor/decide/watch.h"
#include "supervisor/net/relay/relay.h"

enum { AW_FORWARD_PLACE = 64 };

struct aw_forwarded {
	int fd; /* owned; -1: nothing has to be done */
	uint16_t inside;
	char place[AW_FORWARD_PLACE]; /* "127.0.0.1:8080", as it can be reached */
};

struct aw_forwards {
	struct aw_forwarded *items; /* owned */
	size_t count;
	struct aw_forwarder *thread; /* while it runs */
};

/*
 * Take the ports.  shared: the command is in our own network, where a port that is the
 * same inside and outside is reachable already and must be left to the command.
 */
int aw_forwards_open(const struct aw_network *network, bool shared,
	struct aw_forwards *ret, struct aw_error *err);

/* Let connections through; watch->inner is set where the command's network is its own. */
int aw_forwards_start(struct aw_forwards *all, struct aw_watch *watch,
	struct aw_relay *relay, struct aw_error *err);

/* Give the ports back; what goes on in the relay goes on. */
void aw_forwards_close(struct aw_forwards *all);

/* "127.0.0.1:8080 to 3000", ", " between them; owned by the caller. NULL: no memory. */
char *aw_forwards_text(const struct aw_forwards *all);

#endif
