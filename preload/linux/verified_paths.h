/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verified_paths.h - directories whose paths are known to hold no symbolic link.
 *
 * In enforce an open that was made here is proven by the kernel's name for what came
 * out (gate.c).  For most files another one of the same directory was proven before,
 * and then it is enough that the last component is no link.  The supervisor makes every
 * link and moves every directory of the session, and counts that in aw_page.links: what
 * was known under an older count is void.  What a process outside the session changes
 * is not noticed (docs/LIMITS.md).
 *
 * A table of hashes, written and read without locks; async-signal-safe.
 */
#ifndef AW_PRELOAD_LINUX_VERIFIED_PATHS_H
#define AW_PRELOAD_LINUX_VERIFIED_PATHS_H

#include "preload/linux/process_state.h"

/* The count to remember before the open that is to be proven. */
uint32_t aw_links_now(void);

/* The directory of the absolute, normal path of len bytes was proven at this count. */
bool aw_is_proven(
	const struct aw_self *self, const char *path, size_t len, uint32_t links);
void aw_prove(struct aw_self *self, const char *path, size_t len, uint32_t links);

#endif
