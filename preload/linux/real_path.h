/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_path.h - which file a path reaches, for the preload engine.
 *
 * Raw calls only; every descriptor is closed again at once.  Lengths are 0 when there
 * is no answer.
 */
#ifndef AW_PRELOAD_LINUX_REAL_PATH_H
#define AW_PRELOAD_LINUX_REAL_PATH_H

#include "preload/linux/process_state.h"

/* Under a filter of the target's own: no call that libc would not make. */
bool aw_is_plain(void);

/* The kernel's own name for a descriptor, or for the working directory (AT_FDCWD). */
size_t aw_name_of(int fd, char *to, size_t size);

/* The name of what path opens (O_PATH), a link in its last component followed or not. */
size_t aw_name_by_opening(
	int dir, const char *path, bool follow, char *to, size_t size);

/*
 * The file that path (len bytes) reaches; what does not exist is named by its parent,
 * and by the text alone when that does not exist either.  Uses scratch->base; to is
 * elsewhere.
 */
size_t aw_resolve(struct aw_scratch *scratch, int dir, const char *path, size_t len,
	bool follow, char *to, size_t size);

#endif
