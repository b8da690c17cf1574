/* SPDX-License-Identifier: Apache-2.0 */
/* say.c - messages, and names made harmless for a terminal. */
#include "supervisor/cli/say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

enum {
	SHOWN_MAX = 12, /* "\u{10ffff}" and to spare: what one character becomes */
	SAID_MAX = 2048,
};

/*
 * Characters that change the direction of writing, take no room, or look like a blank:
 * one could be in a name without being seen (Unicode: DerivedCoreProperties.txt,
 * Default_Ignorable_Code_Point; General_Category Zs).
 */
static bool is_unseen(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} unseen[] = {{0xa0, 0xa0}, {0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c},
		{0x115f, 0x1160}, {0x1680, 0x1680}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
		{0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f}, {0x2800, 0x2800},
		{0x3000, 0x3000}, {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff},
		{0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
		{0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

	for (size_t i = 0; i < ARRAY_SIZE(unseen); i++)
		if (c >= unseen[i].first && c <= unseen[i].last)
			return true;
	return false;
}

/* One character at in as it is shown, terminated; returns how many bytes of in it took. */
static size_t show_one(const unsigned char *in, size_t len, char out[SHOWN_MAX + 1])
{
	uint32_t point = 0;
	size_t used = aw_utf8_read(in, len, &point);

	if (!used || point < 0x20 || point == 0x7f) {
		snprintf(out, SHOWN_MAX + 1, "\\x%02x", in[0]);
		return 1;
	}
	if (point == '\\') {
		snprintf(out, SHOWN_MAX + 1, "\\\\");
	} else if ((point >= 0x80 && point < 0xa0) || is_unseen(point)) {
		snprintf(out, SHOWN_MAX + 1, "\\u{%x}", point);
	} else {
		memcpy(out, in, used);
		out[used] = 0;
	}
	return used;
}

size_t aw_show(const char *bytes, size_t len, char *out, size_t size)
{
	const unsigned char *in = (const unsigned char *)bytes;
	size_t at = 0;

	for (size_t i = 0; i < len;) {
		char one[SHOWN_MAX + 1];
		size_t n;

		i += show_one(in + i, len - i, one);
		n = strlen(one);
		if (at + n + 1 > size)
			break;
		memcpy(out + at, one, n);
		at += n;
	}
	if (size)
		out[at] = 0;
	return at;
}

char *aw_shown(const char *bytes, size_t len)
{
	size_t size = len * SHOWN_MAX + 1;
	char *out = malloc(size);

	if (out)
		aw_show(bytes, len, out, size);
	return out;
}

static void say(const char *text)
{
	char safe[SAID_MAX * SHOWN_MAX + 1], *at = safe; /* there may be no memory */

	/* Backslashes stay: a message is written for people already. */
	for (size_t i = 0, len = strlen(text); i < len;) {
		char one[SHOWN_MAX + 1];

		i += show_one((const unsigned char *)text + i, len - i, one);
		at = stpcpy(at, one[0] == '\\' && one[1] == '\\' ? "\\" : one);
	}
	*at = 0;
	fprintf(stderr, "agentwatch: %s\n", safe);
}

void aw_say(const char *fmt, ...)
{
	char text[SAID_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	say(text);
}

int aw_say_failed(const struct aw_error *err)
{
	say(err->text);
	return AW_EXIT_FAILED;
}

int aw_say_usage(const struct aw_error *err)
{
	say(err->text);
	return AW_EXIT_USAGE;
}
