/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - JSON lines built in place, and the escape for bytes that are not UTF-8. */
#include "supervisor/util/json.h"

#include <stdlib.h>
#include <string.h>

enum { GROWTH_MAX = 6 }; /* "\u00XX": what one byte of a string may become */

/* What a byte of a string needs. */
enum { PLAIN, CONTROL, SHORT, LEAD };

static const unsigned char needs[256] = {
	[0x00 ... 0x1f] = CONTROL,
	[0x7f] = CONTROL,
	['"'] = SHORT,
	['\\'] = SHORT,
	[0x80 ... 0xff] = LEAD,
};

void aw_json_free(struct aw_json *json)
{
	free(json->bytes);
	memset(json, 0, sizeof(*json));
}

/* Room for more bytes at the end, or NULL with failed set. */
static char *room(struct aw_json *json, size_t more)
{
	size_t size = json->size ? json->size : 4096;
	char *bytes;

	if (json->failed)
		return NULL;
	if (more <= json->size - json->len)
		return json->bytes + json->len;
	while (size - json->len < more)
		size *= 2;
	bytes = realloc(json->bytes, size);
	if (!bytes) {
		json->failed = true;
		return NULL;
	}
	json->bytes = bytes;
	json->size = size;
	return bytes + json->len;
}

void aw_json_raw(struct aw_json *json, const char *bytes, size_t len)
{
	char *out = room(json, len);

	if (!out || !len)
		return;
	memcpy(out, bytes, len);
	json->len += len;
}

size_t aw_utf8_read(const unsigned char *bytes, size_t len, uint32_t *ret)
{
	static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char first = bytes[0];
	uint32_t point;
	size_t count;

	if (first < 0x80) {
		*ret = first;
		return 1;
	}
	count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
	if (!count || first > 0xf4 || count > len)
		return 0;
	point = first & (0x7fu >> count);
	for (size_t i = 1; i < count; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (bytes[i] & 0x3fu);
	}
	if (point < smallest[count] || point > 0x10ffff ||
		(point >= 0xd800 && point <= 0xdfff))
		return 0;
	*ret = point;
	return count;
}

static bool is_escape(uint32_t point)
{
	return point == 0xef00 || (point >= 0xef80 && point <= 0xefff);
}

/* U+EFNN in UTF-8. */
static char *put_byte(char *out, unsigned char byte)
{
	out[0] = (char)0xee;
	out[1] = (char)(0xbc | byte >> 6);
	out[2] = (char)(0x80 | (byte & 0x3f));
	return out + 3;
}

static char *put_control(char *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	static const char letters[32] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};

	*out++ = '\\';
	if (c < 32 && letters[c]) {
		*out++ = letters[c];
		return out;
	}
	memcpy(out, "u00", 3);
	out[3] = digits[c >> 4];
	out[4] = digits[c & 15];
	return out + 5;
}

/* One character that is not ASCII, or one byte that is none; *ret_used says how much. */
static char *put_other(char *out, const unsigned char *in, size_t len, size_t *ret_used)
{
	uint32_t point = 0;
	size_t used = aw_utf8_read(in, len, &point);

	*ret_used = used ? used : 1;
	if (!used)
		return put_byte(out, in[0]);
	if (point < 0xa0) /* C1 controls mean as much to a terminal as the others */
		return put_control(out, (unsigned char)point);
	for (size_t i = 0; i < used; i++) {
		if (is_escape(point))
			out = put_byte(out, in[i]);
		else
			*out++ = (char)in[i];
	}
	return out;
}

void aw_json_string(struct aw_json *json, const char *bytes, size_t len)
{
	const unsigned char *in = (const unsigned char *)bytes;
	char *out = room(json, len * GROWTH_MAX + 2), *start = out;
	size_t i = 0, used;

	if (!out)
		return;
	*out++ = '"';
	while (i < len) {
		size_t from = i;

		while (i < len && needs[in[i]] == PLAIN)
			i++;
		memcpy(out, in + from, i - from);
		out += i - from;
		if (i == len)
			break;
		used = 1;
		if (needs[in[i]] == LEAD) {
			out = put_other(out, in + i, len - i, &used);
		} else if (needs[in[i]] == SHORT) {
			*out++ = '\\';
			*out++ = (char)in[i];
		} else {
			out = in[i] ? put_control(out, in[i]) : put_byte(out, 0);
		}
		i += used;
	}
	*out++ = '"';
	json->len += (size_t)(out - start);
}

void aw_json_unsigned(struct aw_json *json, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	aw_json_raw(json, digits + at, sizeof(digits) - at);
}

void aw_json_signed(struct aw_json *json, int64_t value)
{
	if (value < 0)
		AW_JSON_LITERAL(json, "-");
	aw_json_unsigned(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

size_t aw_text_decode(char *text, size_t len)
{
	const unsigned char *in = (const unsigned char *)text;
	size_t i = 0, out = 0, used;
	uint32_t point;

	while (i < len) {
		used = aw_utf8_read(in + i, len - i, &point);
		if (used == 3 && is_escape(point)) {
			text[out++] = (char)(point & 0xff);
			i += 3;
			continue;
		}
		text[out++] = text[i++];
	}
	text[out] = 0;
	return out;
}
