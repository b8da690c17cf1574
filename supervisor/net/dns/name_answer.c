/* SPDX-License-Identifier: Apache-2.0 */
/* name_answer.c - answers: of our own, and of what servers said. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "policy/private.h"
#include "supervisor/decide/hosts.h"
#include "supervisor/net/dns/dns_policy.h"

enum { HERE_TTL = 10, HERE_MAX = 16 };

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

size_t aw_name_answer_code(
	struct aw_name_case *c, int code, int result, unsigned char *to, size_t room)
{
	struct aw_dns_writer w;

	c->code = code;
	c->result = result;
	aw_dns_begin(&w, &c->q, code, to, room);
	return aw_dns_end(&w, c->why, c->reason);
}

static size_t refuse(struct aw_name_case *c, int why, unsigned char *to, size_t room)
{
	c->decision.verdict = AW_DENY;
	c->why = why;
	return aw_name_answer_code(c, AW_DNS_NO_NAME, EACCES, to, room);
}

static void tell_address(struct aw_name_case *c, const struct aw_address *address)
{
	char text[INET6_ADDRSTRLEN];
	size_t at = strlen(c->answers);

	inet_ntop(address->family, address->bytes, text, sizeof(text));
	if (at + strlen(text) + 4 < sizeof(c->answers))
		snprintf(c->answers + at, sizeof(c->answers) - at, "%s\"%s\"",
			at ? "," : "", text);
}

static struct aw_dns_record record_of(
	const struct aw_name_case *c, unsigned type, const void *data, size_t len)
{
	struct aw_dns_record record = {.section = 1,
		.type = (uint16_t)type,
		.class = 1,
		.owner_len = c->q.wire_len,
		.data = data,
		.data_len = len};

	memcpy(record.owner, c->q.wire, c->q.wire_len);
	return record;
}

/* The addresses of one family among these, which are all that the name has. */
static size_t answer_addresses(const struct aw_dns_policy *law, struct aw_name_case *c,
	unsigned char (*found)[16], size_t count, unsigned char *to, size_t room)
{
	struct aw_dns_writer w;

	aw_dns_begin(&w, &c->q, AW_DNS_FINE, to, room);
	for (size_t i = 0; i < count; i++) {
		bool four = memcmp(found[i], mapped, 12) == 0;
		struct aw_address address = {.family = four ? AF_INET : AF_INET6};
		struct aw_dns_record record;

		memcpy(address.bytes, four ? found[i] + 12 : found[i], four ? 4 : 16);
		record = record_of(
			c, four ? AW_DNS_A : AW_DNS_AAAA, address.bytes, four ? 4 : 16);
		if (c->q.type != record.type && c->q.type != AW_DNS_ANY)
			continue;
		aw_dns_put(&w, &record, HERE_TTL);
		aw_names_learn(law->names, c->judged, &address, false, HERE_TTL);
		tell_address(c, &address);
	}
	return aw_dns_end(&w, AW_DNS_NO_WHY, NULL);
}

static size_t answer_names(struct aw_name_case *c, char (*found)[AW_DNS_NAME],
	size_t count, unsigned char *to, size_t room)
{
	struct aw_dns_writer w;

	aw_dns_begin(&w, &c->q, AW_DNS_FINE, to, room);
	for (size_t i = 0; i < count; i++) {
		unsigned char wire[AW_DNS_WIRE];
		size_t len = aw_dns_name_to_wire(found[i], wire);
		struct aw_dns_record record = record_of(c, AW_DNS_PTR, wire, len);

		aw_dns_put(&w, &record, HERE_TTL);
	}
	return aw_dns_end(&w, AW_DNS_NO_WHY, NULL);
}

static bool is_localhost(const char *name)
{
	size_t len = strlen(name);

	return len >= 9 && strcmp(name + len - 9, "localhost") == 0 &&
	       (len == 9 || name[len - 10] == '.');
}

static size_t answer_reverse(const struct aw_dns_policy *law, struct aw_name_case *c,
	unsigned char *to, size_t room)
{
	char found[HERE_MAX][AW_DNS_NAME] = {"localhost"};
	unsigned char key[16];
	bool four = c->about.family == AF_INET;
	size_t count;

	if (four && c->about.bytes[0] == 127)
		return answer_names(c, found, 1, to, room);
	memcpy(key, mapped, 12);
	memcpy(four ? key + 12 : key, c->about.bytes, four ? 4 : 16);
	count = aw_hosts_names(aw_names_hosts(law->names), key, found, HERE_MAX);
	return count ? answer_names(c, found, count, to, room) : 0;
}

size_t aw_name_answer_here(const struct aw_dns_policy *law, struct aw_name_case *c,
	unsigned char *to, size_t room)
{
	unsigned char found[HERE_MAX][16] = {
		{[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}, {[15] = 1}};
	size_t count;

	if (c->decision.verdict >= AW_DENY)
		return refuse(c, AW_DNS_BLOCKED, to, room);
	if (is_localhost(c->q.name))
		return answer_addresses(law, c, found, 2, to, room);
	if (c->reverse && c->q.type == AW_DNS_PTR)
		return answer_reverse(law, c, to, room);
	if (c->q.type != AW_DNS_A && c->q.type != AW_DNS_AAAA)
		return 0;
	count = aw_hosts_addresses(
		aw_names_hosts(law->names), c->q.name, found, HERE_MAX);
	return count ? answer_addresses(law, c, found, count, to, room) : 0;
}

/* --- what servers said --- */

static bool is_public(const struct aw_name_case *c, const char *name)
{
	const struct aw_variable_names *names = c->private_names;

	return aw_private_is_public(
		name, names ? names->items : NULL, names ? names->count : 0);
}

/* What kind of address it is, where a public name leads to a private one; or NULL. */
static const char *is_elsewhere(
	const struct aw_name_case *c, const struct aw_address *address)
{
	return is_public(c, c->q.name) && is_public(c, c->judged)
		       ? aw_private_kind(address)
		       : NULL;
}

/*
 * May this name lead there?  A public name not to where only people here can get,
 * unless a rule for the address admits some port of it: that very port is then asked
 * for when it is connected to.
 */
static bool may_lead(struct aw_name_case *c, const struct aw_address *address)
{
	const char *kind = is_elsewhere(c, address);
	char text[INET6_ADDRSTRLEN];

	if (!kind || aw_image_admits_address(c->image, c->profiles, address))
		return true;
	inet_ntop(address->family, address->bytes, text, sizeof(text));
	snprintf(c->reason, sizeof(c->reason),
		"a public name that leads to %s, a %s address; network.private_names "
		"or a rule for the address allows it",
		text, kind);
	c->decision.rule = AW_NO_RULE;
	return false;
}

static bool address_of(const struct aw_dns_record *record, struct aw_address *ret)
{
	*ret = (struct aw_address){
		.family = record->type == AW_DNS_A ? AF_INET : AF_INET6};
	if (record->class != 1 ||
		(record->type != AW_DNS_A && record->type != AW_DNS_AAAA))
		return false;
	memcpy(ret->bytes, record->data, record->data_len);
	return true;
}

/* Every address in it, wherever it stands. */
static bool all_may_lead(struct aw_name_case *c, const struct aw_resolved *answer)
{
	struct aw_dns_record record;
	struct aw_dns_reader reader;
	struct aw_address address;

	if (!aw_dns_open(&reader, answer->bytes, answer->len))
		return true;
	while (aw_dns_next(&reader, &record) > 0)
		if (record.section == 1 && address_of(&record, &address) &&
			!may_lead(c, &address))
			return false;
	return true;
}

static int64_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Answers, and of the rest what says how long there is nothing. */
static bool is_wanted(struct aw_dns_record *record)
{
	if (record->section == 2)
		return record->type == AW_DNS_SOA;
	if (record->section != 1 || record->type == AW_DNS_OPT)
		return false;
	return (record->type != AW_DNS_HTTPS && record->type != AW_DNS_SVCB) ||
	       aw_dns_strip_hints(record);
}

static void put_records(const struct aw_dns_policy *law, struct aw_name_case *c,
	const struct aw_resolved *answer, struct aw_dns_reader *reader,
	struct aw_dns_writer *w)
{
	int64_t age = answer->ttl ? seconds() - answer->made : 0;
	struct aw_dns_record record;
	struct aw_address address;

	while (aw_dns_next(reader, &record) > 0) {
		uint32_t ttl = record.ttl > age ? record.ttl - (uint32_t)age : 0;

		if (!is_wanted(&record))
			continue;
		aw_dns_put(w, &record, ttl);
		/* what is cut off is asked for again over a stream, but counts now */
		if (record.section == 1 && address_of(&record, &address)) {
			aw_names_learn(law->names, c->judged, &address,
				is_elsewhere(c, &address) != NULL, ttl);
			tell_address(c, &address);
		}
	}
}

size_t aw_name_answer(const struct aw_dns_policy *law, struct aw_name_case *c,
	const struct aw_resolved *answer, unsigned char *to, size_t room)
{
	struct aw_dns_reader reader;
	struct aw_dns_writer w;

	if (!aw_dns_open(&reader, answer->bytes, answer->len))
		return aw_name_answer_code(c, AW_DNS_FAILURE, ETIMEDOUT, to, room);
	if (reader.code != AW_DNS_FINE && reader.code != AW_DNS_NO_NAME)
		return aw_name_answer_code(c, AW_DNS_FAILURE, EHOSTUNREACH, to, room);
	if (!all_may_lead(c, answer))
		return refuse(c, AW_DNS_FILTERED, to, room);
	c->code = reader.code;
	c->result = reader.code == AW_DNS_NO_NAME ? ENOENT : 0;
	aw_dns_begin(&w, &c->q, reader.code, to, room);
	put_records(law, c, answer, &reader, &w);
	return aw_dns_end(&w, AW_DNS_NO_WHY, NULL);
}
