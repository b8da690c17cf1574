/* SPDX-License-Identifier: Apache-2.0 */
/* test_private.c - where a name of the public must not lead, and which names are none. */
#include <arpa/inet.h>
#include <string.h>

#include "policy/private.h"
#include "tests/unit/tap.h"

static void ranges_end_where_they_should(void)
{
	static const struct {
		const char *address;
		bool is_private;
	} cases[] = {
		{"0.0.0.0", true},
		{"0.255.255.255", true},
		{"1.0.0.0", false},
		{"9.255.255.255", false},
		{"10.0.0.0", true},
		{"11.0.0.0", false},
		{"100.63.255.255", false},
		{"100.64.0.0", true},
		{"100.127.255.255", true},
		{"100.128.0.0", false},
		{"126.255.255.255", false},
		{"127.0.0.1", true},
		{"128.0.0.0", false},
		{"169.253.255.255", false},
		{"169.254.169.254", true},
		{"169.255.0.0", false},
		{"172.15.255.255", false},
		{"172.16.0.0", true},
		{"172.31.255.255", true},
		{"172.32.0.0", false},
		{"192.168.255.255", true},
		{"192.169.0.0", false},
		{"192.0.2.1", false},
		{"198.17.255.255", false},
		{"198.18.0.0", true},
		{"198.20.0.0", false},
		{"223.255.255.255", false},
		{"224.0.0.1", true},
		{"255.255.255.255", true},
		{"::", true},
		{"::1", true},
		{"::ffff:10.1.2.3", true},
		{"::ffff:192.0.2.1", false},
		{"::10.1.2.3", true},
		{"::ffff:0:127.0.0.1", true},
		{"64:ff9b::127.0.0.1", true},
		{"64:ff9b::192.0.2.1", false},
		{"2002:7f00:1::", true},
		{"2002:c000:201::", false},
		{"fbff::1", false},
		{"fc00::1", true},
		{"fdff::1", true},
		{"fe7f::1", false},
		{"fe80::1", true},
		{"febf::1", true},
		{"ff02::1", true},
		{"2001:db8::1", false},
		{"2001::1", true},
		{"2001:1::1", false},
		{"64:ff9b:1::1", true},
		{"64:ff9b:2::1", false},
		{"2001:db8::5efe:127.0.0.1", true},
		{"2001:db8::200:5efe:10.1.2.3", true},
		{"2001:db8::5efe:192.0.2.1", false},
		{"2001:db8::5eff:127.0.0.1", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool six = strchr(cases[i].address, ':') != NULL;
		struct aw_address address = {.family = six ? AF_INET6 : AF_INET};

		inet_pton(address.family, cases[i].address, address.bytes);
		ok(!aw_private_kind(&address) == !cases[i].is_private, "%s is %s",
			cases[i].address, cases[i].is_private ? "private" : "public");
	}
}

static void an_address_has_a_kind(void)
{
	static const struct {
		const char *address, *kind;
	} cases[] = {{"127.0.0.1", "loopback"}, {"0.0.0.0", "unspecified"},
		{"10.1.2.3", "private"}, {"169.254.169.254", "link-local"},
		{"::ffff:10.1.2.3", "private"}, {"fd00::1", "private"},
		{"2002:7f00:1::", "loopback"}, {"ff02::1", "multicast"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool six = strchr(cases[i].address, ':') != NULL;
		struct aw_address address = {.family = six ? AF_INET6 : AF_INET};
		const char *kind;

		inet_pton(address.family, cases[i].address, address.bytes);
		kind = aw_private_kind(&address);
		ok(kind && strcmp(kind, cases[i].kind) == 0, "%s is %s",
			cases[i].address, cases[i].kind);
	}
}

static void names_are_public_or_not(void)
{
	static const struct {
		const char *name;
		bool is_public;
	} cases[] = {
		{"example.com", true},
		{"localhost", false},
		{"host", false},
		{"x.localhost", false},
		{"printer.local", false},
		{"db.corp", false},
		{"corp.example", true},
		{"notlocal", false},
		{"x.notlocal", true},
		{"x.home.arpa", false},
		{"api.dev.example", false},
		{"dev.example", true},
		{"my.name", false},
		{"x.my.name", true},
	};
	char *patterns[] = {(char *)"*.dev.example", (char *)"my.name"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ok(aw_private_is_public(cases[i].name, patterns, 2) ==
				cases[i].is_public,
			"%s is %s", cases[i].name,
			cases[i].is_public ? "public" : "not");
}

int main(void)
{
	ranges_end_where_they_should();
	an_address_has_a_kind();
	names_are_public_or_not();
	return done();
}
