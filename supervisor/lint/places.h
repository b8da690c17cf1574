/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - what the file system of this machine says about the entries of a policy.
 */
#ifndef AW_SUPERVISOR_LINT_PLACES_H
#define AW_SUPERVISOR_LINT_PLACES_H

#include "supervisor/lint/findings.h"

/*
 * Entries in files for which is_own() is true that nothing can match here: below a
 * file, through a symbolic link, where nothing can be made.  Notes on those that
 * nothing matches today.
 */
void aw_places_find(const struct aw_policy *policy,
	bool (*is_own)(const void *ctx, const char *file), const void *ctx,
	struct aw_findings *findings);

#endif
