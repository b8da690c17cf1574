/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - how often something was asked for, and by which programs.
 */
#ifndef AW_SUPERVISOR_LEARN_COUNTER_H
#define AW_SUPERVISOR_LEARN_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AW_COUNTER_NAMES = 3 };

/* Names of programs, each kept once. */
struct aw_programs {
	struct aw_program_name *names; /* owned */
};

/* The first programs, in the order in which they came. */
struct aw_counter {
	uint64_t times;
	const char *by[AW_COUNTER_NAMES]; /* borrowed from aw_programs */
	uint8_t known;			  /* of by */
	bool others;			  /* there were more */
};

/* The name of the program at path: kept, and the same pointer each time. */
const char *aw_program_name_of(struct aw_programs *programs, const char *path);

/* Any program whose name begins with start, up to its end or a sign. */
bool aw_programs_have(const struct aw_programs *programs, const char *start);
void aw_programs_free(struct aw_programs *programs);

/* by may be NULL: not known. */
void aw_counter_add(struct aw_counter *tally, uint64_t times, const char *by);
void aw_counter_join(struct aw_counter *tally, const struct aw_counter *other);

/* "3 times, by git and node". */
void aw_counter_text(const struct aw_counter *tally, char *out, size_t size);

#endif
