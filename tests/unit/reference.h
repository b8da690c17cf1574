/* SPDX-License-Identifier: Apache-2.0 */
/* reference.h - the meaning of patterns said as plainly as possible, however slowly. */
#ifndef AW_TESTS_UNIT_REFERENCE_H
#define AW_TESTS_UNIT_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Classes only in the forms [abc], [a-c], [!...]; patterns must be well-formed. */
static bool plain_class(const char *p, const char *end, char c)
{
	bool negated = *p == '!' || *p == '^', found = false;

	for (p += negated; p < end; p++) {
		if (p + 2 < end && p[1] == '-') {
			found |= (unsigned char)p[0] <= (unsigned char)c &&
				 (unsigned char)c <= (unsigned char)p[2];
			p += 2;
		} else {
			found |= *p == c;
		}
	}
	return found != negated;
}

__attribute__((unused)) static bool plain_glob(
	const char *p, const char *p_end, const char *t, const char *t_end)
{
	const char *close;

	if (p == p_end)
		return t == t_end;
	if (*p == '*')
		return plain_glob(p + 1, p_end, t, t_end) ||
		       (t < t_end && plain_glob(p, p_end, t + 1, t_end));
	if (t == t_end)
		return false;
	if (*p == '?')
		return plain_glob(p + 1, p_end, t + 1, t_end);
	if (*p == '[' && (close = memchr(p + 2, ']', (size_t)(p_end - p - 2))))
		return plain_class(p + 1, close, *t) &&
		       plain_glob(close + 1, p_end, t + 1, t_end);
	if (*p == '\\' && p + 1 < p_end)
		p++;
	return *p == *t && plain_glob(p + 1, p_end, t + 1, t_end);
}

/* Does the pattern, component by component, match a folder at or above the path? */
__attribute__((unused)) static bool plain_covers(const char *p, const char *t)
{
	const char *p_end, *t_end;

	p += strspn(p, "/");
	t += strspn(t, "/");
	if (!*p)
		return true;
	p_end = p + strcspn(p, "/");
	t_end = t + strcspn(t, "/");
	if (p_end - p == 2 && p[0] == '*' && p[1] == '*')
		return plain_covers(p_end, t) || (*t && plain_covers(p, t_end));
	return *t && plain_glob(p, p_end, t, t_end) && plain_covers(p_end, t_end);
}

#endif
