/* SPDX-License-Identifier: Apache-2.0 */
/* dns_answer.c - answers: read with their names whole, and written. */
#include <string.h>

#include "policy/array.h"
#include "supervisor/net/proto/dns.h"
#include "supervisor/net/proto/dns_internal.h"

enum { HINT4 = 4, HINT6 = 6, MANDATORY = 0, OPT_LEAST = 11, EDE = 15, WHY_MAX = 240 };

/*
 * A name of an answer at *at, written out into ret; *at is behind it then.  0: it is
 * none.  Each pointer must lead to before where its name began, so it ends.
 */
static size_t read_name(
	const struct aw_dns_reader *r, size_t *at, unsigned char ret[AW_DNS_WIRE])
{
	size_t from = *at, start = *at, len = 0;
	bool moved = false;

	for (;;) {
		size_t label;

		if (from >= r->len)
			return 0;
		label = r->bytes[from];
		if (label >= 0xc0) {
			if (from + 2 > r->len)
				return 0;
			if (!moved)
				*at = from + 2;
			moved = true;
			from = (size_t)aw_get16(r->bytes + from) & 0x3fff;
			if (from >= start)
				return 0;
			start = from;
			continue;
		}
		if (label > 63 || from + label + 1 > r->len ||
			len + label + 1 > AW_DNS_WIRE)
			return 0;
		memcpy(ret + len, r->bytes + from, label + 1);
		len += label + 1;
		from += label + 1;
		if (!label)
			break;
	}
	if (!moved)
		*at = from;
	return len;
}

bool aw_dns_open(struct aw_dns_reader *reader, const unsigned char *bytes, size_t len)
{
	unsigned char name[AW_DNS_WIRE];
	unsigned i;

	if (len < AW_DNS_HEADER || len > AW_DNS_MESSAGE || !(bytes[2] & 0x80))
		return false;
	*reader = (struct aw_dns_reader){.bytes = bytes,
		.len = len,
		.at = AW_DNS_HEADER,
		.code = bytes[3] & 0xf};
	for (i = 0; i < 4; i++)
		reader->left[i] = aw_get16(bytes + 4 + 2 * i);
	for (; reader->left[0]; reader->left[0]--) {
		if (!read_name(reader, &reader->at, name) || reader->at + 4 > len)
			return false;
		reader->at += 4;
	}
	return true;
}

/* Where names are in the data of a type: bytes before, names, bytes behind. */
static bool has_names(unsigned type, size_t *before, size_t *names, size_t *behind)
{
	static const struct {
		uint16_t type;
		uint8_t before, names, behind;
	} types[] = {{AW_DNS_NS, 0, 1, 0}, {AW_DNS_CNAME, 0, 1, 0},
		{AW_DNS_SOA, 0, 2, 20}, {AW_DNS_PTR, 0, 1, 0}, {AW_DNS_MX, 2, 1, 0},
		{AW_DNS_SRV, 6, 1, 0}, {AW_DNS_DNAME, 0, 1, 0}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (types[i].type != type)
			continue;
		*before = types[i].before;
		*names = types[i].names;
		*behind = types[i].behind;
		return true;
	}
	return false;
}

static bool write_out(const struct aw_dns_reader *r, size_t at, size_t end,
	struct aw_dns_record *record)
{
	size_t before, names, behind, len, part;

	if (!has_names(record->type, &before, &names, &behind))
		return true;
	if (at + before > end)
		return false;
	memcpy(record->room, r->bytes + at, before);
	at += before;
	len = before;
	while (names--) {
		part = read_name(r, &at, record->room + len);
		if (!part || at > end)
			return false;
		len += part;
	}
	if (end - at != behind)
		return false;
	memcpy(record->room + len, r->bytes + at, behind);
	record->data = record->room;
	record->data_len = len + behind;
	return true;
}

int aw_dns_next(struct aw_dns_reader *reader, struct aw_dns_record *ret)
{
	const unsigned char *head;
	unsigned section = 1;
	size_t owner;

	while (section < 4 && !reader->left[section])
		section++;
	if (section == 4)
		return 0;
	owner = read_name(reader, &reader->at, ret->owner);
	if (!owner || reader->at + 10 > reader->len)
		return -1;
	head = reader->bytes + reader->at;
	reader->at += 10;
	ret->section = (uint8_t)section;
	ret->owner_len = (uint8_t)owner;
	ret->type = aw_get16(head);
	ret->class = aw_get16(head + 2);
	ret->ttl = aw_get32(head + 4) & 0x7fffffff;
	ret->data = reader->bytes + reader->at;
	ret->data_len = aw_get16(head + 8);
	if (ret->data_len > reader->len - reader->at ||
		!write_out(reader, reader->at, reader->at + ret->data_len, ret))
		return -1;
	if ((ret->type == AW_DNS_A && ret->data_len != 4) ||
		(ret->type == AW_DNS_AAAA && ret->data_len != 16))
		return -1;
	reader->at += aw_get16(head + 8);
	reader->left[section]--;
	return 1;
}

/* Does the list of keys that a client must know name one that is taken out? */
static bool needs_hints(const unsigned char *keys, size_t len)
{
	size_t i;

	for (i = 0; i + 2 <= len; i += 2)
		if (aw_get16(keys + i) == HINT4 || aw_get16(keys + i) == HINT6)
			return true;
	return false;
}

bool aw_dns_strip_hints(struct aw_dns_record *record)
{
	const unsigned char *in = record->data;
	size_t at = 2, end = record->data_len, to;

	if (end < 3 || end > sizeof(record->room))
		return false;
	while (at < end && in[at]) /* the target, which is never compressed */
		at += in[at] + 1u;
	if (++at > end)
		return false;
	memmove(record->room, in, at);
	for (to = at; at + 4 <= end;) {
		unsigned key = aw_get16(in + at);
		size_t len = 4u + aw_get16(in + at + 2);

		if (len > end - at ||
			(key == MANDATORY && needs_hints(in + at + 4, len - 4)))
			return false;
		if (key != HINT4 && key != HINT6) {
			memmove(record->room + to, in + at, len);
			to += len;
		}
		at += len;
	}
	record->data = record->room;
	record->data_len = to;
	return at == end;
}

void aw_dns_begin(struct aw_dns_writer *w, const struct aw_dns_question *q, int code,
	unsigned char *to, size_t size)
{
	*w = (struct aw_dns_writer){
		.to = to, .size = size, .q = q, .code = code, .len = AW_DNS_HEADER};
	memset(to, 0, AW_DNS_HEADER);
	if (q->wire_len) {
		memcpy(to + w->len, q->wire, q->wire_len);
		aw_put16(to + w->len + q->wire_len, q->type);
		aw_put16(to + w->len + q->wire_len + 2, q->class);
		w->len += q->wire_len + 4u;
		w->counts[0] = 1;
	}
	w->reserved = q->edns ? OPT_LEAST : 0;
}

static bool same_name(const unsigned char *a, const unsigned char *b, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char x = a[i], y = b[i];

		x |= x >= 'A' && x <= 'Z' ? 0x20 : 0;
		y |= y >= 'A' && y <= 'Z' ? 0x20 : 0;
		if (x != y)
			return false;
	}
	return true;
}

void aw_dns_put(
	struct aw_dns_writer *w, const struct aw_dns_record *record, uint32_t ttl)
{
	bool asked = record->owner_len == w->q->wire_len &&
		     same_name(record->owner, w->q->wire, record->owner_len);
	size_t owner = asked ? 2 : record->owner_len;
	unsigned char *at = w->to + w->len;

	if (w->full || w->size - w->reserved < w->len + owner + 10 + record->data_len) {
		w->full = true;
		return;
	}
	if (asked) /* where the question has it */
		aw_put16(at, 0xc000 | AW_DNS_HEADER);
	else
		memcpy(at, record->owner, owner);
	at += owner;
	aw_put16(at, record->type);
	aw_put16(at + 2, record->class);
	aw_put32(at + 4, ttl);
	aw_put16(at + 8, (unsigned)record->data_len);
	memcpy(at + 10, record->data, record->data_len);
	w->len += owner + 10 + record->data_len;
	w->counts[record->section]++;
}

/* The record of EDNS, with the reason when there is room for it. */
static void put_edns(struct aw_dns_writer *w, int why, const char *text)
{
	unsigned char *at = w->to + w->len;
	size_t len, all;

	text = text ? text : "";
	len = strnlen(text, WHY_MAX);
	all = why < 0 ? 0 : 6 + len;
	if (w->size - w->len < OPT_LEAST + all)
		all = 0;
	memset(at, 0, OPT_LEAST);
	aw_put16(at + 1, AW_DNS_OPT);
	aw_put16(at + 3, 1232);
	at[5] = (unsigned char)(w->code >> 4);
	aw_put16(at + 9, (unsigned)all);
	w->len += OPT_LEAST + all;
	w->counts[3]++;
	if (!all)
		return;
	aw_put16(at + 11, EDE);
	aw_put16(at + 13, (unsigned)(2 + len));
	aw_put16(at + 15, (unsigned)why);
	memcpy(at + 17, text, len);
}

size_t aw_dns_end(struct aw_dns_writer *w, int why, const char *text)
{
	unsigned i;

	if (w->q->edns)
		put_edns(w, why, text);
	aw_put16(w->to, w->q->id);
	w->to[2] =
		(unsigned char)(0x80 | (w->full ? 2 : 0) | (w->q->recursion ? 1 : 0));
	w->to[3] = (unsigned char)(0x80 | (w->code & 0xf));
	for (i = 0; i < 4; i++)
		aw_put16(w->to + 4 + 2 * i, w->counts[i]);
	return w->len;
}
