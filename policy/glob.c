/* SPDX-License-Identifier: Apache-2.0 */
/* glob.c - matching without recursion: only the last star is ever tried again. */
#include "policy/glob.h"

#define NONE ((size_t)-1)

static size_t class_end(const char *p, size_t len, size_t at)
{
	size_t i = at + 1;

	if (i < len && (p[i] == '!' || p[i] == '^'))
		i++;
	if (i < len && p[i] == ']')
		i++;
	for (; i < len; i++) {
		if (p[i] == ']')
			return i;
		if (p[i] == '\\')
			i++;
	}
	return NONE;
}

static unsigned char class_byte(const char *p, size_t end, size_t *at)
{
	if (p[*at] == '\\' && *at + 1 < end)
		++*at;
	return (unsigned char)p[(*at)++];
}

static bool class_holds(const char *p, size_t at, size_t end, unsigned char c)
{
	bool negated = p[at + 1] == '!' || p[at + 1] == '^', found = false;
	size_t i = at + 1 + negated;
	unsigned char from, to;

	while (i < end) {
		from = to = class_byte(p, end, &i);
		if (i + 1 < end && p[i] == '-') {
			i++;
			to = class_byte(p, end, &i);
		}
		if (from <= c && c <= to)
			found = true;
	}
	return found != negated;
}

/* Match one byte against what stands at *at, which moves on when it did. */
static bool take(const char *p, size_t len, size_t *at, char c)
{
	size_t end;

	if (p[*at] == '?') {
		++*at;
		return true;
	}
	if (p[*at] == '[' && (end = class_end(p, len, *at)) != NONE) {
		if (!class_holds(p, *at, end, (unsigned char)c))
			return false;
		*at = end + 1;
		return true;
	}
	if (p[*at] == '\\' && *at + 1 < len) {
		if (p[*at + 1] != c)
			return false;
		*at += 2;
		return true;
	}
	if (p[*at] != c)
		return false;
	++*at;
	return true;
}

bool aw_glob_match(
	const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	size_t p = 0, t = 0, star = NONE, again = 0;

	while (t < len) {
		if (p < pattern_len && pattern[p] == '*') {
			star = ++p;
			again = t;
		} else if (p < pattern_len && take(pattern, pattern_len, &p, text[t])) {
			t++;
		} else if (star != NONE) {
			p = star;
			t = ++again;
		} else {
			return false;
		}
	}
	while (p < pattern_len && pattern[p] == '*')
		p++;
	return p == pattern_len;
}

bool aw_glob_literal(const char *pattern, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (pattern[i] == '\\')
			i++;
		else if (pattern[i] == '*' || pattern[i] == '?')
			return false;
		else if (pattern[i] == '[' && class_end(pattern, len, i) != NONE)
			return false;
	}
	return true;
}

bool aw_glob_closed(const char *pattern, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (pattern[i] == '\\')
			i++;
		else if (pattern[i] == '[' && (i = class_end(pattern, len, i)) == NONE)
			return false;
	}
	return true;
}

/* Does the class whose "[" is at "at" hold a range that ends before it begins? */
static bool class_is_backwards(const char *p, size_t at, size_t end)
{
	size_t i = at + 1 + (p[at + 1] == '!' || p[at + 1] == '^');
	unsigned char from;

	while (i < end) {
		from = class_byte(p, end, &i);
		if (i + 1 < end && p[i] == '-') {
			i++;
			if (class_byte(p, end, &i) < from)
				return true;
		}
	}
	return false;
}

bool aw_glob_ordered(const char *pattern, size_t len)
{
	size_t i, end;

	for (i = 0; i < len; i++) {
		if (pattern[i] == '\\') {
			i++;
		} else if (pattern[i] == '[' &&
			   (end = class_end(pattern, len, i)) != NONE) {
			if (class_is_backwards(pattern, i, end))
				return false;
			i = end;
		}
	}
	return true;
}

/* The component that starts at or after *at; false when there is none. */
static bool next_component(const char *s, size_t len, size_t *at, size_t *ret_len)
{
	size_t end;

	while (*at < len && s[*at] == '/')
		++*at;
	for (end = *at; end < len && s[end] != '/'; end++)
		;
	*ret_len = end - *at;
	return end > *at;
}

bool aw_glob_covers(
	const char *pattern, size_t pattern_len, const char *path, size_t len)
{
	size_t p = 0, t = 0, p_len, t_len, star = NONE, again = 0;

	for (;;) {
		if (!next_component(pattern, pattern_len, &p, &p_len))
			return true;
		if (p_len == 2 && pattern[p] == '*' && pattern[p + 1] == '*') {
			star = p += 2;
			again = t;
			continue;
		}
		if (!next_component(path, len, &t, &t_len))
			return false;
		if (aw_glob_match(pattern + p, p_len, path + t, t_len)) {
			p += p_len;
			t += t_len;
			continue;
		}
		if (star == NONE)
			return false;
		next_component(path, len, &again, &t_len);
		again += t_len;
		p = star;
		t = again;
	}
}
