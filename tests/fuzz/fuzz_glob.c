/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_glob.c - on short inputs the matcher agrees with a plain recursive one, and a
 * literal pattern matches one text only.  Input: pattern, newline, text.
 */
#include <stdint.h>
#include <stdlib.h>

#include "policy/glob.h"
#include "tests/unit/reference.h"

#define SHORT 14

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The reference knows no escapes and no odd ends within a class. */
static bool is_plain(const char *p, size_t len)
{
	const char *close;
	size_t i;

	for (i = 0; i < len; i++) {
		if (p[i] == '\\' && i + 1 == len)
			return false;
		if (p[i] == '\\') {
			i++;
		} else if (p[i] == '[') {
			size_t at = i + 1;

			if (at < len && (p[at] == '!' || p[at] == '^'))
				at++;
			if (at >= len || p[at] == ']')
				return false;
			close = memchr(p + at, ']', len - at);
			if (!close || memchr(p + i, '\\', (size_t)(close - p) - i))
				return false;
			i = (size_t)(close - p);
		}
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data,
		   *line = size ? memchr(data, '\n', size) : NULL;
	size_t len, text_len;
	bool got;

	if (!line)
		return 0;
	len = (size_t)(line - bytes);
	text_len = size - len - 1;
	got = aw_glob_match(bytes, len, line + 1, text_len);
	aw_glob_covers(bytes, len, line + 1, text_len);
	if (aw_glob_literal(bytes, len) && got && text_len > len)
		abort();
	if (len <= SHORT && text_len <= SHORT && is_plain(bytes, len) &&
		got != plain_glob(bytes, bytes + len, line + 1, line + 1 + text_len))
		abort();
	return 0;
}
