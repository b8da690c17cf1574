/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - path patterns, component by component. */
#include "policy/image/pattern.h"

#include <string.h>

#include "policy/glob.h"

/* One component of text from *at on, which moves behind it; 0: none is left. */
static size_t next(const char *text, size_t len, size_t *at, const char **ret)
{
	size_t start;

	while (*at < len && text[*at] == '/')
		++*at;
	start = *at;
	while (*at < len && text[*at] != '/')
		++*at;
	*ret = text + start;
	return *at - start;
}

bool aw_pattern_take_apart(const char *pattern, size_t len, struct aw_pattern *ret)
{
	const char *text;
	size_t at = 0, n;

	ret->count = 0;
	while ((n = next(pattern, len, &at, &text))) {
		if (ret->count == AW_PATTERN_PARTS - 1)
			return false;
		ret->at[ret->count] = text;
		ret->len[ret->count++] = n;
	}
	return true;
}

bool aw_pattern_is_deep(const struct aw_pattern *p, unsigned i)
{
	return p->len[i] == 2 && memcmp(p->at[i], "**", 2) == 0;
}

/* "**" is also nothing at all. */
static uint64_t close_over(const struct aw_pattern *p, uint64_t places)
{
	for (unsigned i = 0; i < p->count; i++)
		if (places >> i & 1 && aw_pattern_is_deep(p, i))
			places |= UINT64_C(1) << (i + 1);
	return places;
}

uint64_t aw_pattern_behind(const struct aw_pattern *p, const char *path, size_t len)
{
	uint64_t now = close_over(p, 1), then;
	size_t at = 0, n;
	const char *have;

	for (; (n = next(path, len, &at, &have)); now = close_over(p, then)) {
		then = now & UINT64_C(1) << p->count;
		for (unsigned i = 0; i < p->count; i++) {
			if (!(now >> i & 1))
				continue;
			if (aw_pattern_is_deep(p, i))
				then |= UINT64_C(1) << i;
			else if (aw_glob_match(p->at[i], p->len[i], have, n))
				then |= UINT64_C(1) << (i + 1);
		}
	}
	return now;
}
