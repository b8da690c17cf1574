/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redundant_rules.h - rules of a policy that make no difference, and why.
 *
 * Found by asking: a rule is silenced in a copy of the image, and the questions that it
 * is about (policy/image/pattern_probe.h) are put to both.  What is reported is about
 * entries of one file and what other entries of that file's own list do to them; a
 * layer that overrides another is as it should be.
 */
#ifndef AW_SUPERVISOR_LINT_REDUNDANT_RULES_H
#define AW_SUPERVISOR_LINT_REDUNDANT_RULES_H

#include "supervisor/lint/findings.h"

/*
 * Doubles, entries that others cover, take out or put in again, and entries that admit
 * what a denial of any layer refuses as a whole, in files for which is_own() is true.
 */
void aw_redundant_find(const struct aw_policy *policy,
	bool (*is_own)(const void *ctx, const char *file), const void *ctx,
	struct aw_findings *findings);

#endif
