/* SPDX-License-Identifier: Apache-2.0 */
/* test_network.c - what network rules mean. */
#include <arpa/inet.h>

#include "tests/unit/policy_text.h"

struct question {
	enum aw_action action;
	const char *address, *host; /* an address, or a Unix path or @name */
	unsigned port;
	enum aw_verdict want;
};

static void fill(struct aw_address *a, const struct question *q)
{
	memset(a, 0, sizeof(*a));
	a->port = (uint16_t)q->port;
	a->host = q->host;
	if (q->address[0] == '/' || q->address[0] == '@' || !q->address[0]) {
		a->family = AF_UNIX;
		a->path = q->address;
		a->path_len = strlen(q->address);
		return;
	}
	a->family = strchr(q->address, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(a->family, q->address, a->bytes) != 1)
		abort();
}

static void answer(
	const char *what, const char *text, const struct question *q, size_t count)
{
	struct aw_image *image = image_of(text);
	struct aw_address address;
	struct aw_decision d;
	size_t i;

	for (i = 0; i < count; i++) {
		fill(&address, &q[i]);
		aw_image_decide_address(image, q[i].action, &address, &d);
		ok(d.verdict == q[i].want, "%s: %s %s%s%s port %u is %s (%s)", what,
			aw_action_name(q[i].action), q[i].address,
			q[i].host ? " as " : "", q[i].host ? q[i].host : "", q[i].port,
			aw_verdict_name(q[i].want), aw_verdict_name(d.verdict));
	}
	free(image);
}

#define ANSWER(what, text, ...)                                                        \
	do {                                                                           \
		const struct question q[] = {__VA_ARGS__};                             \
		answer(what, text, q, sizeof(q) / sizeof(*q));                         \
	} while (0)

static void names_and_addresses(void)
{
	ANSWER("default deny",
		"network:\n"
		"  default: deny\n"
		"  allow: ['api.example.com:443', '*.github.com:443', '10.0.0.0/8:5432', "
		"'localhost:*', '[2001:db8::]/32:80-90', '192.0.2.1', '[::5]:22']\n"
		"  deny: ['bad.github.com']\n"
		"  ask: ['ask.github.com']\n",
		{AW_CONNECT, "203.0.113.1", "api.example.com", 443, AW_ALLOW},
		{AW_CONNECT, "203.0.113.1", "API.Example.COM.", 443, AW_ALLOW},
		{AW_CONNECT, "203.0.113.1", "api.example.com", 80, AW_DENY},
		{AW_CONNECT, "203.0.113.1", NULL, 443, AW_DENY},
		{AW_CONNECT, "203.0.113.1", "x.api.example.com", 443, AW_DENY},
		{AW_CONNECT, "203.0.113.1", "a.b.github.com", 443, AW_ALLOW},
		{AW_CONNECT, "203.0.113.1", "github.com", 443, AW_DENY},
		{AW_CONNECT, "203.0.113.1", "bad.github.com", 443, AW_DENY},
		{AW_CONNECT, "203.0.113.1", "ask.github.com", 443, AW_ASK},
		{AW_CONNECT, "10.9.8.7", NULL, 5432, AW_ALLOW},
		{AW_CONNECT, "10.9.8.7", NULL, 5433, AW_DENY},
		{AW_CONNECT, "11.9.8.7", NULL, 5432, AW_DENY},
		{AW_CONNECT, "::ffff:10.1.2.3", NULL, 5432, AW_ALLOW},
		{AW_CONNECT, "127.3.2.1", NULL, 9, AW_ALLOW},
		{AW_CONNECT, "::1", NULL, 9, AW_ALLOW},
		{AW_SEND, "2001:db8:1::7", NULL, 85, AW_ALLOW},
		{AW_SEND, "2001:db8:1::7", NULL, 91, AW_DENY},
		{AW_CONNECT, "192.0.2.1", NULL, 12345, AW_ALLOW},
		{AW_CONNECT, "::5", NULL, 22, AW_ALLOW},
		{AW_CONNECT, "0.0.0.0", NULL, 9, AW_ALLOW},
		{AW_SEND, "::ffff:0.0.0.0", NULL, 9, AW_ALLOW},
		{AW_CONNECT, "::", NULL, 9, AW_ALLOW},
		{AW_CONNECT, "0.0.0.1", NULL, 9, AW_DENY},
		{AW_BIND, "127.0.0.1", NULL, 8080, AW_DENY});
	ANSWER("no address is the machine itself",
		"network: {deny: ['127.0.0.1:80', '[::1]:81'], listen: [localhost]}",
		{AW_CONNECT, "0.0.0.0", NULL, 80, AW_DENY},
		{AW_SEND, "::ffff:0.0.0.0", NULL, 80, AW_DENY},
		{AW_CONNECT, "::", NULL, 81, AW_DENY},
		{AW_CONNECT, "0.0.0.0", NULL, 81, AW_ALLOW},
		{AW_BIND, "0.0.0.0", NULL, 81, AW_DENY});
	ANSWER("default allow",
		"network: {deny: ['169.254.169.254', '0.0.0.0/0:25', '!192.0.2.0/24']}",
		{AW_CONNECT, "169.254.169.254", NULL, 80, AW_DENY},
		{AW_CONNECT, "::ffff:169.254.169.254", NULL, 80, AW_DENY},
		{AW_CONNECT, "8.8.8.8", NULL, 25, AW_DENY},
		{AW_CONNECT, "192.0.2.9", NULL, 25, AW_ALLOW},
		{AW_CONNECT, "8.8.8.8", NULL, 53, AW_ALLOW},
		{AW_BIND, "0.0.0.0", NULL, 80, AW_ALLOW});
	ANSWER("every address", "network: {default: deny, allow: ['*:443']}",
		{AW_CONNECT, "8.8.8.8", NULL, 443, AW_ALLOW},
		{AW_CONNECT, "::9", NULL, 443, AW_ALLOW},
		{AW_CONNECT, "8.8.8.8", NULL, 80, AW_DENY},
		{AW_CONNECT, "/run/x", NULL, 0, AW_DENY});
}

static void listening(void)
{
	ANSWER("a listen list", "network: {listen: ['localhost:8000-8100']}",
		{AW_BIND, "127.0.0.1", NULL, 8000, AW_ALLOW},
		{AW_BIND, "127.0.0.1", NULL, 8101, AW_DENY},
		{AW_BIND, "0.0.0.0", NULL, 8000, AW_DENY},
		{AW_CONNECT, "8.8.8.8", NULL, 1, AW_ALLOW});
	ANSWER("an empty listen list", "network: {listen: []}",
		{AW_BIND, "127.0.0.1", NULL, 8000, AW_DENY});
	ANSWER("listening when denied by default",
		"network: {default: deny, listen: ['*:80']}",
		{AW_BIND, "::", NULL, 80, AW_ALLOW},
		{AW_BIND, "::", NULL, 81, AW_DENY});
}

static void unix_sockets(void)
{
	setenv("AW_TEST_SOCK", "/run/user/1/agent[1]", 1);
	ANSWER("sockets",
		"filesystem: {deny: [/run/secret]}\n"
		"network:\n"
		"  default: deny\n"
		"  allow: ['unix:/run/user/*/bus', 'unix:@app-*', 'unix:@one', "
		"'unix:$env:AW_TEST_SOCK', 'unix:/run/secret', 'unix:$env:AW_TEST_NONE']\n"
		"  listen: ['unix:/tmp/**']\n",
		{AW_CONNECT, "/run/user/1/bus", NULL, 0, AW_ALLOW},
		{AW_CONNECT, "/run/user/1/bus2", NULL, 0, AW_DENY},
		{AW_CONNECT, "@app-7", NULL, 0, AW_ALLOW},
		{AW_CONNECT, "@one", NULL, 0, AW_ALLOW},
		{AW_CONNECT, "@two", NULL, 0, AW_DENY},
		{AW_CONNECT, "/run/user/1/agent[1]", NULL, 0, AW_ALLOW},
		{AW_CONNECT, "/run/user/1/agent1", NULL, 0, AW_DENY},
		{AW_CONNECT, "/run/secret/s", NULL, 0, AW_DENY},
		{AW_SEND, "/dev/log", NULL, 0, AW_DENY},
		{AW_BIND, "/tmp/a/b", NULL, 0, AW_ALLOW},
		{AW_BIND, "/var/a", NULL, 0, AW_DENY},
		{AW_BIND, "", NULL, 0, AW_ALLOW});
}

static void looking_up(void)
{
	static const struct {
		const char *host;
		enum aw_verdict want;
	} cases[] = {
		{"evil.com", AW_DENY},
		{"www.evil.com", AW_ALLOW},
		{"a.bad.org", AW_DENY},
		{"good.bad.org", AW_ALLOW},
		{"bad.org", AW_ALLOW},
		{"port.com", AW_ALLOW},
		{"Ask.me", AW_ASK},
		{"", AW_ALLOW},
		{".", AW_ALLOW},
	};
	struct aw_image *image = image_of("network: {default: deny, deny: [evil.com, "
					  "'*.bad.org', '!good.bad.org:443', "
					  "'port.com:22', '*'], ask: [ask.me]}");
	struct aw_decision d;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		aw_image_decide_host(image, cases[i].host, &d);
		ok(d.verdict == cases[i].want, "looking up '%s' is %s (%s)",
			cases[i].host, aw_verdict_name(cases[i].want),
			aw_verdict_name(d.verdict));
	}
	free(image);
}

static void other_families(void)
{
	struct aw_image *image = image_of("network: {default: deny}");
	struct aw_address address = {.family = AF_NETLINK};
	struct aw_decision d;

	aw_image_decide_address(image, AW_CONNECT, &address, &d);
	ok(d.verdict == AW_ALLOW, "netlink is allowed");
	address.family = AF_UNSPEC;
	aw_image_decide_address(image, AW_CONNECT, &address, &d);
	ok(d.verdict == AW_ALLOW, "disconnecting is allowed");
	address.family = AF_UNIX + 1000;
	aw_image_decide_address(image, AW_CONNECT, &address, &d);
	ok(d.verdict == AW_DENY, "a strange family is denied with default deny");
	free(image);
	image = image_of("network: {default: allow}");
	aw_image_decide_address(image, AW_CONNECT, &address, &d);
	ok(d.verdict == AW_ALLOW, "and allowed with default allow");
	free(image);
}

int main(void)
{
	names_and_addresses();
	listening();
	unix_sockets();
	looking_up();
	other_families();
	return done();
}
