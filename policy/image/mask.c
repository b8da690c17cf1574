/* SPDX-License-Identifier: Apache-2.0 */
/* mask.c - a copy of an image in which rules can be silenced. */
#include "policy/image/mask.h"

#include <stdlib.h>
#include <string.h>

#include "policy/image/image_layout.h"

static struct aw_image_entry *entry_at(struct aw_image *image, uint32_t rule)
{
	return (struct aw_image_entry *)aw_part_at(image, AW_PART_ENTRIES) + rule;
}

struct aw_image *aw_mask_create(const struct aw_image *image)
{
	struct aw_image *copy = malloc(aw_image_size(image));

	if (copy)
		memcpy(copy, image, aw_image_size(image));
	return copy;
}

/* Protections have no read list, and what is taken out of it has no effect. */
void aw_mask_rule(struct aw_image *copy, uint32_t rule)
{
	struct aw_image_entry *entry = entry_at(copy, rule);

	entry->stratum = AW_STRATUM_PROTECTIONS;
	entry->list = AW_LIST_READ;
	entry->negated = 1;
}

void aw_mask_restore(struct aw_image *copy, const struct aw_image *image, uint32_t rule)
{
	const struct aw_image_entry *from = aw_part_at(image, AW_PART_ENTRIES);

	*entry_at(copy, rule) = from[rule];
}

void aw_mask_default(
	struct aw_image *copy, enum aw_rules_of of, enum aw_rule_section section)
{
	struct aw_image_stratum *stratum = &copy->strata[of];

	switch (section) {
	case AW_RULE_FILES:
		stratum->files = AW_DEFAULT_ALLOW;
		break;
	case AW_RULE_EXEC:
		stratum->exec = AW_DEFAULT_ALLOW;
		break;
	case AW_RULE_NETWORK:
		stratum->network = AW_DEFAULT_ALLOW;
		break;
	}
}

void aw_mask_defaults(struct aw_image *copy, enum aw_rules_of of)
{
	memset(&copy->strata[of], 0, sizeof(copy->strata[of]));
}

const char *aw_image_default(
	const struct aw_image *image, enum aw_rules_of of, enum aw_rule_section section)
{
	static const char *const words[] = {"allow", "read-only", "deny"};
	const struct aw_image_stratum *stratum = &image->strata[of];

	return words[section == AW_RULE_FILES  ? stratum->files
		     : section == AW_RULE_EXEC ? stratum->exec
					       : stratum->network];
}
