/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - what in a policy is looser than the base that enforce has by default. */
#ifndef AW_SUPERVISOR_LINT_BASE_H
#define AW_SUPERVISOR_LINT_BASE_H

#include "policy/load/load.h"

struct aw_permission_diff {
	struct aw_given given; /* where; line 0: a flag or the environment */
	const char *text;      /* one sentence */
};

/* The i-th of them, highest layer first; false behind the last one. */
bool aw_permission_diff(
	const struct aw_policy *policy, size_t i, struct aw_permission_diff *ret);

#endif
