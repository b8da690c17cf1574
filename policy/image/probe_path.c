/* SPDX-License-Identifier: Apache-2.0 */
/* probe_path.c - paths that a pattern, or two, cover. */
#include <string.h>

#include "policy/array.h"
#include "policy/glob.h"
#include "policy/image/pattern_probe.h"

/* How often components are compared before it is given up. */
#define STEPS_MAX 1000

/* A path that grows, with room for its end. */
struct text {
	char *to;
	size_t len, size;
};

/* Three words, then each sign that can be seen; four ways each: `how` counts them. */
void aw_probe_filling(unsigned how, char to[8])
{
	static const char words[3][8] = {"zq7w", "A.b_1", "\x01\x7f"};

	if (how < AW_PROBE_FEW) {
		memcpy(to, words[how % 3], 8);
		return;
	}
	to[0] = (char)('!' + (how - AW_PROBE_FEW) / 4);
	to[1] = '\0';
	if (to[0] == '/')
		to[0] = ' ';
}

/* Does "**" stand for a directory here, and is what lies below meant? */
static bool goes_deep(unsigned how)
{
	return how < AW_PROBE_FEW ? (how / 3) % 2 : how % 2;
}

static bool goes_below(unsigned how)
{
	return how < AW_PROBE_FEW ? (how / 6) % 2 : (how / 2) % 2;
}

static bool put(struct text *t, const char *bytes, size_t len)
{
	if (t->len + len >= t->size)
		return false;
	memcpy(t->to + t->len, bytes, len);
	t->len += len;
	t->to[t->len] = '\0';
	return true;
}

/* The length of the class that begins at pattern, 0 when it is none. */
static size_t class_length(const char *pattern, size_t len)
{
	size_t n;

	for (n = 3; pattern[0] == '[' && n <= len; n++)
		if (aw_glob_closed(pattern, n))
			return n;
	return 0;
}

/* A byte that the class holds, preferring those of the filling. */
static char class_byte(const char *pattern, size_t len, const char *star)
{
	char byte;
	int c;

	for (; *star; star++)
		if (aw_glob_match(pattern, len, star, 1))
			return *star;
	for (c = 1; c < 256; c++) {
		byte = (char)c;
		if (c != '/' && aw_glob_match(pattern, len, &byte, 1))
			return byte;
	}
	return 0;
}

bool aw_probe_component(
	const char *pattern, size_t len, const char *star, char *to, size_t size)
{
	struct text t = {to, 0, size};
	size_t i, n;
	bool good = size > 0;
	char byte;

	for (i = 0; i < len && good; i += n) {
		n = 1;
		if (pattern[i] == '*') {
			good = put(&t, star, strlen(star));
		} else if (pattern[i] == '?') {
			good = put(&t, *star ? star : "z", 1);
		} else if ((n = class_length(pattern + i, len - i)) > 0) {
			byte = class_byte(pattern + i, n, star);
			good = byte && put(&t, &byte, 1);
		} else {
			n = pattern[i] == '\\' && i + 1 < len ? 2 : 1;
			good = put(&t, pattern + i + n - 1, 1);
		}
	}
	return good && t.len > 0;
}

/* The component at *at, which moves behind it; false at the end. */
static bool next(
	const char *pattern, size_t len, size_t *at, const char **ret, size_t *ret_len)
{
	while (*at < len && pattern[*at] == '/')
		++*at;
	*ret = pattern + *at;
	for (*ret_len = 0; *at < len && pattern[*at] != '/'; ++*at)
		++*ret_len;
	return *ret_len > 0;
}

static bool is_deep(const char *component, size_t len)
{
	return len == 2 && memcmp(component, "**", 2) == 0;
}

static bool put_component(struct text *t, const char *text)
{
	return put(t, "/", 1) && put(t, text, strlen(text));
}

bool aw_probe_path(const char *pattern, size_t len, unsigned how, char *to, size_t size)
{
	struct text t = {to, 0, size};
	char text[512], star[8];
	const char *component;
	size_t at = 0, n;

	aw_probe_filling(how, star);
	to[0] = '\0';
	while (next(pattern, len, &at, &component, &n)) {
		if (is_deep(component, n)) {
			if (goes_deep(how) && !put_component(&t, star))
				return false;
			continue;
		}
		if (!aw_probe_component(component, n, star, text, sizeof(text)) ||
			!put_component(&t, text))
			return false;
	}
	if (goes_below(how) && !put_component(&t, star))
		return false;
	return t.len > 0 || put(&t, "/", 1);
}

/* --- two patterns --- */

struct meeting {
	const char *a, *b;
	size_t a_len, b_len;
	struct text path;
	unsigned steps, skip;
};

static bool both_match(
	const char *a, size_t a_len, const char *b, size_t b_len, const char *text)
{
	return aw_glob_match(a, a_len, text, strlen(text)) &&
	       aw_glob_match(b, b_len, text, strlen(text));
}

/* One name that both match: each is filled with what the other looks like. */
static bool unify(
	const char *a, size_t a_len, const char *b, size_t b_len, char *to, size_t size)
{
	static const char *const stars[] = {"zq7w", ""};
	char mine[512], theirs[512];

	for (size_t i = 0; i < ARRAY_SIZE(stars); i++) {
		if (aw_probe_component(a, a_len, stars[i], mine, sizeof(mine)) &&
			aw_probe_component(b, b_len, mine, to, size) &&
			both_match(a, a_len, b, b_len, to))
			return true;
		if (aw_probe_component(b, b_len, stars[i], theirs, sizeof(theirs)) &&
			aw_probe_component(a, a_len, theirs, to, size) &&
			both_match(a, a_len, b, b_len, to))
			return true;
	}
	return false;
}

/* One component of a pattern as it comes, at the end of the path. */
static bool put_sample(struct text *path, const char *component, size_t len)
{
	char text[512];

	return aw_probe_component(component, len, "zq7w", text, sizeof(text)) &&
	       put_component(path, text);
}

/* What is left of one pattern, when the other covers all below. */
static bool put_rest(struct meeting *m, const char *pattern, size_t len, size_t at)
{
	const char *component;
	size_t n;

	while (next(pattern, len, &at, &component, &n))
		if (!is_deep(component, n) && !put_sample(&m->path, component, n))
			return false;
	return m->skip-- == 0;
}

static bool meet(struct meeting *m, size_t a, size_t b)
{
	const char *ca, *cb;
	size_t an, bn, next_a = a, next_b = b, len = m->path.len;
	char text[512];

	if (m->steps++ > STEPS_MAX)
		return false;
	if (!next(m->a, m->a_len, &next_a, &ca, &an))
		return put_rest(m, m->b, m->b_len, b);
	if (!next(m->b, m->b_len, &next_b, &cb, &bn))
		return put_rest(m, m->a, m->a_len, a);
	if (is_deep(ca, an) || is_deep(cb, bn)) {
		/* "**" is nothing, or takes what the other has next */
		if (is_deep(ca, an) ? meet(m, next_a, b) : meet(m, a, next_b))
			return true;
		m->path.len = len;
		m->path.to[len] = '\0';
		if (is_deep(ca, an) && is_deep(cb, bn))
			return meet(m, a, next_b);
		if (is_deep(ca, an))
			return put_sample(&m->path, cb, bn) && meet(m, a, next_b);
		return put_sample(&m->path, ca, an) && meet(m, next_a, b);
	}
	return unify(ca, an, cb, bn, text, sizeof(text)) &&
	       put_component(&m->path, text) && meet(m, next_a, next_b);
}

bool aw_probe_common(const char *a, size_t a_len, const char *b, size_t b_len,
	unsigned n, char *to, size_t size)
{
	struct meeting m = {.a = a,
		.b = b,
		.a_len = a_len,
		.b_len = b_len,
		.path = {to, 0, size},
		.skip = n};

	to[0] = '\0';
	if (!meet(&m, 0, 0))
		return false;
	return m.path.len > 0 || put(&m.path, "/", 1);
}
