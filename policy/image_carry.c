/* SPDX-License-Identifier: Apache-2.0 */
/* image_carry.c - rules about what lies below a folder that is to be moved. */
#include <string.h>

#include "policy/glob.h"
#include "policy/image_layout.h"

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

enum { PLACES = 64 };

/* The components of a pattern. */
struct parts {
	const char *at[PLACES];
	size_t len[PLACES];
	unsigned count;
};

/* False: too many. */
static bool take_apart(const char *pattern, size_t len, struct parts *ret)
{
	const char *text;
	size_t at = 0, n;

	ret->count = 0;
	while ((n = next(pattern, len, &at, &text))) {
		if (ret->count == PLACES - 1)
			return false;
		ret->at[ret->count] = text;
		ret->len[ret->count++] = n;
	}
	return true;
}

static bool is_deep(const struct parts *p, unsigned i)
{
	return p->len[i] == 2 && memcmp(p->at[i], "**", 2) == 0;
}

/* "**" is also nothing at all. */
static uint64_t close_over(const struct parts *p, uint64_t places)
{
	for (unsigned i = 0; i < p->count; i++)
		if (places >> i & 1 && is_deep(p, i))
			places |= UINT64_C(1) << (i + 1);
	return places;
}

/*
 * Where in the pattern one may stand behind the path, a bit for each component that
 * would be next; the last bit: the whole path matches, and so does all below it.
 */
static uint64_t places_behind(const struct parts *p, const char *path, size_t len)
{
	uint64_t now = close_over(p, 1), then;
	size_t at = 0, n;
	const char *have;

	for (; (n = next(path, len, &at, &have)); now = close_over(p, then)) {
		then = now & UINT64_C(1) << p->count;
		for (unsigned i = 0; i < p->count; i++) {
			if (!(now >> i & 1))
				continue;
			if (is_deep(p, i))
				then |= UINT64_C(1) << i;
			else if (aw_glob_match(p->at[i], p->len[i], have, n))
				then |= UINT64_C(1) << (i + 1);
		}
	}
	return now;
}

/* Is the pattern about something below one path that it is not about below the other?
 */
static bool is_left(const struct parts *p, const char *from, size_t from_len,
	const char *to, size_t to_len)
{
	uint64_t before = places_behind(p, from, from_len),
		 after = places_behind(p, to, to_len);

	return !(after >> p->count & 1) && before & ~after;
}

/* Is it a rule for a process in these profiles? */
static bool concerns(const struct aw_image_entry *entry, uint32_t profiles)
{
	if (entry->stratum < AW_STRATA)
		return !(profiles & AW_PROFILES_ALONE);
	return profiles >> (entry->stratum - AW_STRATA) & 1;
}

/*
 * AW_ALLOW: the entry holds nothing back.  A repository's configuration is known by
 * what stands beside it, wherever it goes.
 */
static enum aw_verdict guards(const struct aw_image_entry *entry, const char *pattern)
{
	if (entry->negated)
		return AW_ALLOW;
	switch (entry->list) {
	case AW_LIST_DENY:
	case AW_LIST_HIDE:
	case AW_LIST_DENY_WRITE:
		return AW_DENY;
	case AW_LIST_KEYED:
		return strncmp(pattern, "/**/", 4) != 0 ? AW_DENY : AW_ALLOW;
	case AW_LIST_ASK:
		return AW_ASK;
	default:
		return AW_ALLOW;
	}
}

bool aw_image_carries(const struct aw_image *image, uint32_t profiles, const char *from,
	size_t from_len, const char *to, size_t to_len, struct aw_decision *ret)
{
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	const uint32_t *patterns = aw_part_at(image, AW_PART_PATTERNS);
	struct aw_decision found = {AW_ALLOW, AW_NO_RULE};

	for (uint32_t i = 0; i < image->parts[AW_PART_PATTERNS].count; i++) {
		const struct aw_image_entry *e = &entries[patterns[i]];
		const char *pattern = aw_image_bytes(image, e->pattern);
		enum aw_verdict verdict = guards(e, pattern);
		struct parts parts;

		if (verdict <= found.verdict || !concerns(e, profiles) ||
			(take_apart(pattern, e->pattern_len, &parts) &&
				!is_left(&parts, from, from_len, to, to_len)))
			continue;
		found = (struct aw_decision){verdict, patterns[i]};
	}
	if (found.verdict == AW_ALLOW)
		return false;
	*ret = found;
	return true;
}
