/* SPDX-License-Identifier: Apache-2.0 */
/* image_profile.c - the profiles of an image: their names, and what enters them. */
#include "policy/image/profile.h"

#include <string.h>

#include "policy/glob.h"
#include "policy/image/image_layout.h"

unsigned aw_image_profiles(const struct aw_image *image)
{
	return image->parts[AW_PART_PROFILES].count;
}

const char *aw_image_profile_name(const struct aw_image *image, unsigned i)
{
	const uint32_t *names = aw_part_at(image, AW_PART_PROFILES);

	return i < aw_image_profiles(image) ? aw_image_bytes(image, names[i]) : NULL;
}

uint32_t aw_image_profile_set(const struct aw_image *image, const char *name)
{
	uint32_t set = 0;
	unsigned i;

	for (i = 0; i < aw_image_profiles(image); i++)
		if (strcmp(aw_image_profile_name(image, i), name) == 0)
			set |= 1u << i;
	return set;
}

uint32_t aw_image_entered(const struct aw_image *image, const char *path, size_t len,
	const char *const *argv, size_t argc)
{
	uint32_t set = 0, rule;
	struct aw_matches m;
	unsigned i;

	for (i = 0; i < aw_image_profiles(image); i++) {
		const struct aw_window w = {AW_STRATA + i, AW_STRATA + i + 1};

		aw_image_walk(image, AW_WALK_READS, &w, path, len, &m);
		aw_image_match_programs(image, path, len, argv, argc, &m);
		if (aw_matches_hold(image, &m, w.first, AW_LIST_ENTER, &rule))
			set |= 1u << i;
	}
	return set;
}

uint32_t aw_image_entered_by_mcp(const struct aw_image *image, const char *name)
{
	const struct aw_image_entry *e = aw_part_at(image, AW_PART_ENTRIES);
	uint32_t set = 0, bit, i;

	/* in order, so that the last one that matches decides */
	for (i = 0; i < image->parts[AW_PART_ENTRIES].count; i++, e++) {
		if (e->list != AW_LIST_ENTER_MCP || e->stratum < AW_STRATA ||
			!aw_glob_match(aw_image_bytes(image, e->pattern),
				e->pattern_len, name, strlen(name)))
			continue;
		bit = 1u << (e->stratum - AW_STRATA);
		set = e->negated ? set & ~bit : set | bit;
	}
	return set;
}

static bool refuses_reads(const struct aw_image_entry *e)
{
	return !e->negated &&
	       (e->list == AW_LIST_HIDE || e->list == AW_LIST_DENY ||
		       e->list == AW_LIST_ASK || e->list == AW_LIST_EXEC_DENY);
}

bool aw_image_profiles_refuse_reads(const struct aw_image *image)
{
	const struct aw_image_entry *e = aw_part_at(image, AW_PART_ENTRIES);
	uint32_t i;

	for (i = AW_STRATA; i < aw_strata_of(image); i++)
		if (image->strata[i].files == AW_DEFAULT_DENY)
			return true;
	for (i = 0; i < image->parts[AW_PART_ENTRIES].count; i++, e++)
		if (e->stratum >= AW_STRATA && refuses_reads(e))
			return true;
	return false;
}
