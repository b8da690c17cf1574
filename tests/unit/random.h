/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - dice that fall the same way each time; AW_SEED=N throws others.
 */
#ifndef AW_TESTS_UNIT_RANDOM_H
#define AW_TESTS_UNIT_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/tap.h"

static uint64_t random_state = 88172645463325252u;

static unsigned roll(unsigned sides)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % sides;
}

/* First of all: takes AW_SEED and says what repeats this run. */
static void start_dice(void)
{
	const char *seed = getenv("AW_SEED");

	if (seed && *seed && strtoull(seed, NULL, 0))
		random_state = strtoull(seed, NULL, 0);
	note("AW_SEED=%llu repeats this", (unsigned long long)random_state);
}

#endif
