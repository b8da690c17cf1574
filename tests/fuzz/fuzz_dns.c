/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_dns.c - what is understood of a question can be said again and means the same,
 * with nothing that was not understood; what is read of an answer fits an answer of
 * ours, which says the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/net/proto/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool same(const struct aw_dns_question *a, const struct aw_dns_question *b)
{
	return a->id == b->id && a->type == b->type && a->class == b->class &&
	       a->recursion == b->recursion && a->edns == b->edns &&
	       a->room == b->room && a->wire_len == b->wire_len &&
	       memcmp(a->wire, b->wire, a->wire_len) == 0 &&
	       strcmp(a->name, b->name) == 0 && a->plain == b->plain;
}

static void question(const uint8_t *data, size_t size)
{
	unsigned char once[AW_DNS_QUERY], twice[AW_DNS_QUERY], wire[AW_DNS_WIRE];
	struct aw_dns_question q, again;
	char name[AW_DNS_NAME];
	size_t len;

	if (aw_dns_read(data, size, &q) != AW_DNS_FINE)
		return;
	must(strlen(q.name) < AW_DNS_NAME && strlen(q.name) + 2 >= q.wire_len);
	len = aw_dns_write(&q, once, sizeof(once));
	must(len && len <= size);
	must(aw_dns_read(once, len, &again) == AW_DNS_FINE && same(&q, &again));
	must(aw_dns_write(&again, twice, sizeof(twice)) == len &&
		memcmp(once, twice, len) == 0);
	if (q.plain && q.name[0]) {
		must(aw_dns_plain_name(q.name, strlen(q.name), name) &&
			strcmp(name, q.name) == 0);
		must(aw_dns_name_to_wire(name, wire) == q.wire_len);
	}
}

/* The records of an answer, told again, are as many as were told. */
static void answer(const uint8_t *data, size_t size)
{
	static unsigned char out[2 * AW_DNS_MESSAGE];
	struct aw_dns_question q = {.wire = {1, 'a', 0}, .wire_len = 3, .edns = true};
	struct aw_dns_reader reader, back;
	struct aw_dns_record record, mine;
	struct aw_dns_writer w;
	unsigned told = 0, found = 0;
	int more;

	if (!aw_dns_open(&reader, data, size))
		return;
	aw_dns_begin(&w, &q, reader.code, out, AW_DNS_MESSAGE);
	while ((more = aw_dns_next(&reader, &record)) > 0) {
		if (record.type == AW_DNS_HTTPS && !aw_dns_strip_hints(&record))
			continue;
		aw_dns_put(&w, &record, record.ttl);
		told += !w.full;
	}
	size = aw_dns_end(&w, AW_DNS_BLOCKED, "a reason");
	must(size <= AW_DNS_MESSAGE && aw_dns_open(&back, out, size));
	while ((more = aw_dns_next(&back, &mine)) > 0) {
		found++;
		if (mine.type == AW_DNS_HTTPS)
			must(aw_dns_strip_hints(&mine));
	}
	must(more == 0 && found == told + 1); /* and the one of EDNS */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[AW_DNS_NAME];

	question(data, size);
	answer(data, size);
	if (aw_dns_plain_name((const char *)data, size, name)) {
		unsigned char wire[AW_DNS_WIRE];
		char again[AW_DNS_NAME];

		must(aw_dns_plain_name(name, strlen(name), again) &&
			strcmp(name, again) == 0 && aw_dns_name_to_wire(name, wire));
	}
	return 0;
}
