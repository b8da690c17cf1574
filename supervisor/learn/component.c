/* SPDX-License-Identifier: Apache-2.0 */
/* component.c - one part of a path as it stands in a policy. */
#include "supervisor/learn/component.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/util/json.h"

enum {
	NAME_BYTES = 255,
	MADE_UP = 6,
	HEX_LEAST = 8,
	LEAST_TEMPORARY = 4, /* of both */
	DIGITS_LEAST = 5,
	PYTHON_NAME = 8,
	CONSONANTS =
		4, /* in a row: no word of any language that programs are named in */
};

/* What a run of letters and digits is made of. */
struct run {
	size_t digits, upper, lower, hex;
};

static struct run look(const char *at, size_t len)
{
	struct run run = {0};

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)at[i];

		run.digits += isdigit(c) != 0;
		run.upper += isupper(c) != 0;
		run.lower += islower(c) != 0;
		run.hex += isxdigit(c) != 0;
	}
	return run;
}

static size_t put(char *out, size_t to, const char *at, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t code;
		size_t n = aw_utf8_read((const unsigned char *)at + i, len - i, &code);

		/* a policy is UTF-8: any other byte is "one byte" */
		if (!n) {
			out[to++] = '?';
			i++;
			continue;
		}
		if (n == 1 && strchr("*?[]\\$~! \t", at[i]))
			out[to++] = '\\';
		memcpy(out + to, at + i, n);
		to += n;
		i += n;
	}
	return to;
}

void aw_component_quote(const char *name, size_t len, char out[AW_COMPONENT_SIZE])
{
	out[put(out, 0, name, len < NAME_BYTES ? len : NAME_BYTES)] = '\0';
}

/* Letters in an order that nobody would choose. */
static bool is_unspeakable(const char *at, size_t len)
{
	size_t row = 0;

	for (size_t i = 0; i < len; i++) {
		row = strchr("aeiouy", at[i]) ? 0 : row + 1;
		if (row == CONSONANTS)
			return true;
	}
	return false;
}

/* mkstemp(3) and its kin put six signs at the end. */
static bool has_made_up_end(const char *at, size_t len)
{
	struct run tail = look(at + len - MADE_UP, MADE_UP);

	return (tail.digits && tail.digits < MADE_UP) || (tail.upper > 1 && tail.lower);
}

static bool is_number_of(const char *at, size_t len, pid_t pid)
{
	char own[16];
	int n = snprintf(own, sizeof(own), "%d", pid);

	return len == (size_t)n && memcmp(at, own, len) == 0;
}

/* How much of a run is kept: all of it, a prefix, or nothing when it is made up. */
static size_t kept(const char *at, size_t len, bool temporary, pid_t pid)
{
	size_t hex_least = temporary ? LEAST_TEMPORARY : HEX_LEAST;
	size_t digits_least = temporary ? LEAST_TEMPORARY : DIGITS_LEAST;
	struct run run = look(at, len);

	if (is_number_of(at, len, pid))
		return 0;
	if (run.digits == len)
		return len >= digits_least ? 0 : len;
	if (run.hex == len && len >= hex_least && run.digits)
		return 0;
	if (!temporary || len < MADE_UP)
		return len;
	if (has_made_up_end(at, len))
		return len - MADE_UP;
	return run.lower == len && len >= HEX_LEAST && is_unspeakable(at, len) ? 0
									       : len;
}

/* 8-4-4-4-12 hexadecimal digits. */
static bool is_identifier(const char *at, size_t len)
{
	if (len < 36)
		return false;
	for (size_t i = 0; i < 36; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? at[i] != '-' : !isxdigit((unsigned char)at[i]))
			return false;
	}
	return len == 36 || !isalnum((unsigned char)at[36]);
}

/* tempfile tries directories out with such a name, and takes the next without a word. */
static bool is_python_name(const char *name, size_t len)
{
	size_t i = 0;

	while (i < len && (islower((unsigned char)name[i]) ||
				  isdigit((unsigned char)name[i]) || name[i] == '_'))
		i++;
	return i == len && len == PYTHON_NAME;
}

static bool has_word(const char *name, size_t len, const char *word)
{
	return memmem(name, len, word, strlen(word)) != NULL;
}

/* One wildcard for several with a sign between them. */
static size_t put_wildcard(char *out, size_t to)
{
	if (to >= 2 && out[to - 2] == '*' && ispunct((unsigned char)out[to - 1]) &&
		(to < 3 || out[to - 3] != '\\'))
		return to - 1;
	if (to >= 1 && out[to - 1] == '*' && (to < 2 || out[to - 2] != '\\'))
		return to;
	out[to++] = '*';
	return to;
}

static size_t run_length(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && isalnum((unsigned char)name[n]))
		n++;
	return n;
}

static size_t sign_length(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && !isalnum((unsigned char)name[n]))
		n++;
	return n;
}

bool aw_component_pattern(const char *name, size_t len, bool temporary,
	struct aw_name_maker maker, char out[AW_COMPONENT_SIZE])
{
	bool wild = false, marked;
	size_t at = 0, to = 0;

	if (len > NAME_BYTES)
		len = NAME_BYTES;
	marked = has_word(name, len, "tmp") || has_word(name, len, "temp");
	if (temporary && maker.python && is_python_name(name, len)) {
		memcpy(out, "????????", PYTHON_NAME + 1);
		return true;
	}
	if (temporary && len >= 9 && memcmp(name, "tmp", 3) == 0) {
		memcpy(out, "tmp*", 5);
		return true;
	}
	while (at < len) {
		size_t n = run_length(name + at, len - at), keep;

		if (is_identifier(name + at, len - at)) {
			to = put_wildcard(out, to);
			wild = true;
			at += 36;
			continue;
		}
		if (n == 0) {
			n = sign_length(name + at, len - at);
			to = put(out, to, name + at, n);
			at += n;
			continue;
		}
		keep = kept(name + at, n, temporary || (marked && at), maker.pid);
		to = put(out, to, name + at, keep);
		if (keep < n) {
			to = put_wildcard(out, to);
			wild = true;
		}
		at += n;
	}
	out[to] = '\0';
	return wild;
}

bool aw_component_of_path(const char *whole, const char *at, size_t len, bool rooted,
	bool temporary, struct aw_name_maker maker, char out[AW_COMPONENT_SIZE])
{
	if (rooted && at > whole && strncmp(whole, "proc/", 5) == 0 &&
		look(at, len).digits == len) {
		memcpy(out, "[0-9]*", 7);
		return true;
	}
	if (rooted && maker.user && strlen(maker.user) == len &&
		memcmp(maker.user, at, len) == 0) {
		memcpy(out, "$USER", 6);
		return true;
	}
	return aw_component_pattern(at, len, temporary, maker, out);
}
