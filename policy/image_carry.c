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

/*
 * How many components of the pattern the whole path takes up, when more is left of it;
 * -1: it is not about anything below.  *ret_deep: "**" was met, so any depth will do.
 */
static int leads_below(const char *pattern, size_t pattern_len, const char *path,
	size_t len, bool *ret_deep)
{
	size_t in_pattern = 0, in_path = 0, n, m;
	const char *want, *have;
	int depth = 0;

	*ret_deep = false;
	while ((m = next(path, len, &in_path, &have))) {
		n = next(pattern, pattern_len, &in_pattern, &want);
		if (n == 2 && memcmp(want, "**", 2) == 0) {
			*ret_deep = true;
			return depth;
		}
		if (!n || !aw_glob_match(want, n, have, m))
			return -1;
		depth++;
	}
	return next(pattern, pattern_len, &in_pattern, &want) ? depth : -1;
}

static bool guards(const struct aw_image_entry *entry)
{
	return !entry->negated &&
	       (entry->list == AW_LIST_DENY || entry->list == AW_LIST_HIDE ||
		       entry->list == AW_LIST_DENY_WRITE);
}

bool aw_image_carries(const struct aw_image *image, const char *from, size_t from_len,
	const char *to, size_t to_len, uint32_t *ret_rule)
{
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	const uint32_t *patterns = aw_part_at(image, AW_PART_PATTERNS);

	for (uint32_t i = 0; i < image->parts[AW_PART_PATTERNS].count; i++) {
		const struct aw_image_entry *e = &entries[patterns[i]];
		const char *pattern = aw_image_bytes(image, e->pattern);
		bool deep_from, deep_to;
		int depth_from, depth_to;

		if (!guards(e))
			continue;
		depth_from = leads_below(
			pattern, e->pattern_len, from, from_len, &deep_from);
		if (depth_from < 0)
			continue;
		depth_to = leads_below(pattern, e->pattern_len, to, to_len, &deep_to);
		if (depth_to >= 0 &&
			(deep_to || (depth_to == depth_from && !deep_from)))
			continue; /* the same rule holds there */
		*ret_rule = patterns[i];
		return true;
	}
	return false;
}
