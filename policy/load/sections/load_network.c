/* SPDX-License-Identifier: Apache-2.0 */
/* load_network.c - what `network` says besides its lists: for all of a session. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"
#include "policy/port_net.h"

enum { FORWARDS_MAX = 64, PRIVATE_NAMES_MAX = 1000 };

static const char *const switch_words[] = {"false", "true", NULL};
static const char *const proxy_words[] = {"none", "listen", "environment", NULL};
static const char *const refusal_words[] = {"EACCES", "ECONNREFUSED", NULL};

const struct aw_shape aw_proxy_shape = {.kind = AW_SHAPE_WORD, .words = proxy_words};
const struct aw_shape aw_refusal_shape = {
	.kind = AW_SHAPE_WORD, .words = refusal_words};
const struct aw_shape aw_forwards_shape = {.kind = AW_SHAPE_LIST,
	.entry = "PORT, OUTSIDE:INSIDE or ADDRESS:OUTSIDE:INSIDE"};
const struct aw_shape aw_host_names_shape = {
	.kind = AW_SHAPE_LIST, .entry = "host names, `*.` in front for all below"};

/* Indexed by enum aw_network_key; a bit each in `network_fixed`. */
static const char *const names[] = {[AW_NETWORK_MATCH_SNI] = "match_sni",
	[AW_NETWORK_PROXY] = "proxy",
	[AW_NETWORK_REFUSAL] = "refusal",
	[AW_NETWORK_FORWARD] = "forward",
	[AW_NETWORK_PRIVATE] = "private_names"};

/* Does this file settle the key?  Behind the system policy no other does. */
static bool may_say(struct aw_loader *l, const struct aw_node *value, int key)
{
	unsigned bit = 1u << key;

	if (l->profile) {
		aw_report(l, value,
			"'%s' has no place in a profile: it is about the whole session",
			names[key]);
		return false;
	}
	if (l->source->trust == AW_SYSTEM)
		l->network_fixed |= bit;
	else if (l->network_fixed & bit) {
		aw_warn(l, value,
			"'network.%s' is ignored: the system policy has settled it",
			names[key]);
		return false;
	}
	return true;
}

/* Under the name that aw_policy_print() asks for. */
static void keep_origin(
	struct aw_loader *l, const struct aw_node *at, int key, const char *value)
{
	char full[64];

	snprintf(full, sizeof(full), "network.%s", names[key]);
	aw_origin_add(l, at, full, value);
}

void aw_match_sni_read(struct aw_loader *l, const struct aw_node *value, int key)
{
	int word = aw_word_read(l, value, switch_words);

	if (word < 0)
		return;
	if (l->source->trust == AW_UNTRUSTED && !word && l->policy.network.match_sni) {
		aw_warn(l, value,
			"'network.match_sni: false' is ignored: this file is not trusted");
		return;
	}
	if (l->source->trust == AW_UNTRUSTED && word && !l->profile) {
		l->match_sni = true; /* whatever a later file says */
	} else if (!may_say(l, value, key)) {
		return;
	}
	l->policy.network.match_sni = word || l->match_sni;
	keep_origin(l, value, key, switch_words[word]);
}

void aw_proxy_read(struct aw_loader *l, const struct aw_node *value, int key)
{
	int word = aw_word_read(l, value, proxy_words);

	if (word < 0 || !may_say(l, value, key))
		return;
	l->policy.network.proxy = (enum aw_proxy)word;
	keep_origin(l, value, key, proxy_words[word]);
}

void aw_refusal_read(struct aw_loader *l, const struct aw_node *value, int key)
{
	int word = aw_word_read(l, value, refusal_words);

	if (word < 0 || !may_say(l, value, key))
		return;
	l->policy.network.refusal = word ? ECONNREFUSED : EACCES;
	keep_origin(l, value, key, refusal_words[word]);
}

const char *aw_network_word(const struct aw_policy *policy, enum aw_network_key key)
{
	const struct aw_network *n = &policy->network;

	switch (key) {
	case AW_NETWORK_MATCH_SNI:
		return n->match_sni ? "true" : NULL;
	case AW_NETWORK_PROXY:
		return n->proxy ? proxy_words[n->proxy] : NULL;
	case AW_NETWORK_REFUSAL:
		return n->refusal == ECONNREFUSED ? "ECONNREFUSED" : NULL;
	default:
		return NULL;
	}
}

const char *aw_network_key_name(enum aw_network_key key)
{
	return names[key];
}

/* An entry of a list: false, after an error, when it is no text. */
static bool is_text(struct aw_loader *l, const struct aw_node *at)
{
	if (at->kind == AW_NODE_TEXT && at->text[0])
		return true;
	aw_report(l, at, "expected a text, not %s",
		at->kind == AW_NODE_TEXT ? "nothing" : "a list or map");
	return false;
}

/* --- forward --- */

/* A port, all of text; from `least` on. */
static bool read_port(const char *text, unsigned least, uint16_t *ret)
{
	size_t len = strlen(text);
	unsigned long n;

	if (len == 0 || len > 5 || text[strspn(text, "0123456789")])
		return false;
	n = strtoul(text, NULL, 10);
	*ret = (uint16_t)n;
	return n >= least && n <= UINT16_MAX;
}

/* "127.0.0.1" or "[::1]", taken apart in place. */
static bool read_outside(char *text, unsigned char bytes[16])
{
	size_t len = strlen(text);

	memset(bytes, 0, 10);
	bytes[10] = bytes[11] = 0xff;
	if (inet_pton(AF_INET, text, bytes + 12) == 1)
		return true;
	if (text[0] != '[' || text[len - 1] != ']')
		return false;
	text[len - 1] = '\0';
	return inet_pton(AF_INET6, text + 1, bytes) == 1;
}

static bool take_apart(char *text, struct aw_forward *ret)
{
	char home[] = "127.0.0.1", *inside = strrchr(text, ':'), *outside;

	if (!inside)
		return read_outside(home, ret->address) &&
		       read_port(text, 1, &ret->inside) &&
		       read_port(text, 1, &ret->outside);
	*inside++ = '\0';
	outside = strrchr(text, ':');
	if (outside)
		*outside++ = '\0';
	else
		outside = text;
	return read_outside(outside == text ? home : text, ret->address) &&
	       read_port(outside, 0, &ret->outside) &&
	       read_port(inside, 1, &ret->inside);
}

static void add_forward(struct aw_loader *l, const struct aw_node *at, int key)
{
	struct aw_network *n = &l->policy.network;
	struct aw_forward made = {.inside = 0}, *grown;
	char *text = aw_copy(l, at->text);
	bool good;

	if (!text)
		return;
	good = take_apart(text, &made);
	free(text);
	if (!good) {
		aw_report(l, at,
			"'%.60s' is not a port to forward; expected a port inside such "
			"as 3000, OUTSIDE:INSIDE or ADDRESS:OUTSIDE:INSIDE",
			at->text);
		return;
	}
	for (size_t i = 0; i < n->forward_count; i++)
		if (strcmp(n->forwards[i].text, at->text) == 0)
			return;
	if (n->forward_count == FORWARDS_MAX) {
		aw_report(l, at, "more than %d forwarded ports", FORWARDS_MAX);
		return;
	}
	grown = realloc(n->forwards, (n->forward_count + 1) * sizeof(*grown));
	if (!grown) {
		l->failed = true;
		return;
	}
	n->forwards = grown;
	made.text = aw_copy(l, at->text);
	if (!made.text)
		return;
	grown[n->forward_count++] = made;
	keep_origin(l, at, key, at->text);
}

void aw_forwards_read(struct aw_loader *l, const struct aw_node *value, int key)
{
	if (!may_say(l, value, key) || !aw_list_check(l, value))
		return;
	for (size_t i = 0; i < value->count; i++)
		if (is_text(l, value->items[i]))
			add_forward(l, value->items[i], key);
}

/* --- private_names --- */

static void add_private(struct aw_loader *l, const struct aw_node *at, int key)
{
	struct aw_variable_names *n = &l->policy.network.private_names;
	char **grown, *name = aw_host_pattern_read(l, at);

	if (!name)
		return;
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(n->items[i], name) == 0) {
			free(name);
			return;
		}
	if (n->count == PRIVATE_NAMES_MAX) {
		aw_report(l, at, "more than %d private names", PRIVATE_NAMES_MAX);
		free(name);
		return;
	}
	grown = realloc(n->items, (n->count + 1) * sizeof(*grown));
	if (!grown) {
		l->failed = true;
		free(name);
		return;
	}
	n->items = grown;
	grown[n->count++] = name;
	keep_origin(l, at, key, name);
}

void aw_private_names_read(struct aw_loader *l, const struct aw_node *value, int key)
{
	if (!may_say(l, value, key) || !aw_list_check(l, value))
		return;
	for (size_t i = 0; i < value->count; i++)
		if (is_text(l, value->items[i]))
			add_private(l, value->items[i], key);
}

/* --- the end --- */

static void forget_forwards(struct aw_network *n)
{
	for (size_t i = 0; i < n->forward_count; i++)
		free(n->forwards[i].text);
	free(n->forwards);
	n->forwards = NULL;
	n->forward_count = 0;
}

void aw_network_drop(struct aw_loader *l)
{
	struct aw_network *n = &l->policy.network;

	if (!(l->network_fixed & 1u << AW_NETWORK_MATCH_SNI))
		n->match_sni = l->match_sni = false;
	if (!(l->network_fixed & 1u << AW_NETWORK_PROXY))
		n->proxy = AW_PROXY_NONE;
	if (!(l->network_fixed & 1u << AW_NETWORK_REFUSAL))
		n->refusal = EACCES;
	if (!(l->network_fixed & 1u << AW_NETWORK_FORWARD))
		forget_forwards(n);
	if (!(l->network_fixed & 1u << AW_NETWORK_PRIVATE))
		aw_variable_names_free(&n->private_names);
}

void aw_network_release(struct aw_network *network)
{
	forget_forwards(network);
	aw_variable_names_free(&network->private_names);
}
