/* SPDX-License-Identifier: Apache-2.0 */
/* when.c - moments as people and the log write them. */
#include "supervisor/cli/when.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/array.h"

static const int64_t second_ns = 1000000000;

/* Exactly count digits at *at, which moves past them; -1 when there are fewer. */
static int digits(const char **at, int count)
{
	int value = 0;

	for (int i = 0; i < count; i++) {
		if (!isdigit((unsigned char)(*at)[i]))
			return -1;
		value = value * 10 + (*at)[i] - '0';
	}
	*at += count;
	return value;
}

static bool skip(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

static bool parse_date(const char **at, struct tm *tm)
{
	int year = digits(at, 4), month, day;

	if (year < 0 || !skip(at, '-') || (month = digits(at, 2)) < 1 || month > 12 ||
		!skip(at, '-') || (day = digits(at, 2)) < 1 || day > 31)
		return false;
	tm->tm_year = year - 1900;
	tm->tm_mon = month - 1;
	tm->tm_mday = day;
	return true;
}

static bool parse_clock(const char **at, struct tm *tm, int64_t *fraction)
{
	int64_t unit = second_ns / 10;

	tm->tm_hour = digits(at, 2);
	if (tm->tm_hour < 0 || tm->tm_hour > 23 || !skip(at, ':'))
		return false;
	tm->tm_min = digits(at, 2);
	if (tm->tm_min < 0 || tm->tm_min > 59)
		return false;
	if (!skip(at, ':'))
		return true;
	tm->tm_sec = digits(at, 2);
	if (tm->tm_sec < 0 || tm->tm_sec > 60)
		return false;
	if (skip(at, '.')) {
		if (!isdigit((unsigned char)**at))
			return false;
		for (; isdigit((unsigned char)**at); ++*at, unit /= 10)
			*fraction += (**at - '0') * unit;
	}
	return true;
}

/* The zone at the end: seconds east of UTC, or local time when there is none. */
static bool parse_zone(const char **at, bool *ret_local, long *ret_east)
{
	bool west = **at == '-';
	int hours, minutes;

	*ret_local = !**at;
	*ret_east = 0;
	if (!**at || skip(at, 'Z') || skip(at, 'z'))
		return !**at;
	if (!skip(at, '+') && !skip(at, '-'))
		return false;
	hours = digits(at, 2);
	if (hours < 0 || hours > 23 || !skip(at, ':') ||
		(minutes = digits(at, 2)) < 0 || minutes > 59)
		return false;
	*ret_east = (hours * 60L + minutes) * 60 * (west ? -1 : 1);
	return !**at;
}

int aw_when_parse(const char *text, int64_t *ret)
{
	struct tm tm = {.tm_isdst = -1};
	int64_t fraction = 0;
	bool local = true;
	long east = 0;
	time_t seconds;

	if (!parse_date(&text, &tm))
		return -1;
	if (*text) {
		if (!skip(&text, 'T') && !skip(&text, 't') && !skip(&text, ' '))
			return -1;
		if (!parse_clock(&text, &tm, &fraction) ||
			!parse_zone(&text, &local, &east))
			return -1;
	}
	seconds = local ? mktime(&tm) : timegm(&tm) - east;
	if (seconds >= INT64_MAX / second_ns || seconds <= INT64_MIN / second_ns)
		return -1; /* the year 2262 is the last one */
	*ret = (int64_t)seconds * second_ns + fraction;
	return 0;
}

static bool parse_ago(const char *text, int64_t *ret)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
	int64_t total = 0;

	if (!*text)
		return false;
	while (*text) {
		char *end;
		long value = strtol(text, &end, 10);
		int64_t seconds = 0;

		if (!isdigit((unsigned char)*text) || value > 100000000)
			return false;
		for (size_t i = 0; i < ARRAY_SIZE(units); i++)
			if (*end == units[i].letter)
				seconds = units[i].seconds;
		if (!seconds)
			return false;
		total += value * seconds;
		text = end + 1;
	}
	if (total > INT64_MAX / second_ns)
		return false;
	*ret = total * second_ns;
	return true;
}

int aw_when_parse_option(const char *text, int64_t *ret, struct aw_error *err)
{
	struct timespec now;
	int64_t ago;

	if (!aw_when_parse(text, ret))
		return 0;
	if (!parse_ago(text, &ago))
		return aw_fail(err, EINVAL,
			"'%s' is not a time: write 2026-11-21T21:55:01Z, or how long "
			"ago, like 5m or 2h",
			text);
	clock_gettime(CLOCK_REALTIME, &now);
	*ret = (int64_t)now.tv_sec * second_ns + now.tv_nsec - ago;
	return 0;
}
