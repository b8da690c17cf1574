/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - building and extending error values. */
#include "policy/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int aw_fail(struct aw_error *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return -1;
	err->code = code;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return -1;
}

int aw_while(struct aw_error *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list args;
	size_t used;
	int n;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(args, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	used = n < 0 ? 0 : (size_t)n;
	if (used < sizeof(err->text))
		snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
	return -1;
}
