/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify.c - names on the wire against a policy; connections and bytes counted. */
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/net/egress/quota.h"
#include "supervisor/net/relay/verify.h"
#include "tests/unit/policy_text.h"

static const struct aw_image *_Atomic image;

#define GET "GET / HTTP/1.1\r\n"

/* 192.0.2.1 is allowed by names alone, 192.0.2.2 by itself, a proxy at 192.0.2.3:3128. */
static const char policy[] = "network:\n  default: deny\n"
			     "  allow: ['api.example', '*.pages.example:80', "
			     "'only.example:443', 192.0.2.2,\n"
			     "    '192.0.2.3:3128', '192.0.2.9:443']\n"
			     "  deny: [bad.example]\n  ask: [ask.example]\n";

static const struct {
	const char *what;
	unsigned char last; /* of the address */
	uint16_t port;
	const char *said;
	enum aw_relay_look look;
	size_t on; /* for AW_RELAY_PART */
	const char *name;
} cases[] = {
	{"its name", 1, 80, GET "Host: api.example\r\n\r\n", AW_RELAY_PART, 37, ""},
	{"a name below", 1, 80, GET "Host: a.pages.example\r\n\r\n", AW_RELAY_PART, 41,
		""},
	{"another", 1, 80, GET "Host: x.example\r\n\r\n", AW_RELAY_CUT, 0, "x.example"},
	{"one of another port", 1, 80, GET "Host: only.example\r\n\r\n", AW_RELAY_CUT,
		0, "only.example"},
	{"one that lies about its port", 1, 80, GET "Host: only.example:443\r\n\r\n",
		AW_RELAY_CUT, 0, "only.example"},
	{"one that is asked about", 1, 80, GET "Host: ask.example\r\n\r\n",
		AW_RELAY_CUT, 0, "ask.example"},
	{"none", 1, 80, GET "\r\n", AW_RELAY_CUT, 0, ""},
	{"its address", 1, 80, GET "Host: 192.0.2.1\r\n\r\n", AW_RELAY_CUT, 0,
		"192.0.2.1"},
	{"a URL of another", 1, 80,
		"GET http://x.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n",
		AW_RELAY_CUT, 0, "x.example"},
	{"two requests", 1, 80,
		GET "Host: api.example\r\n\r\n" GET "Host: x.example\r\n\r\n",
		AW_RELAY_CUT, 0, "x.example"},
	{"half a request", 1, 80, GET "Host: api.example\r\n\r\n" GET "Ho",
		AW_RELAY_PART, 37, ""},
	{"half of the first", 1, 80, GET "Ho", AW_RELAY_MORE, 0, ""},
	{"another protocol", 1, 22, "SSH-2.0-x\r\n", AW_RELAY_CUT, 0, ""},
	{"another, by address", 2, 22, "SSH-2.0-x\r\n", AW_RELAY_PASS, 0, ""},
	{"a letter, by address", 2, 22, "x", AW_RELAY_PASS, 0, ""},
	{"a letter, by name", 1, 22, "x", AW_RELAY_MORE, 0, ""},
	{"any name, by address", 2, 80, GET "Host: x.example\r\n\r\n", AW_RELAY_PART,
		35, ""},
	{"none, by address", 2, 80, GET "\r\n", AW_RELAY_PART, 18, ""},
	{"a denied one, by address", 2, 80, GET "Host: bad.example\r\n\r\n",
		AW_RELAY_CUT, 0, "bad.example"},
	{"a broken one, by address", 2, 80, GET "Host: a\r\nHost: a\r\n\r\n",
		AW_RELAY_CUT, 0, ""},
	{"TLS, half", 1, 443, "\x16\3\1", AW_RELAY_MORE, 0, ""},
	{"TLS, broken", 2, 443, "\x16\3\1\1\1\2", AW_RELAY_CUT, 0, ""},
	{"a proxy's allowed one", 3, 3128, "CONNECT only.example:443 HTTP/1.1\r\n\r\n",
		AW_RELAY_PART, 37, ""},
	{"a proxy's other port", 3, 3128, "CONNECT only.example:80 HTTP/1.1\r\n\r\n",
		AW_RELAY_CUT, 0, "only.example"},
	{"a proxy's other name", 3, 3128, "CONNECT x.example:443 HTTP/1.1\r\n\r\n",
		AW_RELAY_CUT, 0, "x.example"},
	{"a proxy's address", 3, 3128, "CONNECT 192.0.2.9:443 HTTP/1.1\r\n\r\n",
		AW_RELAY_PART, 34, ""},
	{"a proxy's other address", 3, 3128, "CONNECT 192.0.2.8:443 HTTP/1.1\r\n\r\n",
		AW_RELAY_CUT, 0, "192.0.2.8"},
	{"a proxy's URL", 3, 3128,
		"GET http://api.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n",
		AW_RELAY_PART, 55, ""},
	{"a proxy's other URL", 3, 3128,
		"GET http://x.example/ HTTP/1.1\r\nHost: x.example\r\n\r\n",
		AW_RELAY_CUT, 0, "x.example"},
	{"through a proxy", 3, 3128,
		"CONNECT api.example:80 HTTP/1.1\r\n\r\n" GET "Host: x.example\r\n\r\n",
		AW_RELAY_CUT, 0, "x.example"},
	{"something through a proxy", 3, 3128,
		"CONNECT api.example:80 HTTP/1.1\r\n\r\nSSH-2.0-x\r\n", AW_RELAY_PASS,
		0, ""},
};

static void names_are_judged(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct aw_address to = {.family = AF_INET,
			.port = cases[i].port,
			.bytes = {192, 0, 2, cases[i].last},
			.host = "api.example"};
		struct aw_verify verify;
		enum aw_relay_look look;
		size_t on = 0;

		aw_verify_init(&verify, &image, 0, AW_NO_RULE, &to);
		look = aw_verify_look(&verify, (const unsigned char *)cases[i].said,
			strlen(cases[i].said), &on);
		if (look == AW_RELAY_PASS)
			on = cases[i].on;
		ok(look == cases[i].look &&
				(look != AW_RELAY_PART || on == cases[i].on) &&
				strcmp(verify.name, cases[i].name) == 0 &&
				(look == AW_RELAY_CUT) == (verify.why[0] != '\0'),
			"%s: %s", cases[i].what, verify.why);
	}
}

static void a_yes_counts(void)
{
	struct aw_address to = {.family = AF_INET,
		.port = 80,
		.bytes = {192, 0, 2, 1},
		.host = "ask.example"};
	struct aw_decision asked;
	struct aw_verify verify;
	size_t on;

	aw_image_decide_address_in(image, 0, AW_CONNECT, &to, &asked);
	aw_verify_init(&verify, &image, 0, asked.rule, &to);
	ok(asked.verdict == AW_ASK &&
			aw_verify_look(&verify,
				(const unsigned char *)GET "Host: ask.example\r\n\r\n",
				37, &on) == AW_RELAY_PART,
		"who was asked about, and allowed, may be named");
}

static void connections_are_counted(void)
{
	struct aw_address one = {
		.family = AF_INET, .port = 53, .bytes = {192, 0, 2, 1}};
	struct aw_address two = {
		.family = AF_INET, .port = 53, .bytes = {192, 0, 2, 2}};
	struct aw_limits limits = {.connections_per_minute = 3};
	struct aw_quota quota;

	aw_quota_init(&quota);
	aw_quota_limit(&quota, &(struct aw_limits){0});
	ok(aw_quota_connect(&quota) && aw_quota_send(&quota, UINT64_MAX),
		"without a limit anything goes");
	aw_quota_limit(&quota, &limits);
	ok(aw_quota_connect(&quota) && aw_quota_datagram(&quota, &one) &&
			aw_quota_datagram(&quota, &one) && aw_quota_connect(&quota) &&
			!aw_quota_connect(&quota) && aw_quota_datagram(&quota, &one) &&
			!aw_quota_datagram(&quota, &two),
		"three in a minute, a peer of datagrams once");
	quota.begun[0].time -= 61ull * 1000000000;
	ok(aw_quota_connect(&quota) && !aw_quota_connect(&quota),
		"one more when the oldest is a minute old");
	limits.connections_per_minute = 5;
	aw_quota_limit(&quota, &limits);
	ok(aw_quota_connect(&quota) && aw_quota_connect(&quota) &&
			!aw_quota_connect(&quota),
		"a larger limit counts those that were");
	limits.connections_per_minute = 2;
	aw_quota_limit(&quota, &limits);
	ok(!aw_quota_connect(&quota), "so does a smaller one");
	aw_quota_release(&quota);
}

static void bytes_are_counted(void)
{
	struct aw_quota quota;

	aw_quota_init(&quota);
	aw_quota_limit(&quota, &(struct aw_limits){.bytes_out = 10});
	ok(aw_quota_send(&quota, 4) && aw_quota_send(&quota, 6) &&
			!aw_quota_send(&quota, 1) && aw_quota_send(&quota, 0),
		"ten bytes are ten bytes");
	aw_quota_limit(&quota, &(struct aw_limits){.bytes_out = 5});
	ok(!aw_quota_send(&quota, 1), "more were sent than another policy allows");
	ok(!aw_quota_send(&quota, UINT64_MAX), "a number that overflows is none");
	aw_quota_release(&quota);
}

int main(void)
{
	struct aw_image *loaded = image_of(policy);

	atomic_store(&image, loaded);
	names_are_judged();
	a_yes_counts();
	connections_are_counted();
	bytes_are_counted();
	free(loaded);
	return done();
}
