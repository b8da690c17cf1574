/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.h - what programs were told when they looked a name up.
 *
 * In audit nobody stands between a program and its name servers, so the only one who
 * knows which name an address was reached by is the library in the process.  What it
 * reports is good for a log and for a proposal, never for a verdict that holds.
 *
 * Names are kept as text of a host: lower case, without the dot at the end; what cannot
 * be one, or is an address itself, is passed over.  Bounded: the oldest go.  One thread
 * at a time.
 */
#ifndef AW_SUPERVISOR_AUDIT_ANSWERS_H
#define AW_SUPERVISOR_AUDIT_ANSWERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/shared/ring.h"

enum {
	AW_ANSWERS_MAX = 4096, /* addresses */
	AW_ANSWERS_EACH = 8,   /* names of one */
	AW_ANSWER_SIZE = AW_RING_ANSWER,
};

struct aw_answers;

/* NULL: out of memory. */
struct aw_answers *aw_answers_new(void);
void aw_answers_free(struct aw_answers *answers);

/* One look-up: process pid asked for host and got these addresses at that time. */
struct aw_dns_report {
	pid_t pid;
	uint64_t ts;
	const char *host; /* borrowed, need not be terminated, any bytes */
	size_t len;
	const unsigned char *addresses; /* count times AW_ANSWER_SIZE bytes */
	size_t count;
};

void aw_answers_add(struct aw_answers *answers, const struct aw_dns_report *answer);

/*
 * The name by which a process had this address at that time: pids has the process and
 * its ancestors, nearest first.  The latest that the nearest of them had been told,
 * else the latest that anybody had been; NULL: nobody had.  Good until the next
 * aw_answers_add().
 */
const char *aw_answers_find(const struct aw_answers *answers,
	const unsigned char address[AW_ANSWER_SIZE], uint64_t ts, const pid_t *pids,
	size_t count);

#endif
