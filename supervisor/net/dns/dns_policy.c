/* SPDX-License-Identifier: Apache-2.0 */
/* dns_policy.c - the verdict about a question for a name. */
#include "supervisor/net/dns/dns_policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/array.h"
#include "policy/private.h"

static bool ends_with(const char *name, const char *domain, size_t *ret_len)
{
	size_t len = strlen(name), end = strlen(domain);

	if (len <= end || name[len - end - 1] != '.' ||
		strcmp(name + len - end, domain) != 0)
		return false;
	*ret_len = len - end - 1;
	return true;
}

/* "4.3.2.1" in front of in-addr.arpa */
static bool read_reverse4(const char *text, size_t len, struct aw_address *ret)
{
	unsigned b[4];
	int end = 0;

	if (sscanf(text, "%3u.%3u.%3u.%3u%n", &b[3], &b[2], &b[1], &b[0], &end) != 4 ||
		(size_t)end != len)
		return false;
	for (int i = 0; i < 4; i++) {
		if (b[i] > 255)
			return false;
		ret->bytes[i] = (unsigned char)b[i];
	}
	ret->family = AF_INET;
	return true;
}

/* 32 digits with dots between them, the last one first */
static bool read_reverse6(const char *text, size_t len, struct aw_address *ret)
{
	static const char digits[] = "0123456789abcdef";

	if (len != 63)
		return false;
	memset(ret->bytes, 0, 16);
	for (size_t i = 0; i < 32; i++) {
		const char *digit = strchr(digits, text[2 * i]);
		size_t nibble = 31 - i;

		if (!digit || (i < 31 && text[2 * i + 1] != '.'))
			return false;
		ret->bytes[nibble / 2] |=
			(unsigned char)((digit - digits) << (nibble % 2 ? 0 : 4));
	}
	ret->family = AF_INET6;
	return true;
}

static bool read_reverse(const char *name, struct aw_address *ret)
{
	size_t len;

	memset(ret, 0, sizeof(*ret));
	if (ends_with(name, "in-addr.arpa", &len))
		return read_reverse4(name, len, ret);
	return ends_with(name, "ip6.arpa", &len) && read_reverse6(name, len, ret);
}

/* Judge a name; true: it is not refused, and it is this one that counts. */
static bool try_name(struct aw_name_case *c, const char *name)
{
	struct aw_decision decision;

	if (!*name)
		return false;
	aw_image_decide_name_in(c->image, c->profiles, name, &decision);
	if (decision.verdict >= AW_DENY && decision.rule == AW_NO_RULE)
		return false;
	c->decision = decision;
	snprintf(c->judged, sizeof(c->judged), "%s", name);
	return decision.verdict < AW_DENY;
}

enum { SERVICE_MAX = 15 /* RFC 6335, 5.1 */ };

/*
 * _443._tcp.example.com: services of a name are the name's own affair (RFC 2782).  No
 * other labels, which could carry anything.
 */
static const char *behind_services(const char *name)
{
	static const char *const protocols[] = {
		"_tcp.", "_udp.", "_sctp.", "_dccp.", "_https."};
	const char *dot = *name == '_' ? strchr(name, '.') : NULL;

	if (!dot || dot - name > 1 + SERVICE_MAX)
		return name;
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
		size_t len = strlen(protocols[i]);

		if (strncmp(dot + 1, protocols[i], len) == 0)
			return dot + 1 + len;
	}
	return name;
}

/* What was asked for, or what it was before a resolver put a search domain behind it. */
static bool try_names(const struct aw_dns_policy *law, struct aw_name_case *c)
{
	const char *name = behind_services(c->q.name);
	char before[AW_DNS_NAME];

	if (try_name(c, name))
		return true;
	if (c->decision.rule != AW_NO_RULE)
		return false;
	for (size_t i = 0; i < AW_NAME_SERVERS; i++) {
		if (!aw_name_servers_unsearched(law->servers, name, i, before))
			return false;
		if (try_name(c, before))
			return true;
	}
	return false;
}

static bool is_known(const struct aw_dns_policy *law, const struct aw_address *address)
{
	char found[1][AW_DNS_NAME];

	return aw_names_learned(law->names, address, found, NULL, 1) > 0;
}

static bool is_localhost(const char *name)
{
	size_t len;

	return strcmp(name, "localhost") == 0 || ends_with(name, "localhost", &len);
}

static void refuse(struct aw_name_case *c)
{
	struct aw_rule rule;

	c->decision.verdict = AW_DENY;
	if (!c->q.plain || !c->q.name[0])
		snprintf(c->reason, sizeof(c->reason), "not the name of a host");
	else if (c->reverse && c->decision.rule == AW_NO_RULE)
		snprintf(c->reason, sizeof(c->reason),
			"no name that was looked up has this address");
	else if (aw_image_rule(c->image, c->decision.rule, &rule))
		snprintf(c->reason, sizeof(c->reason), "%s:%u: %s", rule.file,
			rule.line, rule.text);
	else
		snprintf(c->reason, sizeof(c->reason),
			"no network rule allows this name");
}

void aw_name_judge(const struct aw_dns_policy *law, struct aw_name_case *c)
{
	c->decision = (struct aw_decision){AW_DENY, AW_NO_RULE};
	c->why = AW_DNS_NO_WHY;
	c->reason[0] = c->answers[0] = '\0';
	c->result = c->code = 0;
	snprintf(c->judged, sizeof(c->judged), "%s", c->q.name);
	c->reverse = c->q.plain && read_reverse(c->q.name, &c->about);
	if (c->q.plain && c->q.name[0]) {
		if (is_localhost(c->q.name) ||
			(c->reverse && (aw_address_is_loopback(&c->about) ||
					       is_known(law, &c->about)))) {
			c->decision.verdict = AW_ALLOW;
			return;
		}
		if (try_names(law, c))
			return;
	}
	refuse(c);
}
