/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.h - "did you mean": the nearest of the words that would have been right.
 */
#ifndef AW_SUPERVISOR_CLI_SUGGEST_H
#define AW_SUPERVISOR_CLI_SUGGEST_H

#include <stddef.h>

struct aw_suggestion {
	const char *word;  /* what was typed; borrowed */
	const char *best;  /* nearest candidate so far, or NULL; borrowed */
	unsigned distance; /* of best */
};

void aw_suggest_init(struct aw_suggestion *suggestion, const char *word);

/* Offer one candidate (it must live as long as the suggestion). */
void aw_suggest_offer(struct aw_suggestion *suggestion, const char *candidate);

/* The nearest candidate when it is near enough to be meant, else NULL. */
const char *aw_suggest_best(const struct aw_suggestion *suggestion);

#endif
