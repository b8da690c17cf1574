/* SPDX-License-Identifier: Apache-2.0 */
/* listeners.c - a session's proxy and its forwarded ports, from start to end. */
#include "supervisor/net/listeners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/net/egress/egress.h"
#include "supervisor/util/cleanup.h"

static const char *environment(const char *name)
{
	return getenv(name);
}

int aw_listeners_reserve(struct aw_listeners *listeners, const struct aw_policy *policy,
	struct aw_error *err)
{
	if (!policy->network.proxy || policy->mode != AW_ENFORCE)
		return 0;
	if (aw_upstreams_read(environment, &listeners->upstreams, err) < 0)
		return -1;
	listeners->told = policy->network.proxy == AW_PROXY_ENVIRONMENT;
	return aw_proxy_reserve(&listeners->reserved, &listeners->proxy_port, err);
}

int aw_listeners_open(struct aw_listeners *listeners, const struct aw_policy *policy,
	bool own_network, struct aw_error *err)
{
	listeners->network = &policy->network;
	if (!policy->network.forward_count)
		return 0;
	return aw_forwards_open(
		&policy->network, !own_network, &listeners->forwards, err);
}

void aw_listeners_give_up(struct aw_listeners *listeners)
{
	if (listeners->proxy_port)
		aw_cleanup_close(&listeners->reserved);
	listeners->proxy_port = 0;
	aw_forwards_close(&listeners->forwards);
}

static void say_forwards(const struct aw_listeners *listeners,
	void (*say)(void *ctx, const char *sentence), void *ctx)
{
	char text[256];

	for (size_t i = 0; i < listeners->forwards.count; i++) {
		const struct aw_forwarded *f = &listeners->forwards.items[i];

		snprintf(text, sizeof(text),
			f->fd < 0 ? "port %u inside is port %s outside: the command is "
				    "in the same network"
				  : "port %u inside is reachable at %s",
			(unsigned)f->inside, f->place);
		say(ctx, text);
	}
}

/* One relay for all of a session, whoever was first to need it. */
static int find_relay(struct aw_listeners *listeners, struct aw_egress *traffic,
	struct aw_relay **ret, struct aw_error *err)
{
	*ret = traffic ? atomic_load(&traffic->relay) : NULL;
	if (*ret)
		return 0;
	if (aw_relay_create(ret, err) < 0)
		return -1;
	if (traffic)
		atomic_store(&traffic->relay, *ret);
	else
		listeners->relay = *ret;
	return 0;
}

static int start_proxy(struct aw_listeners *listeners, struct aw_watch *watch,
	struct aw_relay *relay, struct aw_error *err)
{
	const struct aw_proxy_params params = {.watch = watch,
		.relay = relay,
		.reserved = listeners->reserved,
		.port = listeners->proxy_port,
		.upstreams = &listeners->upstreams,
		.network = listeners->network};

	return aw_proxy_start(&params, &listeners->proxy, err);
}

int aw_listeners_start(struct aw_listeners *listeners, struct aw_watch *watch,
	void (*say)(void *ctx, const char *sentence), void *ctx, struct aw_error *err)
{
	struct aw_relay *relay;
	char text[128];

	if (listeners->network->proxy && !listeners->proxy_port)
		say(ctx, "network.proxy has no effect in mode audit, which changes "
			 "nothing of what the command sees");
	if (!listeners->proxy_port && !listeners->forwards.count)
		return 0;
	if (find_relay(listeners, watch->traffic, &relay, err) < 0)
		return -1;
	if (listeners->proxy_port) {
		if (start_proxy(listeners, watch, relay, err) < 0)
			return -1;
		snprintf(text, sizeof(text),
			"a proxy for HTTP and SOCKS 5 listens inside on 127.0.0.1:%u",
			(unsigned)listeners->proxy_port);
		say(ctx, text);
	}
	if (!listeners->forwards.count)
		return 0;
	if (watch->own_network && !watch->netns) {
		say(ctx, "network.forward has no effect: the sandbox's network cannot "
			 "be entered here");
		return 0;
	}
	if (aw_forwards_start(&listeners->forwards, watch, relay, err) < 0)
		return -1;
	say_forwards(listeners, say, ctx);
	return 0;
}

void aw_listeners_stop(struct aw_listeners *listeners)
{
	aw_proxy_stop(listeners->proxy);
	listeners->proxy = NULL;
	aw_listeners_give_up(listeners);
	aw_relay_free(listeners->relay);
	listeners->relay = NULL;
	aw_upstreams_free(&listeners->upstreams);
}

char *aw_listeners_proxy_text(const struct aw_listeners *listeners)
{
	char *text;

	if (!listeners->proxy_port ||
		asprintf(&text, "127.0.0.1:%u", (unsigned)listeners->proxy_port) < 0)
		return NULL;
	return text;
}

char *aw_listeners_forward_text(const struct aw_listeners *listeners)
{
	return listeners->forwards.count ? aw_forwards_text(&listeners->forwards)
					 : NULL;
}

/*
 * An http:// URL for all: some libraries fail when one begins with socks5, and take
 * ALL_PROXY whether they need it or not.
 */
const char *aw_listeners_variable(
	const struct aw_listeners *listeners, size_t i, char **ret_value)
{
	static const char *const names[] = {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY",
		"https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"};
	enum { URLS = 6 };

	if (!listeners->told || i >= ARRAY_SIZE(names))
		return NULL;
	if (i >= URLS)
		*ret_value = strdup("localhost,127.0.0.1,::1");
	else if (asprintf(ret_value, "http://127.0.0.1:%u",
			 (unsigned)listeners->proxy_port) < 0)
		*ret_value = NULL;
	return names[i];
}
