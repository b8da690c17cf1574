/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.h - patterns for one component, and for whole paths.
 *
 * In a component: "*" any bytes, "?" one byte, "[a-z]" one of, "[!a-z]" or "[^a-z]" one
 * not of, "\x" the byte x itself.  "]" right after the opening stands for itself; a "["
 * that is never closed and a backslash at the very end stand for themselves.  Bytes,
 * not characters.  Nothing here allocates, recurses or takes more than length times
 * length.
 */
#ifndef AW_POLICY_GLOB_H
#define AW_POLICY_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* True when the whole of text matches the whole of pattern. */
bool aw_glob_match(
	const char *pattern, size_t pattern_len, const char *text, size_t len);

/* True when pattern has no wildcard, that is, matches exactly one text. */
bool aw_glob_literal(const char *pattern, size_t len);

/* True when every "[" in pattern is closed. */
bool aw_glob_closed(const char *pattern, size_t len);

/* True when no range of bytes in pattern ends before it begins, as "[z-a]" does. */
bool aw_glob_ordered(const char *pattern, size_t len);

/*
 * True when pattern (absolute, normalised, components separated by slashes, "**" as a
 * component for any number of them) matches path or a directory above it.
 */
bool aw_glob_covers(
	const char *pattern, size_t pattern_len, const char *path, size_t len);

#endif
