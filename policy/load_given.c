/* SPDX-License-Identifier: Apache-2.0 */
/* load_given.c - where a value outside the lists was given. */
#include <stdlib.h>
#include <string.h>

#include "policy/load_internal.h"

/* "LAYER FILE:LINE" taken apart. */
static bool read_where(const char *where, struct aw_given *ret)
{
	size_t layer = strcspn(where, " ");
	const char *colon = strrchr(where, ':');

	if (!where[layer] || !colon || colon < where + layer)
		return false;
	snprintf(ret->layer, sizeof(ret->layer), "%.*s", (int)layer, where);
	snprintf(ret->file, sizeof(ret->file), "%.*s",
		(int)(colon - where - (long)layer - 1), where + layer + 1);
	ret->line = (unsigned)strtoul(colon + 1, NULL, 10);
	return true;
}

bool aw_policy_given(const struct aw_policy *policy, const char *key, size_t nth,
	struct aw_given *ret)
{
	size_t len = strlen(key);

	for (const struct aw_origin *o = policy->origins; o; o = o->next) {
		if (!o->what || !o->where || strncmp(o->what, key, len) != 0 ||
			o->what[len] != '=' || nth-- > 0)
			continue;
		snprintf(ret->value, sizeof(ret->value), "%s", o->what + len + 1);
		return read_where(o->where, ret);
	}
	return false;
}
