/* SPDX-License-Identifier: Apache-2.0 */
/* base.c - what in a policy is looser than the base that enforce has by default. */
#include "supervisor/lint/base.h"

#include <string.h>

static const char open_text[] = "base: open: what no rule denies is allowed, and there "
				"is no sandbox unless 'runner' names one";
static const char replaced_text[] =
	"merge: replace: the base and the files below do not apply; defaults are allow "
	"unless a file names them";
static const char files_text[] =
	"merge: replace: the rules of the files below do not apply";

bool aw_permission_diff(
	const struct aw_policy *policy, size_t i, struct aw_permission_diff *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (policy->base_kind == AW_BASE_OPEN) {
		if (i == 0) {
			ret->text = open_text;
			if (!aw_policy_given(policy, "base", 0, &ret->given) ||
				strcmp(ret->given.value, "open") != 0)
				memset(&ret->given, 0, sizeof(ret->given));
			return true;
		}
		i--;
	}
	ret->text = policy->base_replaced ? replaced_text : files_text;
	return i == 0 && aw_policy_given(policy, "merge", 0, &ret->given);
}
