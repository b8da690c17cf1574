/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 of bytes in memory, as FIPS 180-4 has it.
 *
 * For telling whether a file is still the one that somebody has read and trusted.  None
 * of the libraries that the program is linked with has it.  Allocates nothing.
 */
#ifndef AW_SUPERVISOR_UTIL_SHA256_H
#define AW_SUPERVISOR_UTIL_SHA256_H

#include <stddef.h>

enum { AW_SHA256_TEXT = 65 }; /* 64 digits and the end */

/* The digest of len bytes, as lower-case hexadecimal digits, terminated. */
void aw_sha256(const void *bytes, size_t len, char ret_text[AW_SHA256_TEXT]);

#endif
