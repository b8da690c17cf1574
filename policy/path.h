/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - lexical paths: pure text, no file system.
 */
#ifndef AW_POLICY_PATH_H
#define AW_POLICY_PATH_H

#include <stddef.h>

/*
 * Join path (path_len bytes) to the absolute directory base (base_len bytes; ignored
 * when path starts with a slash) and normalise: one slash between components, no ".",
 * ".." taken lexically and stopping at "/", no trailing slash but for "/".  Writes at
 * most size bytes to out, terminated.  Returns the length, or 0 when it does not fit or
 * base is not absolute.  Neither allocates nor makes a system call; out may not overlap
 * its inputs.
 */
size_t aw_path_join(const char *base, size_t base_len, const char *path,
	size_t path_len, char *out, size_t size);

#endif
