/* SPDX-License-Identifier: Apache-2.0 */
/* quote.c - a text in quotes, as YAML has them. */
#include "supervisor/learn/quote.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/util/json.h"

/* Signs that are not seen, or that turn the direction of what is beside them: whoever
 * chose a name must not choose how the policy looks. */
static bool is_deceptive(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0x00, 0x1f}, {0x7f, 0xa0}, {0xad, 0xad}, {0x61c, 0x61c},
		{0x180e, 0x180e}, {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f},
		{0x3000, 0x3000}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfff0, 0xffff},
		{0xe0000, 0x10ffff}};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

int aw_quote_put(FILE *out, const char *text)
{
	size_t len = strlen(text), used;
	int wide = 2;

	putc('"', out);
	for (; len > 0; text += used, len -= used) {
		uint32_t code = 0;

		used = aw_utf8_read((const unsigned char *)text, len, &code);
		if (!used) { /* the pattern has no such bytes */
			used = 1;
			wide += fprintf(out, "?");
		} else if (is_deceptive(code)) {
			wide += fprintf(
				out, code > 0xffff ? "\\U%08x" : "\\u%04x", code);
		} else {
			if (code == '"' || code == '\\')
				wide += fprintf(out, "\\");
			fwrite(text, 1, used, out);
			wide++;
		}
	}
	putc('"', out);
	return wide;
}
