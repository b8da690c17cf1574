/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.h - directories that are known to belong together, and those that never do.
 */
#ifndef AW_SUPERVISOR_LEARN_ROOT_H
#define AW_SUPERVISOR_LEARN_ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/learn/reference_policy.h"

/* What learning generalises by; --for agent takes the workspace as a whole. */
struct aw_root_style {
	bool whole_workspace;
};

/*
 * How many parts of rest (below the anchor, parts divided by slashes) name the known
 * directory that it lies in; -1 when it lies in none.  0 means the anchor itself.
 * *ret_anywhere: the directory's name stands for every directory of that name.
 */
int aw_root_parts(const struct aw_root_style *style, const char *anchor,
	const char *rest, enum aw_access access, bool *ret_anywhere);

/* Too much lies in this directory for it to stand for what was used in it. */
bool aw_root_is_wide(const char *anchor, const char *rest, enum aw_access access);

/* Programs put files of the moment here. */
bool aw_root_is_temporary(const char *anchor, const char *rest);

#endif
