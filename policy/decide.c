/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - both ends of a call. */
#include "policy/decide.h"

/* Renames are judged by what comes, which only the supervisor can read. */
static bool is_in_place(enum aw_effect effect)
{
	return effect == AW_FX_OPEN || effect == AW_FX_CREAT || effect == AW_FX_LINK ||
	       effect == AW_FX_SYMLINK;
}

void aw_decide_pin(const struct aw_image *image, uint32_t profiles, const char *path,
	size_t len, struct aw_decision *ret)
{
	struct aw_decision reading;

	aw_image_decide_path_in(image, profiles, AW_METADATA, path, len, ret);
	aw_image_decide_path_in(image, profiles, AW_READ, path, len, &reading);
	if (reading.rule != AW_NO_RULE && reading.verdict != AW_ASK &&
		reading.verdict > ret->verdict)
		*ret = reading;
}

void aw_decide_files(const struct aw_image *image, uint32_t profiles,
	enum aw_effect effect, enum aw_action action, const struct aw_call_paths *ends,
	struct aw_decision *ret)
{
	void (*decide)(const struct aw_image *, uint32_t, enum aw_action, const char *,
		size_t, struct aw_decision *) = is_in_place(effect)
							? aw_image_decide_in_place_in
							: aw_image_decide_path_in;
	struct aw_decision second;

	if (effect == AW_FX_OPEN && action == AW_METADATA) {
		aw_decide_pin(image, profiles, ends->path, ends->path_len, ret);
		return;
	}
	decide(image, profiles, effect == AW_FX_LINK ? AW_WRITE : action, ends->path,
		ends->path_len, ret);
	if (!ends->path2_len)
		return;
	decide(image, profiles, effect == AW_FX_SYMLINK ? AW_READ : action, ends->path2,
		ends->path2_len, &second);
	if (second.verdict > ret->verdict)
		*ret = second;
}
