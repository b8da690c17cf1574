/* SPDX-License-Identifier: Apache-2.0 */
/* upstream.c - HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY. */
#include "supervisor/net/proxy/upstream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "policy/array.h"

/* --- what a URL says --- */

static const struct scheme {
	const char *name;
	enum aw_upstream_kind kind;
	bool looks_up;
	uint16_t port;
} schemes[] = {
	{"http", AW_UPSTREAM_HTTP, true, 80},
	{"socks5", AW_UPSTREAM_SOCKS, false, 1080},
	{"socks5h", AW_UPSTREAM_SOCKS, true, 1080},
	{"socks", AW_UPSTREAM_SOCKS, true, 1080},
};

static const struct scheme *find_scheme(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (strlen(schemes[i].name) == len &&
			strncasecmp(schemes[i].name, name, len) == 0)
			return &schemes[i];
	return NULL;
}

static int digit_of(char c)
{
	const char *digits = "0123456789abcdef", *at;

	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Undo %NN; false when it does not fit or has no sense. */
static bool unescape(const char *text, size_t len, char to[AW_UPSTREAM_WORD + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++, n++) {
		if (n == AW_UPSTREAM_WORD)
			return false;
		to[n] = text[i];
		if (text[i] != '%')
			continue;
		if (i + 2 >= len || digit_of(text[i + 1]) < 0 ||
			digit_of(text[i + 2]) < 0)
			return false;
		to[n] = (char)(digit_of(text[i + 1]) << 4 | digit_of(text[i + 2]));
		if (!to[n])
			return false;
		i += 2;
	}
	to[n] = '\0';
	return true;
}

/* Base64, RFC 4648. */
static char *put_base64(char *to, const char *text, size_t len)
{
	static const char signs[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 |
			       (i + k < len ? (unsigned char)text[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			*to++ = i + k > len ? '=' : signs[bits >> (18 - 6 * k) & 63];
	}
	return to;
}

static void write_authorization(struct aw_upstream *up)
{
	char both[2 * AW_UPSTREAM_WORD + 2];
	int len = snprintf(both, sizeof(both), "%s:%s", up->user, up->password);
	char *at = up->authorization;

	at += sprintf(at, "Proxy-Authorization: Basic ");
	at = put_base64(at, both, (size_t)len);
	memcpy(at, "\r\n", 3);
}

static bool read_user(struct aw_upstream *up, const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	size_t user = colon ? (size_t)(colon - text) : len;

	if (!unescape(text, user, up->user) ||
		!unescape(colon ? colon + 1 : "", colon ? len - user - 1 : 0,
			up->password) ||
		!up->user[0] || strchr(up->user, ':'))
		return false;
	write_authorization(up);
	return true;
}

/* "scheme://user:password@host:port/"; without a scheme it is http. */
static const char *read_url(const char *url, struct aw_upstream *up)
{
	const char *rest = strstr(url, "://"), *at;
	const struct scheme *scheme =
		rest ? find_scheme(url, (size_t)(rest - url)) : &schemes[0];
	size_t len;

	if (!scheme)
		return "its scheme is none of http, socks5 and socks5h";
	rest = rest ? rest + 3 : url;
	len = strcspn(rest, "/?#");
	if (rest[len] && rest[len + 1])
		return "there is something behind the host and port";
	up->kind = scheme->kind;
	up->looks_up = scheme->looks_up;
	at = memrchr(rest, '@', len);
	if (at && !read_user(up, rest, (size_t)(at - rest)))
		return "the user or password in it cannot be read (user:password@, "
		       "other signs as %NN)";
	if (at) {
		len -= (size_t)(at + 1 - rest);
		rest = at + 1;
	}
	return aw_proxy_authority_read(rest, len, scheme->port, &up->at)
		       ? NULL
		       : "it has no host and port";
}

/* --- the variables --- */

/* The first of these that is set; NULL at the end of the names. */
static const char *first_of(
	aw_upstream_getenv get, const char *const *names, const char **ret_name)
{
	for (; *names; names++) {
		const char *value = get(*names);

		if (value && *value) {
			*ret_name = *names;
			return value;
		}
	}
	return NULL;
}

static int read_one(aw_upstream_getenv get, const char *const *names,
	struct aw_upstream **ret, struct aw_error *err)
{
	const char *name = NULL, *value = first_of(get, names, &name), *mistake;
	struct aw_upstream *up;

	if (!value)
		return 0;
	up = calloc(1, sizeof(*up));
	if (!up)
		return aw_fail(err, ENOMEM, "reading %s", name);
	mistake = read_url(value, up);
	if (mistake) { /* the value may hold a password: it is not shown */
		free(up);
		return aw_fail(err, EINVAL,
			"%s cannot be used as the proxy behind network.proxy: %s; set "
			"it to a URL such as http://proxy.example:3128, or unset it",
			name, mistake);
	}
	*ret = up;
	return 0;
}

int aw_upstreams_read(
	aw_upstream_getenv get, struct aw_upstreams *ret, struct aw_error *err)
{
	static const char *const http[] = {
		"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", NULL};
	static const char *const other[] = {
		"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", NULL};
	static const char *const without[] = {"no_proxy", "NO_PROXY", NULL};
	const char *name, *value = first_of(get, without, &name);
	struct aw_upstreams all = {0};

	if (read_one(get, http, &all.http, err) < 0 ||
		read_one(get, other, &all.other, err) < 0) {
		aw_upstreams_free(&all);
		return -1;
	}
	if (value && !(all.without = strdup(value))) {
		aw_upstreams_free(&all);
		return aw_fail(err, ENOMEM, "reading %s", name);
	}
	*ret = all;
	return 0;
}

void aw_upstreams_free(struct aw_upstreams *all)
{
	free(all->http);
	free(all->other);
	free(all->without);
	*all = (struct aw_upstreams){0};
}

/* --- which one --- */

static bool same_bits(const unsigned char *a, const unsigned char *b, unsigned bits)
{
	unsigned rest = bits % 8;

	return memcmp(a, b, bits / 8) == 0 &&
	       (!rest || (a[bits / 8] ^ b[bits / 8]) >> (8 - rest) == 0);
}

/* "10.0.0.0/8", an address being one of all its bits. */
static bool covers(char *entry, const struct aw_proxy_to *to)
{
	char *slash = strchr(entry, '/'), *end;
	struct aw_proxy_to net;
	unsigned long bits;

	if (slash)
		*slash = '\0';
	if (!to->family || !aw_proxy_host_read(entry, strlen(entry), &net) ||
		net.family != to->family)
		return false;
	bits = net.family == AF_INET ? 32 : 128;
	if (slash) {
		unsigned long said = strtoul(slash + 1, &end, 10);

		if (*end || end == slash + 1 || said > bits)
			return false;
		bits = said;
	}
	return same_bits(net.bytes, to->bytes, (unsigned)bits);
}

/* The name itself, or one below it. */
static bool is_below(const char *name, const char *entry)
{
	size_t len = strlen(name), end = strlen(entry);

	return end && len >= end && strcasecmp(name + len - end, entry) == 0 &&
	       (len == end || name[len - end - 1] == '.');
}

/* One entry of NO_PROXY, taken apart in place. */
static bool excepts(char *entry, const struct aw_proxy_to *to)
{
	char *colon = strrchr(entry, ':');

	if (strcmp(entry, "*") == 0)
		return true;
	if (colon && (strchr(entry, ':') == colon || colon[-1] == ']')) {
		if (strtoul(colon + 1, NULL, 10) != to->port)
			return false;
		*colon = '\0';
	}
	if (covers(entry, to))
		return true;
	entry += strspn(entry, "*.");
	return !to->family && is_below(to->host, entry);
}

static bool is_home(const struct aw_proxy_to *to)
{
	static const unsigned char home[16] = {[15] = 1};

	return to->family == AF_INET	? to->bytes[0] == 127
	       : to->family == AF_INET6 ? memcmp(to->bytes, home, 16) == 0
					: is_below(to->host, "localhost");
}

static bool is_excepted(const char *without, const struct aw_proxy_to *to)
{
	char entry[300];

	for (size_t len; without && *without; without += len) {
		without += strspn(without, ", \t");
		len = strcspn(without, ", \t");
		if (!len || len >= sizeof(entry))
			continue;
		memcpy(entry, without, len);
		entry[len] = '\0';
		if (excepts(entry, to))
			return true;
	}
	return false;
}

const struct aw_upstream *aw_upstream_for(
	const struct aw_upstreams *all, const struct aw_proxy_to *to, bool plain)
{
	const struct aw_upstream *up = plain ? all->http : all->other;

	return up && !is_home(to) && !is_excepted(all->without, to) ? up : NULL;
}
