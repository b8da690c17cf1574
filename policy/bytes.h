/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - an array of bytes that grows, and tells when it could not take all.
 *
 * open_memstream(3) does not: with too little memory it hands over what it has.
 */
#ifndef AW_POLICY_BYTES_H
#define AW_POLICY_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* A growing array of bytes; after one failed allocation it only remembers that. */
struct aw_bytes {
	char *data; /* owned */
	size_t len, size;
	bool failed;
};

/* Append len bytes (zeroes when from is NULL) and return where they start. */
size_t aw_bytes_add(struct aw_bytes *bytes, const void *from, size_t len);
void aw_bytes_free(struct aw_bytes *bytes);

#endif
