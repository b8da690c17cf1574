/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_variable.h - the variables of a policy as directories, to put them back into
 * paths.
 */
#ifndef AW_SUPERVISOR_LEARN_PATH_VARIABLE_H
#define AW_SUPERVISOR_LEARN_PATH_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/load/load.h"

enum { AW_PATH_VARIABLES = 5 };

struct aw_path_variable {
	const char *name; /* "$HOME"; "" for the root directory */
	const char *path; /* borrowed; "" for the root directory */
	size_t len;
};

/* The root directory, then variables: one that lies in another stands behind it. */
struct aw_path_variables {
	struct aw_path_variable items[AW_PATH_VARIABLES];
	size_t count;
};

/* variables must outlive the anchors. */
void aw_path_variables_init(
	struct aw_path_variables *anchors, const struct aw_policy_variables *variables);

/* The index of the nearest one at or above path; *ret_rest has no leading slash. */
size_t aw_path_variable_of(const struct aw_path_variables *anchors, const char *path,
	const char **ret_rest);

/* True when path is a directory in which an anchor lies, or (self) one itself. */
bool aw_path_variable_within(
	const struct aw_path_variables *anchors, const char *path, bool self);

#endif
