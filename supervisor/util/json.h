/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON lines built in place, and the escape for bytes that are not UTF-8.
 *
 * Building a cJSON tree for each line and printing it, with memory from an arena, takes
 * four times as long (tests/bench/log_rate.c measures both), wants terminated strings
 * and sets its allocator for the whole program.  So lines are built here; reading is
 * left to cJSON.
 *
 * JSON is UTF-8 and names of files are bytes.  A byte 0xNN that is not part of valid
 * UTF-8, and the byte NUL, become the character U+EFNN of the private use area; a
 * genuine U+EF00 or U+EF80..U+EFFF has each of its bytes written that way.  So a
 * decoder that turns U+EF00 and U+EF80..U+EFFF into one byte each gets the original
 * bytes back.
 */
#ifndef AW_SUPERVISOR_UTIL_JSON_H
#define AW_SUPERVISOR_UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that grows.  Zero is an empty one.  Once memory ran out, failed stays set. */
struct aw_json {
	char *bytes; /* owned, not terminated */
	size_t len, size;
	bool failed;
};

void aw_json_free(struct aw_json *json);

/* Bytes that are JSON already. */
void aw_json_raw(struct aw_json *json, const char *bytes, size_t len);

/* A string with its quotes. */
void aw_json_string(struct aw_json *json, const char *bytes, size_t len);

void aw_json_unsigned(struct aw_json *json, uint64_t value);
void aw_json_signed(struct aw_json *json, int64_t value);

/* A literal, its length known to the compiler. */
#define AW_JSON_LITERAL(json, literal) aw_json_raw(json, literal, sizeof(literal) - 1)

/*
 * The length in bytes (1 to 4) of the valid UTF-8 character at the start of len > 0
 * bytes, its code point in *ret; 0 when there is none.
 */
size_t aw_utf8_read(const unsigned char *bytes, size_t len, uint32_t *ret);

/*
 * Undo the escape on a string as a JSON parser gave it, in place; returns the new
 * length, never larger than len.  The result is terminated where text was.
 */
size_t aw_text_decode(char *text, size_t len);

#endif
