/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide.h - the verdict for a call that names one or two files.
 *
 * One place for what shim and supervisor must both say: what each end of a call is
 * judged as.  Allocates nothing, as everything in image.h.
 */
#ifndef AW_POLICY_DECIDE_H
#define AW_POLICY_DECIDE_H

#include "policy/calls.h"
#include "policy/image/image.h"

struct aw_call_paths {
	const char *path;
	size_t path_len;
	const char *path2; /* the second end; path2_len is 0 when there is none */
	size_t path2_len;
};

/*
 * action is that of the call, profiles the set of its process.  The stricter verdict of
 * both ends comes back.  The file that gets another name by link(2) is judged as if it
 * were written to, since it will be writable where the new name is; what a symbolic
 * link says is judged as read.
 */
void aw_decide_files(const struct aw_image *image, uint32_t profiles,
	enum aw_effect effect, enum aw_action action, const struct aw_call_paths *ends,
	struct aw_decision *ret);

/*
 * The verdict for open(2) with O_PATH.  It opens nothing, and so it is looking at
 * metadata; but what a rule denies to be read is not pinned either: its name may become
 * another one that no rule knows while the descriptor stays.
 */
void aw_decide_pin(const struct aw_image *image, uint32_t profiles, const char *path,
	size_t len, struct aw_decision *ret);

#endif
