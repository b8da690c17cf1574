/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.h - a copy of an image in which rules can be silenced.
 *
 * For those who ask what the others say: what a layer says by itself, or whether a rule
 * makes any difference.  Rules keep their numbers, so a decision of the copy can be
 * looked up in the image it was made from; the copy answers with the same code.
 */
#ifndef AW_POLICY_IMAGE_MASK_H
#define AW_POLICY_IMAGE_MASK_H

#include "policy/image/rules.h"

/* A copy, malloc'd; NULL when there is no memory. */
struct aw_image *aw_mask_create(const struct aw_image *image);

/* The rule says nothing any more, until it is given its voice again. */
void aw_mask_rule(struct aw_image *copy, uint32_t rule);
void aw_mask_restore(
	struct aw_image *copy, const struct aw_image *image, uint32_t rule);

/* What no rule of these files matches is admitted, as far as they are concerned. */
void aw_mask_default(
	struct aw_image *copy, enum aw_rules_of of, enum aw_rule_section section);

/* The same for all sections; a listen list does not count either. */
void aw_mask_defaults(struct aw_image *copy, enum aw_rules_of of);

/* The word of a default: "allow", "read-only" or "deny". */
const char *aw_image_default(const struct aw_image *image, enum aw_rules_of of,
	enum aw_rule_section section);

#endif
