/* SPDX-License-Identifier: Apache-2.0 */
/* test_dns_cache.c - names of addresses: remembered, from a hosts file, and judged by. */
#include <arpa/inet.h>
#include <sys/stat.h>
#include <utime.h>

#include "supervisor/decide/host_names.h"
#include "supervisor/decide/hosts.h"
#include "supervisor/decide/dns_cache.h"
#include "supervisor/net/dns/name_servers.h"
#include "tests/unit/policy_text.h"

static char file[] = "/tmp/aw-hosts-XXXXXX";

static void write_file(const char *text)
{
	FILE *out = fopen(file, "w");

	if (!out || fputs(text, out) < 0)
		abort();
	fclose(out);
}

static const unsigned char *key(const char *text)
{
	static unsigned char bytes[16];

	memcpy(bytes, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	if (inet_pton(AF_INET, text, bytes + 12) != 1 &&
		inet_pton(AF_INET6, text, bytes) != 1)
		abort();
	return bytes;
}

static void pairs_are_remembered_for_a_time(void)
{
	struct aw_dns_cache *learned = aw_dns_cache_new();
	char found[4][AW_DNS_NAME];

	aw_dns_cache_add(learned, key("192.0.2.1"), "a.test", false, 100, 200);
	aw_dns_cache_add(learned, key("192.0.2.1"), "b.test", false, 100, 300);
	aw_dns_cache_add(learned, key("192.0.2.1"), "a.test", false, 100, 150);
	ok(aw_dns_cache_find(learned, key("192.0.2.1"), 200, found, NULL, 4) == 2 &&
			strcmp(found[0], "b.test") == 0 &&
			strcmp(found[1], "a.test") == 0,
		"two names of an address, as long as the longest time said");
	ok(aw_dns_cache_find(learned, key("192.0.2.1"), 201, found, NULL, 4) == 1,
		"one is old");
	ok(aw_dns_cache_find(learned, key("192.0.2.1"), 301, found, NULL, 4) == 0,
		"both are");
	ok(aw_dns_cache_find(learned, key("192.0.2.2"), 100, found, NULL, 4) == 0,
		"another address has none");
	ok(aw_dns_cache_find(learned, key("192.0.2.1"), 100, found, NULL, 1) == 1,
		"no more than there is room for");
	aw_dns_cache_free(learned);
}

static void room_is_limited(void)
{
	struct aw_dns_cache *learned = aw_dns_cache_new();
	char found[1][AW_DNS_NAME], name[32];
	size_t kept = 0;

	for (int i = 0; i < AW_DNS_CACHE_MAX + 100; i++) {
		snprintf(name, sizeof(name), "n%d.test", i);
		aw_dns_cache_add(learned, key("192.0.2.1"), name, false, 1, 1000);
		if (i < AW_DNS_CACHE_MAX)
			continue;
		snprintf(name, sizeof(name), "192.0.%d.%d", i % 200, i % 250);
		kept += aw_dns_cache_add(
				learned, key(name), "other.test", false, 1, 1000) == 0;
	}
	ok(kept == 100, "there is always room for what is new");
	ok(aw_dns_cache_find(learned, key("192.0.2.1"), 1, found, NULL, 1) == 1,
		"what is a little older is still there");
	aw_dns_cache_free(learned);
}

static size_t names_of(struct aw_hosts *hosts, const char *address)
{
	char found[8][AW_DNS_NAME];

	return aw_hosts_names(hosts, key(address), found, 8);
}

static void a_hosts_file_is_read_again_when_it_changes(void)
{
	struct aw_hosts *hosts;
	unsigned char found[4][16];
	char names[4][AW_DNS_NAME];

	write_file("# a comment\n192.0.2.10 Api.Test two.test. # more\nnonsense x\n"
		   "192.0.2.10\tthree.test\r\n2001:db8::7 api.test bad..name\n"
		   "192.0.2.11   \n");
	hosts = aw_hosts_new(file);
	ok(aw_hosts_names(hosts, key("192.0.2.10"), names, 4) == 3 &&
			strcmp(names[0], "api.test") == 0 &&
			strcmp(names[1], "two.test") == 0 &&
			strcmp(names[2], "three.test") == 0,
		"three names of an address, in their order");
	ok(names_of(hosts, "2001:db8::7") == 1, "what is no name is passed over");
	ok(names_of(hosts, "192.0.2.11") == 0 && names_of(hosts, "192.0.2.99") == 0,
		"no names are no names");
	ok(aw_hosts_addresses(hosts, "api.test", found, 4) == 2 &&
			memcmp(found[0], key("192.0.2.10"), 16) == 0 &&
			memcmp(found[1], key("2001:db8::7"), 16) == 0,
		"two addresses of a name");
	ok(aw_hosts_addresses(hosts, "nobody.test", found, 4) == 0, "or none");
	write_file("192.0.2.20 api.test\n");
	ok(names_of(hosts, "192.0.2.10") == 0 && names_of(hosts, "192.0.2.20") == 1,
		"a new file counts at once");
	unlink(file);
	ok(names_of(hosts, "192.0.2.20") == 0, "one that is gone is empty");
	aw_hosts_free(hosts);
}

static void name_servers_are_read(void)
{
	struct aw_address all[AW_NAME_SERVERS], one = {.family = AF_INET6, .port = 53};
	struct aw_name_servers *servers;
	char skipped[64], name[AW_DNS_NAME];

	write_file("; a comment\nsearch Corp.Example lan\nnameserver 192.0.2.53\n"
		   "nameserver fe80::1%eth0\nnameserver 2001:db8::53\nnameserver "
		   "192.0.2.53\nnameserver nonsense\n");
	servers = aw_name_servers_new(file);
	ok(aw_name_servers_list(servers, all, skipped) == 2 &&
			all[0].family == AF_INET && all[1].family == AF_INET6 &&
			all[0].port == 53,
		"two servers");
	ok(strcmp(skipped, "fe80::1%eth0") == 0, "one with a scope is passed over");
	memcpy(one.bytes, key("192.0.2.53"), 16);
	ok(aw_name_servers_has(servers, &one), "one in IPv6 clothing is one of them");
	memcpy(one.bytes, key("192.0.2.54"), 16);
	ok(!aw_name_servers_has(servers, &one), "another one is not");
	ok(aw_name_servers_unsearched(servers, "db.corp.example", 0, name) &&
			strcmp(name, "db") == 0 &&
			!aw_name_servers_unsearched(
				servers, "db.corp.example", 1, name) &&
			!aw_name_servers_unsearched(servers, "corp.example", 0, name),
		"a search domain is found behind a name");
	write_file("nameserver 192.0.2.54\n");
	ok(aw_name_servers_has(servers, &one) &&
			aw_name_servers_list(servers, all, skipped) == 3,
		"a new one counts, too");
	aw_name_servers_free(servers);
	write_file("options ndots:1\n");
	servers = aw_name_servers_new(file);
	ok(aw_name_servers_list(servers, all, skipped) == 1 &&
			memcmp(all[0].bytes, "\x7f\0\0\1", 4) == 0,
		"without one it is this machine");
	aw_name_servers_free(servers);
}

/* The verdict for an address that has names, and the name that counted. */
static enum aw_verdict judged(struct aw_names *names, const struct aw_image *image,
	const char *text, unsigned port, const char **ret_host)
{
	struct aw_address address = {.family = AF_INET, .port = (uint16_t)port};
	struct aw_decision decision;

	if (inet_pton(AF_INET, text, address.bytes) != 1)
		abort();
	aw_image_decide_address(image, AW_CONNECT, &address, &decision);
	aw_names_decide(names, image, 0, AW_CONNECT, &address, &decision);
	*ret_host = address.host ? address.host : "";
	return decision.verdict;
}

static struct aw_names *served(const struct aw_image *image)
{
	struct aw_names *names = NULL;
	struct aw_error err;

	if (aw_names_create(image, &names, &err) < 0 || aw_names_serve(names, &err) < 0)
		abort();
	return names;
}

static void learn(struct aw_names *names, const char *name, const char *text)
{
	struct aw_address address = {.family = AF_INET};

	inet_pton(AF_INET, text, address.bytes);
	aw_names_learn(names, name, &address, false, 60);
}

static void the_mildest_of_all_names_counts(void)
{
	struct aw_image *image = image_of(
		"network: {default: deny, allow: ['good.test:443', '*.wild.test:443'], "
		"ask: ['may.test:443'], deny: ['bad.test', '192.0.2.66']}");
	struct aw_names *names = served(image);
	const char *host;

	ok(judged(names, image, "192.0.2.1", 443, &host) == AW_DENY && !*host,
		"a bare address is denied, whoever has it outside");
	learn(names, "bad.test", "192.0.2.1");
	ok(judged(names, image, "192.0.2.1", 443, &host) == AW_DENY &&
			strcmp(host, "bad.test") == 0,
		"a name that is denied is told");
	learn(names, "may.test", "192.0.2.1");
	ok(judged(names, image, "192.0.2.1", 443, &host) == AW_ASK &&
			strcmp(host, "may.test") == 0,
		"one that is asked about is milder");
	learn(names, "x.wild.test", "192.0.2.1");
	ok(judged(names, image, "192.0.2.1", 443, &host) == AW_ALLOW &&
			strcmp(host, "x.wild.test") == 0,
		"one that is allowed admits it, by a wildcard too");
	ok(judged(names, image, "192.0.2.1", 80, &host) == AW_DENY,
		"at its port alone");
	learn(names, "good.test", "192.0.2.66");
	ok(judged(names, image, "192.0.2.66", 443, &host) == AW_DENY,
		"a rule that denies the address stands");
	aw_names_free(names);
	free(image);
}

static void a_name_that_is_denied_is_denied_by_its_address(void)
{
	struct aw_image *image = image_of("network: {deny: ['bad.test:443']}");
	struct aw_names *names = served(image);
	const char *host;

	ok(judged(names, image, "192.0.2.1", 443, &host) == AW_ALLOW,
		"what is allowed by default");
	learn(names, "bad.test", "192.0.2.1");
	ok(judged(names, image, "192.0.2.1", 443, &host) == AW_DENY,
		"is not when it has a name that is denied");
	ok(judged(names, image, "192.0.2.1", 80, &host) == AW_ALLOW, "at that port");
	learn(names, "good.test", "192.0.2.1");
	ok(judged(names, image, "192.0.2.1", 443, &host) == AW_ALLOW,
		"unless it has another name as well");
	aw_names_free(names);
	free(image);
}

int main(void)
{
	int fd = mkstemp(file);

	if (fd < 0)
		abort();
	close(fd);
	pairs_are_remembered_for_a_time();
	room_is_limited();
	a_hosts_file_is_read_again_when_it_changes();
	name_servers_are_read();
	the_mildest_of_all_names_counts();
	a_name_that_is_denied_is_denied_by_its_address();
	unlink(file);
	return done();
}
