/* SPDX-License-Identifier: Apache-2.0 */
/* suggest.c - edit distance with neighbours swapped, over short words. */
#include "supervisor/cli/suggest.h"

#include <string.h>

enum { LONGEST = 48 };

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2], *spare;
	size_t m = strlen(a), n = strlen(b);

	if (m > LONGEST || n > LONGEST)
		return LONGEST;
	for (unsigned j = 0; j <= n; j++)
		above[j] = j;
	for (size_t i = 1; i <= m; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned same = a[i - 1] == b[j - 1] ? 0 : 1;

			row[j] = least(
				above[j] + 1, row[j - 1] + 1, above[j - 1] + same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1, LONGEST);
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[n];
}

void aw_suggest_init(struct aw_suggestion *suggestion, const char *word)
{
	suggestion->word = word;
	suggestion->best = NULL;
	suggestion->distance = LONGEST;
}

void aw_suggest_offer(struct aw_suggestion *suggestion, const char *candidate)
{
	size_t len = strlen(suggestion->word);
	unsigned far = distance(suggestion->word, candidate);

	/* The start of a word is as good as the word with one slip. */
	if (len >= 2 && far > 1 && !strncmp(candidate, suggestion->word, len))
		far = 1;
	if (far < suggestion->distance) {
		suggestion->best = candidate;
		suggestion->distance = far;
	}
}

const char *aw_suggest_best(const struct aw_suggestion *suggestion)
{
	size_t len = strlen(suggestion->word);
	size_t allowed = len < 3 ? 1 : (len + 2) / 3;

	/* few people miss the first letter and another one besides */
	if (suggestion->distance > 1 && suggestion->best &&
		suggestion->best[0] != suggestion->word[0])
		return NULL;
	return suggestion->distance <= allowed ? suggestion->best : NULL;
}
