/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - the profiles of an image: tighter policies that a process enters with an
 * exec and never leaves.
 *
 * Sets of them are described in image.h.  Nothing here allocates.
 */
#ifndef AW_POLICY_IMAGE_PROFILE_H
#define AW_POLICY_IMAGE_PROFILE_H

#include "policy/image/image.h"

/* How many there are, and the name of each; NULL behind the last. */
unsigned aw_image_profiles(const struct aw_image *image);
const char *aw_image_profile_name(const struct aw_image *image, unsigned i);

/*
 * All that have this name; 0: none.  More than one where files that cannot loosen each
 * other use the same.
 */
uint32_t aw_image_profile_set(const struct aw_image *image, const char *name);

/* What running path with these arguments enters, as exec lists match. */
uint32_t aw_image_entered(const struct aw_image *image, const char *path, size_t len,
	const char *const *argv, size_t argc);

/* What an MCP server of this name enters. */
uint32_t aw_image_entered_by_mcp(const struct aw_image *image, const char *name);

/*
 * Does a profile refuse reads that hold for others?  Then no read may pass unseen,
 * since a filter does not know profiles.
 */
bool aw_image_profiles_refuse_reads(const struct aw_image *image);

#endif
