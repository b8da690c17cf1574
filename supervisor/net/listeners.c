/* SPDX-License-Identifier: Apache-2.0 */
/* listeners.c - a session's proxy and its forwarded ports, from start to end. */
#include "supervisor/net/listeners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/net/egress/egress.h"
#include "supervisor/util/cleanup.h"

static const char *environment(const char *name)
{
	return getenv(name);
}

int aw_offers_reserve(
	struct aw_offers *offers, const struct aw_policy *policy, struct aw_error *err)
{
	if (!policy->network.proxy || policy->mode != AW_ENFORCE)
		return 0;
	if (aw_upstreams_read(environment, &offers->upstreams, err) < 0)
		return -1;
	offers->told = policy->network.proxy == AW_PROXY_ENVIRONMENT;
	return aw_proxy_reserve(&offers->reserved, &offers->proxy_port, err);
}

int aw_offers_open(struct aw_offers *offers, const struct aw_policy *policy,
	bool own_network, struct aw_error *err)
{
	offers->network = &policy->network;
	if (!policy->network.forward_count)
		return 0;
	return aw_forwards_open(&policy->network, !own_network, &offers->forwards, err);
}

void aw_offers_give_up(struct aw_offers *offers)
{
	if (offers->proxy_port)
		aw_cleanup_close(&offers->reserved);
	offers->proxy_port = 0;
	aw_forwards_close(&offers->forwards);
}

static void say_forwards(const struct aw_offers *offers,
	void (*say)(void *ctx, const char *sentence), void *ctx)
{
	char text[256];

	for (size_t i = 0; i < offers->forwards.count; i++) {
		const struct aw_forwarded *f = &offers->forwards.items[i];

		snprintf(text, sizeof(text),
			f->fd < 0 ? "port %u inside is port %s outside: the command is "
				    "in the same network"
				  : "port %u inside is reachable at %s",
			(unsigned)f->inside, f->place);
		say(ctx, text);
	}
}

/* One relay for all of a session, whoever was first to need it. */
static int find_relay(struct aw_offers *offers, struct aw_traffic *traffic,
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
		offers->relay = *ret;
	return 0;
}

static int start_proxy(struct aw_offers *offers, struct aw_watch *watch,
	struct aw_relay *relay, struct aw_error *err)
{
	const struct aw_proxy_wish wish = {.watch = watch,
		.relay = relay,
		.reserved = offers->reserved,
		.port = offers->proxy_port,
		.upstreams = &offers->upstreams,
		.network = offers->network};

	return aw_proxy_start(&wish, &offers->proxy, err);
}

int aw_offers_start(struct aw_offers *offers, struct aw_watch *watch,
	void (*say)(void *ctx, const char *sentence), void *ctx, struct aw_error *err)
{
	struct aw_relay *relay;
	char text[128];

	if (offers->network->proxy && !offers->proxy_port)
		say(ctx, "network.proxy has no effect in mode audit, which changes "
			 "nothing of what the command sees");
	if (!offers->proxy_port && !offers->forwards.count)
		return 0;
	if (find_relay(offers, watch->traffic, &relay, err) < 0)
		return -1;
	if (offers->proxy_port) {
		if (start_proxy(offers, watch, relay, err) < 0)
			return -1;
		snprintf(text, sizeof(text),
			"a proxy for HTTP and SOCKS 5 listens inside on 127.0.0.1:%u",
			(unsigned)offers->proxy_port);
		say(ctx, text);
	}
	if (!offers->forwards.count)
		return 0;
	if (watch->own_network && !watch->inner) {
		say(ctx, "network.forward has no effect: the wall's network cannot be "
			 "entered here");
		return 0;
	}
	if (aw_forwards_start(&offers->forwards, watch, relay, err) < 0)
		return -1;
	say_forwards(offers, say, ctx);
	return 0;
}

void aw_offers_stop(struct aw_offers *offers)
{
	aw_proxy_stop(offers->proxy);
	offers->proxy = NULL;
	aw_offers_give_up(offers);
	aw_relay_free(offers->relay);
	offers->relay = NULL;
	aw_upstreams_free(&offers->upstreams);
}

char *aw_offers_proxy_text(const struct aw_offers *offers)
{
	char *text;

	if (!offers->proxy_port ||
		asprintf(&text, "127.0.0.1:%u", (unsigned)offers->proxy_port) < 0)
		return NULL;
	return text;
}

char *aw_offers_forward_text(const struct aw_offers *offers)
{
	return offers->forwards.count ? aw_forwards_text(&offers->forwards) : NULL;
}

/*
 * An http:// URL for all: some libraries fail when one begins with socks5, and take
 * ALL_PROXY whether they need it or not.
 */
const char *aw_offers_variable(
	const struct aw_offers *offers, size_t i, char **ret_value)
{
	static const char *const names[] = {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY",
		"https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"};
	enum { URLS = 6 };

	if (!offers->told || i >= sizeof(names) / sizeof(*names))
		return NULL;
	if (i >= URLS)
		*ret_value = strdup("localhost,127.0.0.1,::1");
	else if (asprintf(ret_value, "http://127.0.0.1:%u",
			 (unsigned)offers->proxy_port) < 0)
		*ret_value = NULL;
	return names[i];
}
