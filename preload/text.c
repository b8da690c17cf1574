/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - string functions for a library that links with nothing. */
#include "preload/text.h"

typedef unsigned long word __attribute__((may_alias, aligned(1)));

/* Paths are short: whole words first, and the last one may overlap what is there. */
void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
	unsigned char *t = to;
	const unsigned char *f = from;
	size_t at = 0;

	if (len < sizeof(word)) {
		for (; at < len; at++)
			t[at] = f[at];
		return to;
	}
	for (; at + sizeof(word) <= len; at += sizeof(word))
		*(word *)(t + at) = *(const word *)(f + at);
	*(word *)(t + len - sizeof(word)) = *(const word *)(f + len - sizeof(word));
	return to;
}

void *memmove(void *to, const void *from, size_t len)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (t < f)
		for (; len; len--)
			*t++ = *f++;
	else
		while (len--)
			t[len] = f[len];
	return to;
}

void *memset(void *to, int byte, size_t len)
{
	const word all = (word)-1 / 255 * (unsigned char)byte;
	unsigned char *t = to;
	size_t at = 0;

	if (len < sizeof(word)) {
		for (; at < len; at++)
			t[at] = (unsigned char)byte;
		return to;
	}
	for (; at + sizeof(word) <= len; at += sizeof(word))
		*(word *)(t + at) = all;
	*(word *)(t + len - sizeof(word)) = all;
	return to;
}

int memcmp(const void *a, const void *b, size_t len)
{
	const unsigned char *x = a, *y = b;

	for (; len; len--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *text)
{
	const char *at = text;

	while (*at)
		at++;
	return (size_t)(at - text);
}

bool aw_text_equal(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b;
}

const char *aw_text_after(const char *text, const char *prefix)
{
	for (; *prefix; text++, prefix++)
		if (*text != *prefix)
			return NULL;
	return text;
}

size_t aw_text_copy(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; from[i] && i + 1 < size; i++)
		to[i] = from[i];
	to[i] = '\0';
	return i;
}

size_t aw_text_number(char *to, unsigned long n)
{
	char digits[20];
	size_t count = 0, i = 0;

	do
		digits[count++] = (char)('0' + n % 10);
	while (n /= 10);
	while (count)
		to[i++] = digits[--count];
	to[i] = '\0';
	return i;
}

/* clang makes this of a memcmp that is only compared with zero. */
int bcmp(const void *a, const void *b, size_t len)
{
	return memcmp(a, b, len);
}
