/* SPDX-License-Identifier: Apache-2.0 */
/* load_given.c - where a value outside the lists was given. */
#include <string.h>

#include "policy/load/load_internal.h"

bool aw_policy_given(const struct aw_policy *policy, const char *key, size_t nth,
	struct aw_given *ret)
{
	return aw_origin_given(policy->origins, key, nth, ret);
}

bool aw_origin_given(const struct aw_origin *first, const char *key, size_t nth,
	struct aw_given *ret)
{
	for (const struct aw_origin *o = first; o; o = o->next) {
		if (strcmp(o->key, key) != 0 || nth-- > 0)
			continue;
		snprintf(ret->value, sizeof(ret->value), "%s", o->value);
		snprintf(ret->layer, sizeof(ret->layer), "%s", o->layer);
		snprintf(ret->file, sizeof(ret->file), "%s", o->file);
		ret->line = o->line;
		return true;
	}
	return false;
}
