/* SPDX-License-Identifier: Apache-2.0 */
/* load_places.c - where each entry of the lists stands. */
#include <stdlib.h>

#include "policy/load/load_internal.h"

/* Each means a look at all that come behind it; a file may come from anyone. */
#define DOUBLES_MAX 200

/* The rule of the entry that counts in place of a double; rule is that behind it. */
static uint32_t counting(const struct aw_draft *draft, size_t at, uint32_t rule)
{
	for (size_t i = at + 1; i < draft->count; i++) {
		if (draft->entries[i].dropped)
			continue;
		if (aw_draft_same(&draft->entries[at], &draft->entries[i]))
			return rule;
		rule++;
	}
	return AW_NO_RULE;
}

void aw_places_fill(struct aw_loader *l)
{
	const struct aw_draft *draft = &l->draft;
	struct aw_entry_place *place;
	uint32_t rule = 0;
	unsigned doubles = 0;

	if (!draft->count || !l->policy.image)
		return;
	place = aw_new(l, draft->count, sizeof(*place));
	if (!place)
		return;
	l->policy.places = place;
	/* those that follow from others come last, and have no place of their own */
	for (size_t i = 0; i < draft->count && !draft->entries[i].shown; i++, place++) {
		const struct aw_draft_entry *entry = &draft->entries[i];

		l->policy.place_count++;
		place->line = entry->line;
		place->column = entry->column;
		if (!entry->dropped) {
			place->rule = rule++;
			continue;
		}
		place->rule =
			doubles++ < DOUBLES_MAX ? counting(draft, i, rule) : AW_NO_RULE;
		place->doubled = aw_copy(l, entry->text);
		place->file = aw_copy(l, entry->file);
	}
}

void aw_places_free(struct aw_policy *policy)
{
	for (size_t i = 0; i < policy->place_count; i++) {
		free(policy->places[i].doubled);
		free(policy->places[i].file);
	}
	free(policy->places);
	policy->places = NULL;
	policy->place_count = 0;
}
