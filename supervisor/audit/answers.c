/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c - what programs were told when they looked a name up. */
#include "supervisor/audit/answers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/util/hash.h"

enum { HOST_MOST = 253 };

struct told {
	char *host; /* owned */
	pid_t pid;
	uint64_t ts; /* the first time */
};

/* The names of one address, the latest first. */
struct place {
	unsigned char address[AW_ANSWER_SIZE];
	struct told told[AW_ANSWERS_EACH];
	size_t count;
	UT_hash_handle hh;
};

struct aw_answers {
	struct place *places; /* owned, in the order in which they came */
};

struct aw_answers *aw_answers_new(void)
{
	return calloc(1, sizeof(struct aw_answers));
}

static void drop(struct aw_answers *answers, struct place *place)
{
	HASH_DEL(answers->places, place);
	for (size_t i = 0; i < place->count; i++)
		free(place->told[i].host);
	free(place);
}

void aw_answers_free(struct aw_answers *answers)
{
	if (!answers)
		return;
	while (answers->places)
		drop(answers, answers->places);
	free(answers);
}

/* The host in lower case; 0 when it is none, or is an address. */
static size_t tidy(const char *host, size_t len, char ret[HOST_MOST + 1])
{
	bool numeric = true;
	size_t label = 0;

	if (len && host[len - 1] == '.')
		len--;
	if (!len || len > HOST_MOST)
		return 0;
	for (size_t i = 0; i < len; i++) {
		char c = host[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c == '.') {
			if (!label)
				return 0;
			label = 0;
			numeric = true;
		} else if ((c >= 'a' && c <= 'z') || c == '-' || c == '_') {
			label++;
			numeric = false;
		} else if (c >= '0' && c <= '9') {
			label++;
		} else {
			return 0;
		}
		ret[i] = c;
	}
	ret[len] = '\0';
	return label && !numeric ? len : 0;
}

static struct place *find(
	const struct aw_answers *answers, const unsigned char address[AW_ANSWER_SIZE])
{
	struct place *place;

	HASH_FIND(hh, answers->places, address, AW_ANSWER_SIZE, place);
	return place;
}

static struct place *make(
	struct aw_answers *answers, const unsigned char address[AW_ANSWER_SIZE])
{
	struct place *place;

	if (HASH_COUNT(answers->places) >= AW_ANSWERS_MAX)
		drop(answers, answers->places);
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	memcpy(place->address, address, AW_ANSWER_SIZE);
	HASH_ADD(hh, answers->places, address, AW_ANSWER_SIZE, place);
	if (place->hh.tbl)
		return place;
	free(place); /* a name less */
	return NULL;
}

/* The same answer to the same process moves to the launcher; the last makes room. */
static void tell(
	struct place *place, const struct aw_dns_report *answer, const char *host)
{
	struct told told = {.pid = answer->pid, .ts = answer->ts};
	size_t at = 0;

	while (at < place->count && (place->told[at].pid != told.pid ||
					    strcmp(place->told[at].host, host) != 0))
		at++;
	if (at < place->count) {
		told = place->told[at];
	} else {
		told.host = strdup(host);
		if (!told.host)
			return;
		if (at == AW_ANSWERS_EACH)
			free(place->told[--at].host);
		else
			place->count++;
	}
	memmove(place->told + 1, place->told, at * sizeof(told));
	place->told[0] = told;
}

void aw_answers_add(struct aw_answers *answers, const struct aw_dns_report *answer)
{
	const unsigned char *address = answer->addresses;
	char name[HOST_MOST + 1];
	struct place *place;

	if (!tidy(answer->host, answer->len, name))
		return;
	for (size_t i = 0; i < answer->count; i++, address += AW_ANSWER_SIZE) {
		place = find(answers, address);
		if (!place)
			place = make(answers, address);
		if (place)
			tell(place, answer, name);
	}
}

/* The latest that had come by then; pid 0: to anybody. */
static const char *told_to(const struct place *place, uint64_t ts, pid_t pid)
{
	for (size_t i = 0; i < place->count; i++)
		if (place->told[i].ts <= ts && (!pid || place->told[i].pid == pid))
			return place->told[i].host;
	return NULL;
}

const char *aw_answers_find(const struct aw_answers *answers,
	const unsigned char address[AW_ANSWER_SIZE], uint64_t ts, const pid_t *pids,
	size_t count)
{
	const struct place *place = find(answers, address);
	const char *host = NULL;

	if (!place)
		return NULL;
	for (size_t i = 0; i < count && !host; i++)
		host = told_to(place, ts, pids[i]);
	return host ? host : told_to(place, ts, 0);
}
