/* SPDX-License-Identifier: Apache-2.0 */
/* destination.c - addresses as a policy has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/port_net.h"
#include "policy/private.h"
#include "supervisor/learn/learner.h"

enum { PICKED_LEAST = 32768, QUOTED = 2 * 4096 };

/* Ports from here on are picked by the system, and other ones the next time. */
#define PICKED "32768-65535"

struct aw_name_maker aw_name_maker_of(
	const struct aw_learner *learner, const struct aw_seen *seen)
{
	const char *name = strrchr(seen->exe, '/'), *user = learner->variables->user;

	/* a directory named root is seldom that of the user */
	if (user && strcmp(user, "root") == 0)
		user = NULL;

	return (struct aw_name_maker){
		seen->pid, name && strncmp(name, "/python", 7) == 0, user};
}

char *aw_destination_path(
	const struct aw_learner *learner, const char *path, struct aw_name_maker maker)
{
	const struct aw_path_variables *anchors = &learner->sieve.anchors;
	const char *rest;
	size_t anchor = aw_path_variable_of(anchors, path, &rest), used = 0;
	const char *name = anchors->items[anchor].name;
	char out[QUOTED + AW_COMPONENT_SIZE] = "", above[4200] = "";
	const char *start = rest;

	while (*rest && used < QUOTED) {
		size_t len = strcspn(rest, "/");

		out[used++] = '/';
		aw_component_of_path(start, rest, len, name[0] == '\0',
			aw_root_is_temporary(name, above), maker, out + used);
		used += strlen(out + used);
		snprintf(
			above, sizeof(above), "%.*s", (int)(rest + len - start), start);
		rest += len + (rest[len] == '/');
	}
	return aw_learn_text("%s%s", name, used || name[0] ? out : "/");
}

static char *unix_text(const struct aw_learner *learner, const struct aw_seen *seen)
{
	const char *path = seen->address.path, *agent = getenv("SSH_AUTH_SOCK");
	char quoted[AW_COMPONENT_SIZE], *pattern, *text;

	if (path[0] == '@') {
		aw_component_pattern(path + 1, seen->address.path_len - 1, true,
			aw_name_maker_of(learner, seen), quoted);
		return aw_learn_text("unix:@%s", quoted);
	}
	if (agent && strcmp(agent, path) == 0 &&
		learner->params.for_whom != AW_LEARN_WORKSPACE)
		return aw_learn_text("unix:$env:SSH_AUTH_SOCK");
	pattern = aw_destination_path(learner, path, aw_name_maker_of(learner, seen));
	text = aw_learn_text("unix:%s", pattern);
	free(pattern);
	return text;
}

/* "host", "host:443"; a port that is not told apart is left to range. */
static char *with_port(const char *host, unsigned port, const char *range)
{
	bool v6 = strchr(host, ':') != NULL;
	char number[16];

	snprintf(number, sizeof(number), "%u", port);
	return aw_learn_text("%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "",
		range ? range : number);
}

static bool is_name_server(const struct aw_learner *learner, const struct aw_seen *seen)
{
	const struct aw_access_need need = {
		.access = AW_GRANT_CONNECT, .action = AW_CONNECT, .path = ""};
	struct aw_decision decision;

	aw_judge(&learner->sieve.dns, seen, &need, &decision);
	return decision.verdict == AW_ALLOW;
}

char *aw_destination_text(
	const struct aw_learner *learner, const struct aw_seen *seen, bool listen)
{
	const struct aw_address *to = &seen->address;
	char text[INET6_ADDRSTRLEN];

	if (to->family == AF_UNIX)
		return unix_text(learner, seen);
	if (to->family != AF_INET && to->family != AF_INET6)
		return aw_learn_text("family %d", to->family);
	if (aw_address_is_loopback(to))
		return with_port("localhost", to->port,
			to->port >= PICKED_LEAST ? PICKED : NULL);
	if (listen && aw_address_is_any(to))
		return with_port("*", to->port, NULL);
	if (!listen && to->host && aw_host_is_plain(to->host))
		return with_port(to->host, to->port, NULL);
	if (!listen && is_name_server(learner, seen))
		return aw_learn_text("$NAMESERVERS:53");
	inet_ntop(to->family, to->bytes, text, sizeof(text));
	return with_port(text, to->port, NULL);
}

static bool is_local_port(const struct aw_destination *d, bool listen)
{
	return d->listen == listen && strncmp(d->text, "localhost:", 10) == 0;
}

void aw_destinations_generalize(struct aw_learner *learner)
{
	for (int listen = 0; listen < 2; listen++) {
		struct aw_destination *d, *next, *first = NULL;
		unsigned ports = 0;

		HASH_ITER(hh, learner->destinations, d, next)
		ports += is_local_port(d, listen);
		if (ports < learner->params.siblings)
			continue;
		HASH_ITER(hh, learner->destinations, d, next)
		{
			if (!is_local_port(d, listen))
				continue;
			if (!first) {
				first = d;
				continue;
			}
			aw_counter_join(&first->tally, &d->tally);
			HASH_DEL(learner->destinations, d);
			free(d->text);
			free(d);
		}
		if (!first)
			continue;
		free(first->text);
		first->text = aw_learn_text("localhost:*");
	}
}
