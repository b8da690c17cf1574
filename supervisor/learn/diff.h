/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - what a learnt policy gives and takes, against the one that counts now.
 */
#ifndef AW_SUPERVISOR_LEARN_DIFF_H
#define AW_SUPERVISOR_LEARN_DIFF_H

#include <stdio.h>

#include "policy/load/load.h"

/*
 * One line for each entry that only one of them has: "+ filesystem.write: ..." is new,
 * "- ..." is taken away.  Sorted by section.  Returns the number of lines.
 */
size_t aw_policy_diff(
	const struct aw_policy *present, const struct aw_policy *learnt, FILE *out);

#endif
