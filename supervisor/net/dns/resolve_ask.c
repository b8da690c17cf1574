/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_ask.c - the C library's resolver, and its other sources of names. */
#include "supervisor/net/dns/resolve_ask.h"

#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "supervisor/util/cleanup.h"

enum { DATAGRAM = 1232, OTHER_TTL = 60, NEGATIVE_MAX = 300 };

struct aw_dns_client {
	struct __res_state state;
	bool ready;
	struct timespec read; /* resolv.conf, when it was */
	unsigned char answer[AW_DNS_MESSAGE];
};

struct aw_dns_client *aw_asking_new(void)
{
	return calloc(1, sizeof(struct aw_dns_client));
}

void aw_asking_free(struct aw_dns_client *asking)
{
	if (asking && asking->ready)
		res_nclose(&asking->state);
	free(asking);
}

/* The servers may be others by now. */
static bool prepare(struct aw_dns_client *asking)
{
	struct stat st = {.st_size = 0};

	if (stat("/etc/resolv.conf", &st) < 0)
		memset(&st.st_mtim, 0, sizeof(st.st_mtim));
	if (asking->ready &&
		memcmp(&st.st_mtim, &asking->read, sizeof(asking->read)) == 0)
		return true;
	if (asking->ready)
		res_nclose(&asking->state);
	memset(&asking->state, 0, sizeof(asking->state));
	asking->read = st.st_mtim;
	asking->ready = res_ninit(&asking->state) == 0;
	return asking->ready;
}

/* The length of the answer, or 0. */
static size_t ask(
	struct aw_dns_client *asking, const char *name, unsigned type, bool edns)
{
	struct aw_dns_question q = {.type = (uint16_t)type,
		.class = 1,
		.recursion = true,
		.edns = edns,
		.room = DATAGRAM};
	unsigned char query[AW_DNS_QUERY];
	size_t len;
	int n;

	q.wire_len = (uint8_t)aw_dns_name_to_wire(name, q.wire);
	if (getrandom(&q.id, sizeof(q.id), 0) != sizeof(q.id))
		return 0;
	len = aw_dns_write(&q, query, sizeof(query));
	n = len ? res_nsend(&asking->state, query, (int)len, asking->answer,
			  sizeof(asking->answer))
		: -1;
	return n > 0 ? (size_t)n : 0;
}

/* How long an answer holds; 0 too where nothing was found and nobody says how long. */
static uint32_t ttl_of(const unsigned char *bytes, size_t len)
{
	uint32_t least = UINT32_MAX, negative = 0;
	struct aw_dns_record record;
	struct aw_dns_reader reader;

	if (!aw_dns_open(&reader, bytes, len))
		return 0;
	if (reader.code != AW_DNS_FINE && reader.code != AW_DNS_NO_NAME)
		return 0;
	while (aw_dns_next(&reader, &record) > 0) {
		if (record.section == 1 && record.ttl < least)
			least = record.ttl;
		if (record.section == 2 && record.type == AW_DNS_SOA &&
			record.data_len >= 20) {
			const unsigned char *end = record.data + record.data_len - 4;
			uint32_t least_no = (uint32_t)end[0] << 24 |
					    (uint32_t)end[1] << 16 |
					    (uint32_t)end[2] << 8 | end[3];

			negative = least_no < record.ttl ? least_no : record.ttl;
		}
	}
	if (least != UINT32_MAX && reader.code == AW_DNS_FINE)
		return least < AW_RESOLVE_LONGEST ? least : AW_RESOLVE_LONGEST;
	return negative < NEGATIVE_MAX ? negative : NEGATIVE_MAX;
}

static int code_of(const unsigned char *bytes, size_t len)
{
	return len < 4 ? AW_DNS_FAILURE : bytes[3] & 0xf;
}

/* Does nsswitch.conf(5) know sources besides files and dns? */
static bool has_other_sources(void)
{
	AW_FCLOSE FILE *file = fopen("/etc/nsswitch.conf", "re");
	char line[512], *rest;
	bool found = false;

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#")] = '\0';
		if (strncmp(line, "hosts:", 6) != 0)
			continue;
		for (char *word = strtok_r(line + 6, " \t\n", &rest); word;
			word = strtok_r(NULL, " \t\n", &rest))
			found |= word[0] != '[' && strcmp(word, "files") != 0 &&
				 strcmp(word, "dns") != 0;
	}
	return found;
}

static void put_address(struct aw_dns_writer *w, const struct addrinfo *a)
{
	const struct sockaddr_in *in = (const void *)a->ai_addr;
	const struct sockaddr_in6 *in6 = (const void *)a->ai_addr;
	bool four = a->ai_family == AF_INET;
	struct aw_dns_record record = {.section = 1,
		.type = four ? AW_DNS_A : AW_DNS_AAAA,
		.class = 1,
		.owner_len = w->q->wire_len,
		.data = four ? (const void *)&in->sin_addr
			     : (const void *)&in6->sin6_addr,
		.data_len = four ? 4 : 16};

	memcpy(record.owner, w->q->wire, w->q->wire_len);
	aw_dns_put(w, &record, OTHER_TTL);
}

/* What getaddrinfo(3) finds there, as an answer; 0: nothing. */
static size_t ask_others(struct aw_dns_client *asking, const char *name, unsigned type)
{
	struct aw_dns_question q = {.type = (uint16_t)type, .class = 1};
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
		.ai_family = type == AW_DNS_A ? AF_INET : AF_INET6};
	struct addrinfo *found = NULL;
	struct aw_dns_writer w;

	if ((type != AW_DNS_A && type != AW_DNS_AAAA) || !has_other_sources() ||
		getaddrinfo(name, NULL, &hints, &found) != 0)
		return 0;
	q.wire_len = (uint8_t)aw_dns_name_to_wire(name, q.wire);
	aw_dns_begin(&w, &q, AW_DNS_FINE, asking->answer, sizeof(asking->answer));
	for (const struct addrinfo *a = found; a; a = a->ai_next)
		put_address(&w, a);
	freeaddrinfo(found);
	return aw_dns_end(&w, AW_DNS_NO_WHY, NULL);
}

struct aw_resolved *aw_asking_ask(
	struct aw_dns_client *asking, const char *name, unsigned type)
{
	struct aw_resolved *answer;
	size_t len = 0, other;
	int code;

	if (prepare(asking))
		len = ask(asking, name, type, true);
	code = code_of(asking->answer, len);
	if (len && (code == AW_DNS_FORMAT || code == AW_DNS_NOT_BUILT))
		len = ask(asking, name, type, false); /* a server from before EDNS */
	code = code_of(asking->answer, len);
	if (code != AW_DNS_FINE) {
		unsigned char *kept = len ? malloc(len) : NULL;

		if (kept)
			memcpy(kept, asking->answer, len);
		other = ask_others(asking, name, type);
		if (other)
			len = other;
		else if (kept)
			memcpy(asking->answer, kept, len);
		free(kept);
	}
	answer = len ? malloc(sizeof(*answer) + len) : NULL;
	if (!answer)
		return NULL;
	answer->users = 1;
	answer->len = len;
	answer->ttl = ttl_of(asking->answer, len);
	memcpy(answer->bytes, asking->answer, len);
	return answer;
}
