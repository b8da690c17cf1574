/* SPDX-License-Identifier: Apache-2.0 */
/* image_carry.c - rules about what lies below a directory that is to be moved. */
#include <string.h>

#include "policy/image/image_layout.h"
#include "policy/image/pattern.h"

/* Everything that one question is about. */
struct move {
	const struct aw_image *image;
	const char *from, *to;
	size_t from_len, to_len;
	bool folder;   /* else a file, which has nothing below it */
	bool programs; /* the lists about programs, else those about files */
	struct aw_window window;
	struct aw_matches at_from;
	uint32_t freed[AW_STRATA]; /* bit n: an exception in list n reaches more */
};

/* Where one may stand in the pattern of an entry, before the move and after it. */
struct stand {
	uint64_t from, to, whole;
};

/* False: the pattern is too long to tell. */
static bool look(
	const struct move *move, const struct aw_image_entry *e, struct stand *ret)
{
	struct aw_pattern parts;

	if (!aw_pattern_take_apart(
		    aw_image_bytes(move->image, e->pattern), e->pattern_len, &parts))
		return false;
	ret->whole = UINT64_C(1) << parts.count;
	ret->from = aw_pattern_behind(&parts, move->from, move->from_len);
	ret->to = aw_pattern_behind(&parts, move->to, move->to_len);
	if (!move->folder) {
		ret->from &= ret->whole;
		ret->to &= ret->whole;
	}
	return true;
}

/*
 * AW_ALLOW: the list holds nothing back.  A repository's configuration is known by
 * what stands beside it, wherever it goes.
 */
static enum aw_verdict guards(const struct move *move, const struct aw_image_entry *e)
{
	switch (e->list) {
	case AW_LIST_DENY:
	case AW_LIST_HIDE:
	case AW_LIST_DENY_WRITE:
		return move->programs ? AW_ALLOW : AW_DENY;
	case AW_LIST_KEYED:
		return !move->programs &&
				       strncmp(aw_image_bytes(move->image, e->pattern),
					       "/**/", 4) != 0
			       ? AW_DENY
			       : AW_ALLOW;
	case AW_LIST_ASK:
		return move->programs ? AW_ALLOW : AW_ASK;
	case AW_LIST_EXEC_DENY:
		return move->programs ? AW_DENY : AW_ALLOW;
	case AW_LIST_EXEC_ASK:
		return move->programs ? AW_ASK : AW_ALLOW;
	default:
		return AW_ALLOW;
	}
}

static bool is_judged(const struct move *move, const struct aw_image_entry *e)
{
	return e->stratum >= move->window.first && e->stratum < move->window.end;
}

/*
 * Can the exception match something below the new path that it could not below the
 * old one?  One that stands in front of what it would take out counts, too: a rule that
 * is said once more must not make anything possible.
 */
static void note_exception(struct move *move, const struct aw_image_entry *e)
{
	struct stand stand;

	if (!look(move, e, &stand) ||
		(!(stand.from & stand.whole) && stand.to & ~stand.from))
		move->freed[e->stratum - move->window.first] |= 1u << e->list;
}

/* Does an exception take out all that the entry could match below the old path? */
static bool is_taken_out(
	const struct move *move, const struct aw_image_entry *e, uint32_t index)
{
	const struct aw_image_entry *entries = aw_part_at(move->image, AW_PART_ENTRIES);
	uint32_t last =
		move->at_from
			.best[(e->stratum - move->window.first) * AW_LISTS + e->list];

	return last != AW_NO_RULE && last > index && entries[last].negated;
}

/* Is the entry about something below the old path that it is left behind by? */
static bool is_left(
	const struct move *move, const struct aw_image_entry *e, uint32_t index)
{
	bool freed = move->freed[e->stratum - move->window.first] >> e->list & 1;
	struct stand stand;

	if (is_taken_out(move, e, index))
		return false;
	if (!look(move, e, &stand))
		return true;
	if (freed && stand.from)
		return true;
	return !(stand.to & stand.whole) && stand.from & ~stand.to;
}

static void carry(struct move *move, struct aw_decision *found)
{
	const struct aw_image *image = move->image;
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES), *e;
	const uint32_t *patterns = aw_part_at(image, AW_PART_PATTERNS);
	uint32_t i, count = image->parts[AW_PART_PATTERNS].count;

	memset(move->freed, 0, sizeof(move->freed));
	aw_image_walk(image, AW_WALK_CHANGES, &move->window, move->from, move->from_len,
		&move->at_from);
	for (i = 0; i < count; i++) {
		e = &entries[patterns[i]];
		if (e->negated && is_judged(move, e) && guards(move, e) != AW_ALLOW)
			note_exception(move, e);
	}
	for (i = 0; i < count; i++) {
		e = &entries[patterns[i]];
		if (!e->negated && is_judged(move, e) &&
			guards(move, e) > found->verdict &&
			is_left(move, e, patterns[i]))
			*found = (struct aw_decision){guards(move, e), patterns[i]};
	}
}

static bool any_carries(struct move *move, uint32_t profiles, struct aw_decision *ret)
{
	uint32_t windows = aw_windows_of(profiles);
	struct aw_decision found = {AW_ALLOW, AW_NO_RULE};

	while (aw_window_next(move->image, &windows, &move->window))
		carry(move, &found);
	if (found.verdict == AW_ALLOW)
		return false;
	*ret = found;
	return true;
}

bool aw_image_carries(const struct aw_image *image, uint32_t profiles, const char *from,
	size_t from_len, const char *to, size_t to_len, struct aw_decision *ret)
{
	struct move move = {.image = image,
		.from = from,
		.from_len = from_len,
		.to = to,
		.to_len = to_len,
		.folder = true};

	return any_carries(&move, profiles, ret);
}

bool aw_image_carries_programs(const struct aw_image *image, uint32_t profiles,
	bool folder, const char *from, size_t from_len, const char *to, size_t to_len,
	struct aw_decision *ret)
{
	struct move move = {.image = image,
		.from = from,
		.from_len = from_len,
		.to = to,
		.to_len = to_len,
		.folder = folder,
		.programs = true};

	return any_carries(&move, profiles, ret);
}
