/* SPDX-License-Identifier: Apache-2.0 */
/* test_upstream.c - the proxy that the environment names, and what it is not for. */
#include <stdio.h>
#include <string.h>

#include "supervisor/net/proxy/upstream.h"
#include "tests/unit/tap.h"

/* The environment: NAME=VALUE, NULL at the end. */
static const char *const *variables;

static const char *get(const char *name)
{
	size_t len = strlen(name);

	for (const char *const *v = variables; *v; v++)
		if (strncmp(*v, name, len) == 0 && (*v)[len] == '=')
			return *v + len + 1;
	return NULL;
}

static int read_variables(
	const char *const *all, struct aw_upstreams *ret, struct aw_error *err)
{
	variables = all;
	*ret = (struct aw_upstreams){0};
	return aw_upstreams_read(get, ret, err);
}

static void urls_are_read(void)
{
	static const struct {
		const char *value, *host; /* NULL: refused */
		uint16_t port;
		enum aw_upstream_kind kind;
		bool looks_up;
		const char *authorization;
	} cases[] = {
		{"http://proxy.test:3128", "proxy.test", 3128, AW_UPSTREAM_HTTP, true,
			""},
		{"proxy.test:3128/", "proxy.test", 3128, AW_UPSTREAM_HTTP, true, ""},
		{"HTTP://[::1]", "::1", 80, AW_UPSTREAM_HTTP, true, ""},
		{"http://u:p@proxy.test:1", "proxy.test", 1, AW_UPSTREAM_HTTP, true,
			"Proxy-Authorization: Basic dTpw\r\n"},
		{"http://a%40b:c%3Ad@proxy.test:1", "proxy.test", 1, AW_UPSTREAM_HTTP,
			true, "Proxy-Authorization: Basic YUBiOmM6ZA==\r\n"},
		{"http://user@proxy.test:1", "proxy.test", 1, AW_UPSTREAM_HTTP, true,
			"Proxy-Authorization: Basic dXNlcjo=\r\n"},
		{"socks5://proxy.test", "proxy.test", 1080, AW_UPSTREAM_SOCKS, false,
			""},
		{"socks5h://proxy.test:1", "proxy.test", 1, AW_UPSTREAM_SOCKS, true,
			""},
		{"https://proxy.test", NULL, 0, 0, false, NULL},
		{"socks4://proxy.test", NULL, 0, 0, false, NULL},
		{"http://", NULL, 0, 0, false, NULL},
		{"http://proxy.test:0", NULL, 0, 0, false, NULL},
		{"http://proxy.test/x", NULL, 0, 0, false, NULL},
		{"http://u%0:p@proxy.test", NULL, 0, 0, false, NULL},
		{"http://u%00:p@proxy.test", NULL, 0, 0, false, NULL},
		{"http://:p@proxy.test", NULL, 0, 0, false, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char entry[128];
		const char *const all[] = {entry, NULL};
		struct aw_upstreams ups;
		struct aw_error err = {.text = ""};
		int r;

		snprintf(entry, sizeof(entry), "HTTPS_PROXY=%s", cases[i].value);
		r = read_variables(all, &ups, &err);
		if (!cases[i].host)
			ok(r == -1 && strstr(err.text, "HTTPS_PROXY") &&
					!strstr(err.text, ":p@"),
				"refuses %s (%s)", cases[i].value, err.text);
		else
			ok(r == 0 && !ups.http && ups.other &&
					strcmp(ups.other->at.host, cases[i].host) ==
						0 &&
					ups.other->at.port == cases[i].port &&
					ups.other->kind == cases[i].kind &&
					ups.other->looks_up == cases[i].looks_up &&
					strcmp(ups.other->authorization,
						cases[i].authorization) == 0,
				"reads %s (%s)", cases[i].value, err.text);
		aw_upstreams_free(&ups);
	}
}

static void variables_have_an_order(void)
{
	static const char *const small[] = {"HTTP_PROXY=http://big.test",
		"http_proxy=http://small.test", "ALL_PROXY=socks5://all.test", NULL};
	static const char *const empty[] = {"http_proxy=", "HTTPS_PROXY=", NULL};
	struct aw_upstreams ups;
	struct aw_error err;

	ok(read_variables(small, &ups, &err) == 0 && ups.http && ups.other &&
			strcmp(ups.http->at.host, "small.test") == 0 &&
			strcmp(ups.other->at.host, "all.test") == 0,
		"small letters win, ALL_PROXY is for the rest");
	aw_upstreams_free(&ups);
	ok(read_variables(empty, &ups, &err) == 0 && !ups.http && !ups.other,
		"empty ones are not set");
	aw_upstreams_free(&ups);
}

static void some_places_are_reached_directly(void)
{
	static const struct {
		const char *to, *without;
		bool direct;
	} cases[] = {
		{"a.test:443", "", false},
		{"a.test:443", "a.test", true},
		{"a.test:443", "b.test, A.TEST", true},
		{"x.a.test:443", "a.test", true},
		{"x.a.test:443", ".a.test", true},
		{"x.a.test:443", "*.a.test", true},
		{"xa.test:443", "a.test", false},
		{"a.test:443", "*", true},
		{"a.test:443", "a.test:443", true},
		{"a.test:443", "a.test:80", false},
		{"10.1.2.3:1", "10.0.0.0/8", true},
		{"11.1.2.3:1", "10.0.0.0/8", false},
		{"10.1.2.3:1", "10.1.2.3", true},
		{"10.1.2.3:1", "10.1.2.0/33", false},
		{"[2001:db8::5]:1", "2001:db8::/32", true},
		{"[2001:db8::5]:1", "[2001:db8::5]:1", true},
		{"[2001:db8::5]:1", "[2001:db8::5]:2", false},
		{"localhost:80", "", true},
		{"127.0.0.9:80", "", true},
		{"[::1]:80", "", true},
		{"a.test:443", ",, ,", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char without[64];
		const char *const all[] = {
			"ALL_PROXY=http://proxy.test:1", without, NULL};
		struct aw_upstreams ups;
		struct aw_error err;
		struct aw_proxy_to to;

		snprintf(without, sizeof(without), "NO_PROXY=%s", cases[i].without);
		aw_proxy_authority_read(cases[i].to, strlen(cases[i].to), 0, &to);
		ok(read_variables(all, &ups, &err) == 0 &&
				!aw_upstream_for(&ups, &to, false) == cases[i].direct &&
				!aw_upstream_for(&ups, &to, true) == cases[i].direct,
			"%s with NO_PROXY=%s is reached %s", cases[i].to,
			cases[i].without, cases[i].direct ? "directly" : "by proxy");
		aw_upstreams_free(&ups);
	}
}

int main(void)
{
	urls_are_read();
	variables_have_an_order();
	some_places_are_reached_directly();
	return done();
}
