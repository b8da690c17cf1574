/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - a proxy on the instance's loopback, for programs that want one.
 *
 * One port for HTTP (CONNECT and http:// URLs) and SOCKS 5.  What a client asks for is
 * judged by the same rules as a connection that it makes itself, with the name and with
 * each address that the name has; a refusal says why.  One thread serves all, names are
 * looked up by others, and what is connected goes on in the relay.
 */
#ifndef AW_SUPERVISOR_NET_PROXY_PROXY_H
#define AW_SUPERVISOR_NET_PROXY_PROXY_H

#include "supervisor/decide/watch.h"
#include "supervisor/net/proxy/upstream.h"
#include "supervisor/net/relay/relay.h"

struct aw_proxy_server;

/*
 * Take a port of the loopback before anything is started, so that the policy and the
 * environment can name it.  The socket is the caller's; aw_proxy_start() needs it.
 */
int aw_proxy_reserve(int *ret_fd, uint16_t *ret_port, struct aw_error *err);

/*
 * Listen, where the command is; watch->traffic is set, and watch->inner.  reserved
 * stays the caller's, and stays open while the proxy runs.  upstreams are borrowed,
 * private names too: patterns that may lead to private addresses.
 */
struct aw_proxy_params {
	struct aw_watch *watch;
	struct aw_relay *relay; /* borrowed */
	int reserved;
	uint16_t port;
	const struct aw_upstreams *upstreams;
	const struct aw_network *network;
};
int aw_proxy_start(const struct aw_proxy_params *params, struct aw_proxy_server **ret,
	struct aw_error *err);

/* Connections that are not in the relay yet are closed; NULL is fine. */
void aw_proxy_stop(struct aw_proxy_server *server);

#endif
