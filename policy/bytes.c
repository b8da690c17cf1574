/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c - an array of bytes that grows. */
#include "policy/bytes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t aw_bytes_add(struct aw_bytes *bytes, const void *from, size_t len)
{
	size_t at = bytes->len, size = bytes->size ? bytes->size : 256;
	char *data;

	if (bytes->failed || len > UINT32_MAX / 2 - at) {
		bytes->failed = true;
		return 0;
	}
	while (size < at + len)
		size *= 2;
	if (size != bytes->size) {
		data = realloc(bytes->data, size);
		if (!data) {
			bytes->failed = true;
			return 0;
		}
		bytes->data = data;
		bytes->size = size;
	}
	if (from)
		memcpy(bytes->data + at, from, len);
	else
		memset(bytes->data + at, 0, len);
	bytes->len += len;
	return at;
}

void aw_bytes_free(struct aw_bytes *bytes)
{
	free(bytes->data);
	memset(bytes, 0, sizeof(*bytes));
}
