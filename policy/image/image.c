/* SPDX-License-Identifier: Apache-2.0 */
/* image.c - reading the compiled policy, and what its file lists mean. */
#include "policy/image/image.h"

#include <string.h>

#include "policy/image/image_layout.h"

size_t aw_image_size(const struct aw_image *image)
{
	return image->size;
}

enum aw_mode aw_image_mode(const struct aw_image *image)
{
	return image->mode == AW_ENFORCE ? AW_ENFORCE : AW_AUDIT;
}

bool aw_image_hides(const struct aw_image *image)
{
	return image->flags & AW_IMAGE_HIDES;
}

bool aw_image_rule(const struct aw_image *image, uint32_t rule, struct aw_rule *ret)
{
	const struct aw_image_entry *entry = aw_part_at(image, AW_PART_ENTRIES);

	if (rule >= image->parts[AW_PART_ENTRIES].count)
		return false;
	entry += rule;
	ret->file = aw_image_bytes(image, entry->file);
	ret->line = entry->line;
	ret->text = aw_image_bytes(image, entry->text);
	ret->layer = aw_image_bytes(image, entry->layer);
	return true;
}

bool aw_is_change(enum aw_action action)
{
	switch (action) {
	case AW_WRITE:
	case AW_CREATE:
	case AW_DELETE:
	case AW_RENAME:
	case AW_BIND:
		return true;
	default:
		return false;
	}
}

/* What may not be run by its path may not be read either, or moved to a path that may. */
static bool touches_program(enum aw_action action)
{
	return action == AW_READ || action == AW_WRITE || action == AW_RENAME;
}

static enum aw_verdict default_verdict(uint8_t how, bool change)
{
	if (how == AW_DEFAULT_ALLOW || (how == AW_DEFAULT_READ_ONLY && !change))
		return AW_ALLOW;
	return AW_DENY;
}

/* Connecting is a matter of the network lists, but what is denied here stays denied. */
static bool only_denials(enum aw_action action)
{
	return action == AW_CONNECT || action == AW_SEND;
}

void aw_image_judge_files(const struct aw_image *image, unsigned s,
	enum aw_action action, const struct aw_matches *m, struct aw_decision *ret)
{
	bool change = aw_is_change(action);
	bool makes = action == AW_CREATE || action == AW_BIND;
	uint32_t rule, read;

	if (aw_matches_hold(image, m, s, AW_LIST_HIDE, &rule))
		aw_decision_add(ret, makes ? AW_DENY : AW_HIDE, rule);
	else if (action == AW_METADATA)
		return;
	else if (aw_matches_hold(image, m, s, AW_LIST_DENY, &rule))
		aw_decision_add(ret, AW_DENY, rule);
	else if (only_denials(action))
		return;
	else if (change && aw_matches_hold(image, m, s, AW_LIST_DENY_WRITE, &rule))
		aw_decision_add(ret, AW_DENY, rule);
	else if (touches_program(action) &&
		 aw_matches_hold(image, m, s, AW_LIST_EXEC_DENY, &rule))
		aw_decision_add(ret, AW_DENY, rule);
	else if (aw_matches_hold(image, m, s, AW_LIST_ASK, &rule))
		aw_decision_add(ret, AW_ASK, rule);
	else if (aw_matches_hold(image, m, s, AW_LIST_WRITE, &rule))
		aw_decision_add(ret, AW_ALLOW, rule);
	else if (aw_matches_hold(image, m, s, AW_LIST_READ, &read))
		aw_decision_add(ret, change ? AW_DENY : AW_ALLOW, read);
	else
		aw_decision_add(ret, default_verdict(image->strata[s].files, change),
			AW_NO_RULE);
}

static bool keyed(
	const struct aw_image *image, const struct aw_matches *m, uint32_t *ret_rule)
{
	return aw_matches_hold(
		image, m, AW_STRATUM_PROTECTIONS, AW_LIST_KEYED, ret_rule);
}

bool aw_image_keyed(
	const struct aw_image *image, const char *path, size_t len, uint32_t *ret_rule)
{
	const struct aw_window all = {0, AW_STRATA};
	struct aw_matches m;

	if (!(image->flags & AW_IMAGE_KEYS))
		return false;
	aw_image_walk(image, AW_WALK_CHANGES, &all, path, len, &m);
	return keyed(image, &m, ret_rule);
}

bool aw_image_next_keyed(const struct aw_image *image, uint32_t *at,
	const char **ret_pattern, size_t *ret_len, uint32_t *ret_rule)
{
	const struct aw_image_entry *e = aw_part_at(image, AW_PART_ENTRIES);

	if (!(image->flags & AW_IMAGE_KEYS))
		return false;
	for (; *at < image->parts[AW_PART_ENTRIES].count; ++*at) {
		if (e[*at].list != AW_LIST_KEYED)
			continue;
		*ret_pattern = aw_image_bytes(image, e[*at].pattern);
		*ret_len = e[*at].pattern_len;
		*ret_rule = (*at)++;
		return true;
	}
	return false;
}

/* What is judged by keys is so for all: profiles have no such rules. */
static void decide_files(const struct aw_image *image, uint32_t profiles,
	enum aw_action action, bool in_place, const char *path, size_t len,
	struct aw_decision *ret)
{
	enum aw_walk how = aw_is_change(action) ? AW_WALK_CHANGES : AW_WALK_READS;
	uint32_t windows = aw_windows_of(profiles), rule;
	struct aw_window w;
	struct aw_matches m;
	unsigned s;

	while (aw_window_next(image, &windows, &w)) {
		aw_image_walk(image, how, &w, path, len, &m);
		for (s = w.first; s < w.end; s++)
			if (aw_stratum_speaks(image, s))
				aw_image_judge_files(image, s, action, &m, ret);
		if (in_place && w.first == 0 && image->flags & AW_IMAGE_KEYS &&
			keyed(image, &m, &rule))
			aw_decision_add(ret, AW_DENY, rule);
	}
}

void aw_image_decide_in_place(const struct aw_image *image, enum aw_action action,
	const char *path, size_t len, struct aw_decision *ret)
{
	aw_image_decide_in_place_in(image, 0, action, path, len, ret);
}

void aw_image_decide_in_place_in(const struct aw_image *image, uint32_t profiles,
	enum aw_action action, const char *path, size_t len, struct aw_decision *ret)
{
	if (action != AW_WRITE && action != AW_CREATE) {
		aw_image_decide_path_in(image, profiles, action, path, len, ret);
		return;
	}
	*ret = (struct aw_decision){AW_ALLOW, AW_NO_RULE};
	decide_files(image, profiles, action, true, path, len, ret);
}

void aw_image_decide_path(const struct aw_image *image, enum aw_action action,
	const char *path, size_t len, struct aw_decision *ret)
{
	aw_image_decide_path_in(image, 0, action, path, len, ret);
}

void aw_image_decide_path_in(const struct aw_image *image, uint32_t profiles,
	enum aw_action action, const char *path, size_t len, struct aw_decision *ret)
{
	ret->verdict = AW_ALLOW;
	ret->rule = AW_NO_RULE;
	switch (action) {
	case AW_EXEC:
		aw_image_decide_exec_in(image, profiles, path, len, NULL, 0, ret);
		return;
	case AW_METADATA:
		if (!aw_image_hides(image))
			return;
		break;
	case AW_SYSTEM_CALL:
		return;
	default:
		break;
	}
	decide_files(image, profiles, action, false, path, len, ret);
}
