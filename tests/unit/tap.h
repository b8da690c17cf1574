/* SPDX-License-Identifier: Apache-2.0 */
/* tap.h - the Test Anything Protocol in a few lines. */
#ifndef AW_TESTS_UNIT_TAP_H
#define AW_TESTS_UNIT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned tap_count, tap_failures;

__attribute__((format(printf, 2, 3), unused)) static bool ok(
	bool good, const char *fmt, ...)
{
	va_list args;

	tap_failures += !good;
	printf("%sok %u - ", good ? "" : "not ", ++tap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	return good;
}

__attribute__((format(printf, 1, 2), unused)) static void note(const char *fmt, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

/* The last line of main(): return done(); */
__attribute__((unused)) static int done(void)
{
	printf("1..%u\n", tap_count);
	return tap_failures ? 1 : 0;
}

#endif
