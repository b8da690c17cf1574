/* SPDX-License-Identifier: Apache-2.0 */
/* load_net.c - entries of network lists: names, addresses, ports, Unix sockets. */
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "policy/glob.h"
#include "policy/load/load_internal.h"
#include "policy/port_net.h"

#define HOST_MAX 253
#define LABEL_MAX 63

struct item {
	struct aw_loader *l;
	const struct aw_node *at;
	struct aw_draft_entry *entry;
	unsigned low, high;
};

void aw_net_add(struct aw_loader *l, struct aw_draft_entry *entry,
	enum aw_net_kind kind, unsigned prefix, const void *key, size_t len,
	unsigned low, unsigned high)
{
	struct aw_draft_net *nets =
		realloc(entry->nets, (entry->net_count + 1) * sizeof(*nets));

	if (!nets) {
		l->failed = true;
		return;
	}
	entry->nets = nets;
	nets += entry->net_count++;
	memset(nets, 0, sizeof(*nets));
	nets->kind = kind;
	nets->prefix = prefix;
	memcpy(nets->key, key, len);
	nets->key_len = len;
	nets->port_low = low;
	nets->port_high = high;
}

static void add_net(struct item *i, enum aw_net_kind kind, unsigned prefix,
	const void *key, size_t len)
{
	aw_net_add(i->l, i->entry, kind, prefix, key, len, i->low, i->high);
}

/* A decimal number up to max, all of text; -1 when it is not one. */
static long read_number(const char *text, size_t len, long max)
{
	long n = 0;
	size_t i;

	if (len == 0 || len > 5)
		return -1;
	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		n = 10 * n + (text[i] - '0');
	}
	return n <= max ? n : -1;
}

static bool read_port(struct item *i, const char *text)
{
	size_t dash = strcspn(text, "-");
	long low, high;

	i->low = 0;
	i->high = UINT16_MAX;
	if (strcmp(text, "*") == 0)
		return true;
	low = high = read_number(text, dash, UINT16_MAX);
	if (text[dash])
		high = read_number(
			text + dash + 1, strlen(text + dash + 1), UINT16_MAX);
	if (low < 0 || high < 0) {
		aw_report(i->l, i->at,
			"'%.60s' is not a port; expected a number up to 65535, a range "
			"such as 8000-8100, or '*'",
			text);
		return false;
	}
	if (low > high) {
		aw_report(i->l, i->at, "the range of ports '%.60s' is empty", text);
		return false;
	}
	i->low = (unsigned)low;
	i->high = (unsigned)high;
	return true;
}

static bool clear_below(unsigned char *bytes, size_t size, unsigned prefix)
{
	bool changed = false;
	size_t bit;

	for (bit = prefix; bit < 8 * size; bit++) {
		unsigned char flag = (unsigned char)(0x80 >> (bit % 8));

		changed |= (bytes[bit / 8] & flag) != 0;
		bytes[bit / 8] &= (unsigned char)~flag;
	}
	return changed;
}

/* text is an address without brackets, perhaps with "/prefix" (else in prefix_text). */
static void read_address(
	struct item *i, int family, char *text, const char *prefix_text)
{
	static const unsigned char mapped[12] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	unsigned char bytes[16];
	char *slash = strchr(text, '/'), shown[INET6_ADDRSTRLEN];
	size_t size = family == AF_INET ? 4 : 16;
	long prefix = 8 * (long)size;

	if (slash) {
		*slash = '\0';
		prefix_text = slash + 1;
	}
	if (inet_pton(family, text, bytes) != 1 &&
		text[strspn(text, "0123456789")] == '\0') {
		aw_report(i->l, i->at,
			"'%.60s' is not an address; a port of any host is written '*:%.60s'",
			text, text);
		return;
	}
	if (inet_pton(family, text, bytes) != 1) {
		aw_report(i->l, i->at, "'%.60s' is not an address", text);
		return;
	}
	if (prefix_text)
		prefix = read_number(prefix_text, strlen(prefix_text), 8 * (long)size);
	if (prefix < 0) {
		aw_report(i->l, i->at,
			"'/%.20s' is not a prefix length; expected 0 to %zu",
			prefix_text, 8 * size);
		return;
	}
	if (clear_below(bytes, size, (unsigned)prefix)) {
		aw_report(i->l, i->at,
			"the address has bits beyond its prefix; did you mean '%s/%ld'?",
			inet_ntop(family, bytes, shown, sizeof(shown)), prefix);
		return;
	}
	if (family == AF_INET)
		add_net(i, AW_NET_IPV4, (unsigned)prefix, bytes, 4);
	else if (prefix >= 96 && memcmp(bytes, mapped, sizeof(mapped)) == 0)
		add_net(i, AW_NET_IPV4, (unsigned)prefix - 96, bytes + 12, 4);
	else
		add_net(i, AW_NET_IPV6, (unsigned)prefix, bytes, 16);
}

static bool good_label(const char *label, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		char c = label[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
			    c == '_'))
			return false;
	}
	return len > 0 && len <= LABEL_MAX;
}

static bool good_name(const char *name)
{
	size_t len;

	if (strlen(name) > HOST_MAX)
		return false;
	for (;; name += len + 1) {
		len = strcspn(name, ".");
		if (!good_label(name, len))
			return false;
		if (name[len] == '\0')
			return true;
	}
}

static void read_name(struct item *i, char *name)
{
	static const unsigned char home4[4] = {127, 0, 0, 0};
	static const unsigned char home6[16] = {[15] = 1};
	bool below = strncmp(name, "*.", 2) == 0;
	size_t len = strlen(name), n;

	for (n = 0; n < len; n++)
		if (name[n] >= 'A' && name[n] <= 'Z')
			name[n] = (char)(name[n] - 'A' + 'a');
	if (len > 1 && name[len - 1] == '.')
		name[--len] = '\0';
	if (strcmp(name, "*") == 0) {
		add_net(i, AW_NET_ANY, 0, "", 0);
		return;
	}
	if (below)
		name += 2;
	if (strchr(name, '*')) {
		aw_report(i->l, i->at,
			"'*' in a host name is either all of it or '*.' at its start; "
			"a network is written such as 10.0.0.0/8");
		return;
	}
	if (!good_name(name)) {
		aw_report(i->l, i->at, "'%.100s' is not a host name or address%s", name,
			strchr(name, '/') && !(name[0] >= '0' && name[0] <= '9')
				? "; write it without a path"
				: "");
		return;
	}
	add_net(i, below ? AW_NET_BELOW : AW_NET_HOST, 0, name, strlen(name));
	if (!below && strcmp(name, "localhost") == 0) {
		add_net(i, AW_NET_IPV4, 8, home4, 4);
		add_net(i, AW_NET_IPV6, 128, home6, 16);
	}
}

char *aw_host_pattern_read(struct aw_loader *l, const struct aw_node *at)
{
	char *copy = aw_copy(l, at->text), *name = copy;

	if (!copy)
		return NULL;
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			*name = (char)(*name - 'A' + 'a');
	if (name - copy > 1 && name[-1] == '.')
		name[-1] = '\0';
	if (good_name(strncmp(copy, "*.", 2) == 0 ? copy + 2 : copy))
		return copy;
	aw_report(l, at,
		"'%.100s' is not a host name; '*.' may stand at its start, for all below it",
		at->text);
	free(copy);
	return NULL;
}

/* "[address]", "[address/prefix]" or "[address]/prefix", then perhaps a port. */
static void read_brackets(struct item *i, char *text)
{
	char *end = strchr(text, ']'), *prefix = NULL, *port;

	if (!end) {
		aw_report(i->l, i->at, "a '[' that is never closed in '%.100s'", text);
		return;
	}
	*end++ = '\0';
	if (*end == '/') {
		*end++ = '\0';
		prefix = end;
		end += strspn(end, "0123456789");
	}
	port = *end == ':' ? end + 1 : NULL;
	if (*end && !port) {
		aw_report(i->l, i->at, "expected ':' and a port, not '%.60s'", end);
		return;
	}
	if (port && !read_port(i, port))
		return;
	*end = '\0';
	read_address(i, AF_INET6, text + 1, prefix);
}

/*
 * "scheme://user@host:port/path" means host and port: what stands before and behind is
 * cut off.  The port of the scheme goes to *ret_port.  NULL after an error.
 */
static char *read_url(struct item *i, char *text, char *rest, unsigned *ret_port)
{
	static const struct {
		const char *scheme;
		unsigned port;
	} schemes[] = {{"http", 80}, {"https", 443}, {"ws", 80}, {"wss", 443},
		{"socks", 1080}, {"socks4", 1080}, {"socks5", 1080}, {"socks5h", 1080},
		{"tcp", 2375}}; /* as DOCKER_HOST has it */
	char *at;
	size_t n;

	*rest = '\0';
	for (n = 0; n < ARRAY_SIZE(schemes); n++)
		if (strcasecmp(text, schemes[n].scheme) == 0)
			break;
	if (n == ARRAY_SIZE(schemes)) {
		aw_report(i->l, i->at,
			"a URL that begins with '%.20s://'; expected http, https, ws, wss or "
			"socks5, or just a host and a port, such as example.com:443",
			text);
		return NULL;
	}
	*ret_port = schemes[n].port;
	rest += 3;
	rest[strcspn(rest, "/?#")] = '\0';
	at = strrchr(rest, '@');
	return at ? at + 1 : rest;
}

/* "$NAMESERVERS", perhaps with a port; 53 without one. */
static bool read_name_servers(struct item *i, char *text)
{
	static const char word[] = "$NAMESERVERS";
	size_t len = sizeof(word) - 1;

	if (strncmp(text, word, len) != 0 || (text[len] && text[len] != ':'))
		return false;
	i->low = i->high = 53;
	if (!text[len] || read_port(i, text + len + 1))
		aw_name_servers_add(i->l, i->entry, i->low, i->high);
	return true;
}

static void read_internet(struct item *i, char *text)
{
	char *colon = strstr(text, "://");
	unsigned port = 0;

	if (colon) {
		text = read_url(i, text, colon, &port);
		if (!text)
			return;
		i->low = i->high = port;
	}
	colon = strchr(text, ':');
	if (text[0] == '[') {
		read_brackets(i, text);
		return;
	}
	if (colon && strchr(colon + 1, ':')) {
		read_address(i, AF_INET6, text, NULL);
		return;
	}
	if (colon) {
		*colon = '\0';
		if (!read_port(i, colon + 1))
			return;
	}
	if (text[0] && text[strspn(text, "0123456789./")] == '\0')
		read_address(i, AF_INET, text, NULL);
	else
		read_name(i, text);
}

static void read_abstract(struct item *i, char *name)
{
	size_t len = strlen(name), from, to = 0;

	if (len > sizeof(i->entry->nets->key)) {
		aw_report(i->l, i->at, "an abstract name of more than 256 bytes");
		return;
	}
	if (!aw_glob_check(i->l, i->at, name, len))
		return;
	if (!aw_glob_literal(name, len)) {
		add_net(i, AW_NET_ABSTRACT_GLOB, 0, name, len);
		return;
	}
	for (from = 0; from < len; from++) {
		if (name[from] == '\\')
			from++;
		name[to++] = name[from];
	}
	add_net(i, AW_NET_ABSTRACT, 0, name, to);
}

/* An agent's socket that does not exist in this session is no mistake in the policy. */
static bool names_unset(struct item *i, const char *text)
{
	const char *name = strncmp(text, "$env:", 5) == 0    ? text + 5
			   : strncmp(text, "${env:", 6) == 0 ? text + 6
							     : NULL;
	size_t len;

	if (!name || i->l->source->trust == AW_UNTRUSTED)
		return false;
	len = strcspn(name, "/}");
	if (len == 0 || aw_environment(name, len))
		return false;
	aw_warn(i->l, i->at, "the environment has no '%.*s': the entry matches nothing",
		(int)len, name);
	return true;
}

static void read_unix(struct item *i, const char *text)
{
	char *expanded;

	if (!text[0]) {
		aw_report(i->l, i->at, "'unix:' without a path or '@name'");
		return;
	}
	if (names_unset(i, text))
		return;
	expanded = aw_expand(i->l, i->at, text, AW_EXPAND_PATTERN);
	if (!expanded)
		return;
	if (expanded[0] == '@')
		read_abstract(i, expanded + 1);
	else
		i->entry->pattern = aw_pattern_read(i->l, i->at, text);
	free(expanded);
}

/* What a variable says may be a socket, as in DOCKER_HOST: unix:///run/docker.sock */
static bool read_socket_url(struct item *i, const char *text, const char *value)
{
	char *pattern;

	if (strncmp(value, "unix:/", 6) != 0)
		return false;
	pattern = aw_expand(i->l, i->at, text, AW_EXPAND_PATTERN);
	if (pattern)
		i->entry->pattern = aw_pattern_read(i->l, i->at, pattern + 5);
	free(pattern);
	return true;
}

void aw_net_parse(struct aw_loader *l, const struct aw_node *at,
	struct aw_draft_entry *entry, const char *text)
{
	struct item i = {.l = l, .at = at, .entry = entry, .high = UINT16_MAX};
	char *copy;

	if (strncmp(text, "unix:", 5) == 0) {
		read_unix(&i, text + 5);
		return;
	}
	copy = aw_copy(l, text);
	if (!copy || read_name_servers(&i, copy)) {
		free(copy);
		return;
	}
	if (strchr(copy, '$')) {
		free(copy);
		copy = aw_expand(l, at, text, AW_EXPAND_PLAIN);
	}
	if (copy && !read_socket_url(&i, text, copy))
		read_internet(&i, copy);
	free(copy);
}

void aw_net_list_read(struct aw_loader *l, const struct aw_node *value, int list)
{
	struct aw_draft_entry *entry;
	const char *text;
	size_t i;

	if (!aw_list_check(l, value))
		return;
	if (list == AW_LIST_NET_LISTEN && !aw_is_preset(l->source))
		l->draft.strata[l->stratum].listen = 1;
	for (i = 0; i < value->count; i++) {
		entry = aw_entry_add(l, value->items[i], (enum aw_list)list, &text);
		if (!entry)
			continue;
		l->lenient = aw_preset_borrows(l, text);
		aw_net_parse(l, value->items[i], entry, text);
		if (l->lenient && !entry->net_count && !entry->pattern)
			aw_entry_drop(l);
		l->lenient = false;
	}
}
