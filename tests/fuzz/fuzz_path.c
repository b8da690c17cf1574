/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_path.c - a joined path is clean, joining it again changes nothing, and one byte
 * less than it needs is refused.  Input: base, newline, path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_clean(const char *path, size_t len)
{
	size_t start, end;

	if (path[0] != '/' || path[len] != '\0')
		abort();
	for (start = 1; start < len; start = end + 1) {
		for (end = start; end < len && path[end] != '/'; end++)
			;
		if (end == start || (end + 1 == len))
			abort();
		if (end - start == 1 && path[start] == '.')
			abort();
		if (end - start == 2 && memcmp(path + start, "..", 2) == 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data,
		   *line = size ? memchr(data, '\n', size) : NULL;
	char once[4096], twice[4096], *tight;
	size_t base_len, len;

	if (!line)
		return 0;
	base_len = (size_t)(line - bytes);
	len = aw_path_join(
		bytes, base_len, line + 1, size - base_len - 1, once, sizeof(once));
	if (len == 0)
		return 0;
	must_be_clean(once, len);
	if (aw_path_join("/x", 2, once, len, twice, sizeof(twice)) != len ||
		memcmp(once, twice, len) != 0)
		abort();
	/* an exact fit succeeds for what is clean already, and nothing is written past
	 * it */
	tight = malloc(len + 1);
	if (!tight)
		return 0;
	if (len > 1 && aw_path_join("/", 1, once, len, tight, len + 1) != len)
		abort();
	if (aw_path_join("/", 1, once, len, tight, len) != 0)
		abort();
	free(tight);
	return 0;
}
