/* SPDX-License-Identifier: Apache-2.0 */
/* dns.c - questions, and names as they stand in messages. */
#include "supervisor/net/proto/dns.h"

#include <string.h>

#include "policy/array.h"
#include "supervisor/net/proto/dns_internal.h"

enum { EDNS_LEAST = 512, EDNS_LEN = 11 };

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static unsigned char small(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

/* A name without compression, which questions have no use for; 0: it is none. */
static size_t read_name(
	const unsigned char *bytes, size_t len, struct aw_dns_question *ret)
{
	size_t at = 0, to = 0;

	ret->plain = true;
	while (at < len && bytes[at]) {
		size_t label = bytes[at], i;

		if (label > 63 || at + label + 2 > len || at + label + 2 > AW_DNS_WIRE)
			return 0;
		if (to)
			ret->name[to++] = '.';
		for (i = 1; i <= label; i++) {
			unsigned char c = small(bytes[at + i]);

			ret->plain &= is_plain(c);
			ret->name[to++] = (char)(is_plain(c) ? c : '?');
		}
		at += label + 1;
	}
	if (at == len)
		return 0;
	ret->name[to] = '\0';
	memcpy(ret->wire, bytes, at + 1);
	ret->wire_len = (uint8_t)(at + 1);
	return at + 1;
}

/* What may follow a question: one record of EDNS. */
static int read_rest(const unsigned char *bytes, size_t len, unsigned answers,
	unsigned authority, unsigned additional, struct aw_dns_question *ret)
{
	if (answers || authority || additional > 1)
		return AW_DNS_FORMAT;
	if (!additional)
		return len ? AW_DNS_FORMAT : AW_DNS_FINE;
	if (len < EDNS_LEN || bytes[0] || aw_get16(bytes + 1) != AW_DNS_OPT)
		return AW_DNS_NOT_BUILT; /* signed by a key, for one */
	if (len != (size_t)EDNS_LEN + aw_get16(bytes + 9))
		return AW_DNS_FORMAT;
	ret->edns = true;
	ret->room = aw_get16(bytes + 3);
	if (ret->room < EDNS_LEAST)
		ret->room = EDNS_LEAST;
	return bytes[6] ? AW_DNS_VERSION : AW_DNS_FINE;
}

/* Questions that are about more than one name or speak of the servers themselves. */
static bool is_plain_type(unsigned type)
{
	return type && type != AW_DNS_OPT && (type < 128 || type > 254);
}

int aw_dns_read(const unsigned char *bytes, size_t len, struct aw_dns_question *ret)
{
	size_t name;
	int code;

	memset(ret, 0, sizeof(*ret));
	if (len < AW_DNS_HEADER || bytes[2] & 0x80)
		return -1;
	ret->id = aw_get16(bytes);
	ret->recursion = bytes[2] & 1;
	ret->room = EDNS_LEAST;
	if (bytes[2] & 0x78)
		return AW_DNS_NOT_BUILT;
	if (len > AW_DNS_QUERY || bytes[2] & 2 || aw_get16(bytes + 4) != 1)
		return AW_DNS_FORMAT;
	name = read_name(bytes + AW_DNS_HEADER, len - AW_DNS_HEADER, ret);
	if (!name || len < AW_DNS_HEADER + name + 4) {
		ret->wire_len = 0;
		return AW_DNS_FORMAT;
	}
	bytes += AW_DNS_HEADER + name;
	ret->type = aw_get16(bytes);
	ret->class = aw_get16(bytes + 2);
	code = read_rest(bytes + 4, len - AW_DNS_HEADER - name - 4,
		aw_get16(bytes - name - 6), aw_get16(bytes - name - 4),
		aw_get16(bytes - name - 2), ret);
	if (code == AW_DNS_FINE && (ret->class != 1 || !is_plain_type(ret->type)))
		code = AW_DNS_NOT_BUILT;
	return code;
}

size_t aw_dns_write(const struct aw_dns_question *q, unsigned char *to, size_t size)
{
	size_t len = AW_DNS_HEADER + q->wire_len + 4u;

	if (size < len + EDNS_LEN || !q->wire_len)
		return 0;
	memset(to, 0, len + EDNS_LEN);
	aw_put16(to, q->id);
	to[2] = q->recursion ? 1 : 0;
	aw_put16(to + 4, 1);
	memcpy(to + AW_DNS_HEADER, q->wire, q->wire_len);
	aw_put16(to + len - 4, q->type);
	aw_put16(to + len - 2, q->class);
	if (!q->edns)
		return len;
	aw_put16(to + 10, 1);
	aw_put16(to + len + 1, AW_DNS_OPT);
	aw_put16(to + len + 3, q->room);
	return len + EDNS_LEN;
}

bool aw_dns_plain_name(const char *text, size_t len, char ret[AW_DNS_NAME])
{
	size_t i, label = 0;

	if (len > 1 && text[len - 1] == '.')
		len--;
	if (len == 0 || len >= AW_DNS_NAME)
		return false;
	for (i = 0; i < len; i++) {
		unsigned char c = small((unsigned char)text[i]);

		if (c == '.' ? label == 0 : !is_plain(c) || label == 63)
			return false;
		label = c == '.' ? 0 : label + 1;
		ret[i] = (char)c;
	}
	ret[len] = '\0';
	return label > 0;
}

size_t aw_dns_name_to_wire(const char *name, unsigned char ret[AW_DNS_WIRE])
{
	size_t len = strlen(name), at = 0;

	if (len >= AW_DNS_NAME)
		return 0;
	while (*name) {
		size_t label = strcspn(name, ".");

		if (!label || label > 63)
			return 0;
		ret[at++] = (unsigned char)label;
		memcpy(ret + at, name, label);
		at += label;
		name += label + (name[label] == '.');
	}
	ret[at] = 0;
	return at + 1;
}

const char *aw_dns_type_name(unsigned type, char text[16])
{
	static const struct {
		unsigned type;
		const char *name;
	} types[] = {{AW_DNS_A, "A"}, {AW_DNS_AAAA, "AAAA"}, {AW_DNS_HTTPS, "HTTPS"},
		{AW_DNS_SVCB, "SVCB"}, {AW_DNS_PTR, "PTR"}, {AW_DNS_SRV, "SRV"},
		{AW_DNS_MX, "MX"}, {16, "TXT"}, {AW_DNS_CNAME, "CNAME"},
		{AW_DNS_NS, "NS"}, {AW_DNS_SOA, "SOA"}, {35, "NAPTR"}, {43, "DS"},
		{44, "SSHFP"}, {48, "DNSKEY"}, {52, "TLSA"}, {257, "CAA"},
		{AW_DNS_ANY, "ANY"}};
	char digits[8];
	size_t i, n = 0, at = 4;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type == type)
			return types[i].name;
	memcpy(text, "TYPE", 4);
	do
		digits[n++] = (char)('0' + type % 10);
	while ((type /= 10) && n < sizeof(digits));
	while (n)
		text[at++] = digits[--n];
	text[at] = '\0';
	return text;
}
