/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - both ends of a call. */
#include "policy/decide.h"

void aw_decide_files(const struct aw_image *image, uint32_t profiles,
	enum aw_effect effect, enum aw_action action, const struct aw_ends *ends,
	struct aw_decision *ret)
{
	struct aw_decision second;

	aw_image_decide_path_in(image, profiles,
		effect == AW_FX_LINK ? AW_WRITE : action, ends->path, ends->path_len,
		ret);
	if (!ends->path2_len)
		return;
	aw_image_decide_path_in(image, profiles,
		effect == AW_FX_SYMLINK ? AW_READ : action, ends->path2,
		ends->path2_len, &second);
	if (second.verdict > ret->verdict)
		*ret = second;
}
