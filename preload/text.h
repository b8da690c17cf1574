/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - the few string functions that the shim uses, its own copies.
 */
#ifndef AW_PRELOAD_TEXT_H
#define AW_PRELOAD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
int memcmp(const void *a, const void *b, size_t len);
int bcmp(const void *a, const void *b, size_t len);
size_t strlen(const char *text);

bool aw_text_equal(const char *a, const char *b);

/* The rest of text behind prefix, or NULL. */
const char *aw_text_after(const char *text, const char *prefix);

/* Copy with terminator; the number of bytes without it, at most size - 1. */
size_t aw_text_copy(char *to, size_t size, const char *from);

/* Decimal digits of n, terminated; at least 21 bytes at to. Returns the length. */
size_t aw_text_number(char *to, unsigned long n);

#endif
