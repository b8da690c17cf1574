/* SPDX-License-Identifier: Apache-2.0 */
/* load_origin.c - where the values outside the lists came from. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

static void free_origin(struct aw_origin *origin)
{
	free(origin->key);
	free(origin->value);
	free(origin->layer);
	free(origin->file);
	free(origin);
}

void aw_origin_add(struct aw_loader *l, const struct aw_node *at, const char *key,
	const char *value)
{
	struct aw_origin *origin = aw_new(l, 1, sizeof(*origin));

	if (!origin)
		return;
	origin->key = aw_copy(l, key);
	origin->value = aw_copy(l, value);
	origin->layer = aw_copy(l, l->source->layer);
	origin->file = aw_copy(l, l->source->file);
	if (!origin->key || !origin->value || !origin->layer || !origin->file) {
		free_origin(origin);
		return;
	}
	origin->line = at->line;
	origin->stratum = l->stratum;
	origin->next = l->policy.origins;
	l->policy.origins = origin;
}

const struct aw_origin *aw_origin_find(const struct aw_policy *policy, unsigned stratum,
	const char *key, const char *value)
{
	const struct aw_origin *o;

	for (o = policy->origins; o; o = o->next)
		if ((stratum == AW_ANY_STRATUM || o->stratum == stratum) &&
			strcmp(o->key, key) == 0 &&
			(!value || strcmp(o->value, value) == 0))
			return o;
	return NULL;
}

bool aw_is_systems(const struct aw_loader *l, enum aw_stratum stratum)
{
	return stratum < AW_STRATA
		       ? stratum == AW_STRATUM_SYSTEM
		       : l->policy.profiles[stratum - AW_STRATA].trust == AW_SYSTEM;
}

/* What a `merge_strategy` for one runner does not touch. */
static bool is_field(const char *key)
{
	int i;

	for (i = 0; i < AW_FIELDS; i++)
		if (strcmp(key, aw_field_key(i)) == 0)
			return true;
	return strcmp(key, "mode") == 0 || strncmp(key, "protections.", 12) == 0;
}

void aw_origins_drop(struct aw_loader *l, bool fields)
{
	struct aw_origin **at = &l->policy.origins, *o;

	while ((o = *at)) {
		if (aw_is_systems(l, o->stratum) || (!fields && is_field(o->key))) {
			at = &o->next;
			continue;
		}
		*at = o->next;
		free_origin(o);
	}
}

void aw_origins_free(struct aw_policy *policy)
{
	struct aw_origin *next;

	for (; policy->origins; policy->origins = next) {
		next = policy->origins->next;
		free_origin(policy->origins);
	}
}
