/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listeners.h - what a session offers besides its rules: a proxy inside, ports outside.
 *
 * Ports are taken before anything is started; the launcher gives its copies up once the
 * service has its own.
 */
#ifndef AW_SUPERVISOR_NET_LISTENERS_H
#define AW_SUPERVISOR_NET_LISTENERS_H

#include "supervisor/net/proxy/proxy.h"
#include "supervisor/net/relay/forward.h"

struct aw_listeners {
	uint16_t proxy_port; /* 0: there is no proxy */
	int reserved;	     /* owned; while proxy_port is not 0 */
	bool told;	     /* the environment names the proxy */
	struct aw_upstreams upstreams;
	const struct aw_network *network; /* borrowed: the session's first policy */
	struct aw_forwards forwards;
	struct aw_proxy_server *proxy;
	struct aw_relay *relay; /* owned where the session has none for others */
};

/* A port for the proxy where the policy wants one; mode audit changes nothing. */
int aw_listeners_reserve(struct aw_listeners *listeners, const struct aw_policy *policy,
	struct aw_error *err);

/* Ports outside, once it is known whether the command has a network of its own. */
int aw_listeners_open(struct aw_listeners *listeners, const struct aw_policy *policy,
	bool own_network, struct aw_error *err);

/* The launcher's copies. */
void aw_listeners_give_up(struct aw_listeners *listeners);

/* In the service, behind the launch and watch->traffic, which a proxy needs; say is
 * told a sentence for each. */
int aw_listeners_start(struct aw_listeners *listeners, struct aw_watch *watch,
	void (*say)(void *ctx, const char *sentence), void *ctx, struct aw_error *err);
void aw_listeners_stop(struct aw_listeners *listeners);

/* For session.json: "127.0.0.1:PORT", and as aw_forwards_text(); owned by the caller,
 * NULL where there is none. */
char *aw_listeners_proxy_text(const struct aw_listeners *listeners);
char *aw_listeners_forward_text(const struct aw_listeners *listeners);

/* The name of the i-th variable for the command's environment, NULL at the end; its
 * value is owned by the caller, NULL when out of memory. */
const char *aw_listeners_variable(
	const struct aw_listeners *listeners, size_t i, char **ret_value);

#endif
