/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - what is left of a path pattern behind the directory that one is in.
 *
 * For those who have the time: a rename, a policy that is loaded.  Judging a path is
 * done by policy/image/image_walk.c.
 */
#ifndef AW_POLICY_IMAGE_PATTERN_H
#define AW_POLICY_IMAGE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AW_PATTERN_PARTS = 64 };

/* The components of a pattern, which point into its text. */
struct aw_pattern {
	const char *at[AW_PATTERN_PARTS];
	size_t len[AW_PATTERN_PARTS];
	unsigned count;
};

/* False: too many. */
bool aw_pattern_take_apart(const char *pattern, size_t len, struct aw_pattern *ret);

/* Is component i any number of directories ("**")? */
bool aw_pattern_is_deep(const struct aw_pattern *p, unsigned i);

/*
 * Where in the pattern one may stand behind the path, a bit for each component that
 * would be next; bit `count`: the whole path matches, and so does all below it.
 */
uint64_t aw_pattern_behind(const struct aw_pattern *p, const char *path, size_t len);

#endif
