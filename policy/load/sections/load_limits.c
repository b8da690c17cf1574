/* SPDX-License-Identifier: Apache-2.0 */
/* load_limits.c - how much the command may use: sizes, times, counts. */
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "policy/load/load_internal.h"

struct unit {
	const char *name;
	uint64_t factor;
};

#define LOG_SIZE_LEAST (1ull << 20)

static const struct unit sizes[] = {{"", 1}, {"k", 1ull << 10}, {"m", 1ull << 20},
	{"g", 1ull << 30}, {"t", 1ull << 40}, {NULL, 0}};
static const struct unit times[] = {
	{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {NULL, 0}};
static const struct unit counts[] = {{"", 1}, {NULL, 0}};

enum {
	FIELD_MEMORY,
	FIELD_PROCESSES,
	FIELD_TIME,
	FIELD_FILES,
	FIELD_FILE_SIZE,
	FIELD_CONNECTIONS,
	FIELD_BYTES_OUT,
	FIELD_LOG_SIZE,
	FIELD_CPUS, /* not in the table: it has a fraction */
};

static const struct {
	const char *key;
	size_t field; /* of struct aw_limits */
	const struct unit *units;
	const char *expected;
} fields[] = {
	[FIELD_MEMORY] = {"memory", offsetof(struct aw_limits, memory), sizes,
		"a size such as 512m or 2g"},
	[FIELD_PROCESSES] = {"processes", offsetof(struct aw_limits, processes), counts,
		"a number such as 512"},
	[FIELD_TIME] = {"time", offsetof(struct aw_limits, time), times,
		"a time such as 90s, 30m or 1h"},
	[FIELD_FILES] = {"open_files", offsetof(struct aw_limits, open_files), counts,
		"a number such as 4096"},
	[FIELD_FILE_SIZE] = {"file_size", offsetof(struct aw_limits, file_size), sizes,
		"a size such as 512m or 2g"},
	[FIELD_CONNECTIONS] = {"connections_per_minute",
		offsetof(struct aw_limits, connections_per_minute), counts,
		"a number such as 600"},
	[FIELD_BYTES_OUT] = {"bytes_out", offsetof(struct aw_limits, bytes_out), sizes,
		"a size such as 512m or 2g"},
	[FIELD_LOG_SIZE] = {"log_size", offsetof(struct aw_limits, log_size), sizes,
		"a size such as 512m or 2g"},
};

/* Digits, perhaps with a fraction; where they end goes to *ret_end. */
static bool read_decimal(const char *text, double *ret, const char **ret_end)
{
	size_t whole = strspn(text, "0123456789"), part = 0;
	double scale = 1, value = 0;
	size_t i;

	if (text[whole] == '.')
		part = 1 + strspn(text + whole + 1, "0123456789");
	if (whole == 0 || whole > 19 || part == 1 || part > 10)
		return false;
	for (i = 0; i < whole + part; i++) {
		if (text[i] == '.')
			continue;
		value = 10 * value + (text[i] - '0');
		scale *= i > whole ? 10 : 1;
	}
	*ret = value / scale;
	*ret_end = text + whole + part;
	return true;
}

/* A number and one of the units, in either case: 2g, 512M. */
static bool read_amount(const char *text, const struct unit *units, uint64_t *ret)
{
	const char *end;
	double value;
	size_t i;

	if (!read_decimal(text, &value, &end))
		return false;
	for (i = 0; units[i].name && strcasecmp(units[i].name, end) != 0; i++)
		;
	if (!units[i].name)
		return false;
	value *= (double)units[i].factor;
	if (value < 1 || value > 1e18 || (units == counts && strchr(text, '.')))
		return false;
	*ret = (uint64_t)value;
	return true;
}

bool aw_duration_read(const char *text, uint64_t *ret)
{
	return read_amount(text, times, ret);
}

static bool is_text(struct aw_loader *l, const struct aw_node *value, const char *key,
	const char *expected)
{
	if (value->kind == AW_NODE_TEXT)
		return true;
	aw_report(l, value, "expected %s for limits.%s, not a list or map", expected,
		key);
	return false;
}

/* Under the number that it means, as aw_policy_print() asks for it. */
static void keep_origin(struct aw_loader *l, const struct aw_node *value,
	const char *key, double amount)
{
	char text[48];

	aw_amount_text(amount, text, sizeof(text));
	aw_origin_add(l, value, key, text);
}

static void keep_place(struct aw_loader *l, const struct aw_node *value, int field)
{
	if (l->stratum == AW_STRATUM_UNTRUSTED)
		l->loose_limits[field] =
			(struct aw_source_place){l->source, value->line, value->column};
}

static void read_limit(struct aw_loader *l, const struct aw_node *value, int field)
{
	char *limits = (char *)&l->limits[l->stratum];
	uint64_t amount, *to = (uint64_t *)(void *)(limits + fields[field].field);

	if (!is_text(l, value, fields[field].key, fields[field].expected))
		return;
	if (!read_amount(value->text, fields[field].units, &amount)) {
		aw_report(l, value, "'%.60s' is not %s", value->text,
			fields[field].expected);
		return;
	}
	if (field == FIELD_LOG_SIZE && amount < LOG_SIZE_LEAST) {
		aw_report(l, value, "limits.log_size is at least 1m, not %.60s",
			value->text);
		return;
	}
	/* of several untrusted files the smallest counts */
	if (l->stratum == AW_STRATUM_UNTRUSTED && *to && *to < amount)
		return;
	*to = amount;
	keep_place(l, value, field);
	keep_origin(l, value, fields[field].key, (double)amount);
}

static void read_cpus(struct aw_loader *l, const struct aw_node *value, int argument)
{
	static const char expected[] = "a number of processors such as 2 or 1.5";
	struct aw_limits *limits = &l->limits[l->stratum];
	const char *end = "";
	double cpus = 0;

	(void)argument;
	if (!is_text(l, value, "cpus", expected))
		return;
	if (!read_decimal(value->text, &cpus, &end) || *end || cpus < 0.01 ||
		cpus > 1e6) {
		aw_report(l, value, "'%.60s' is not %s", value->text, expected);
		return;
	}
	if (l->stratum == AW_STRATUM_UNTRUSTED && limits->cpus > 0 &&
		limits->cpus < cpus)
		return;
	limits->cpus = cpus;
	keep_place(l, value, FIELD_CPUS);
	keep_origin(l, value, "cpus", cpus);
}

static const struct aw_shape size_shape = {.kind = AW_SHAPE_AMOUNT,
	.pattern = "^[0-9]{1,19}(\\.[0-9]{1,9})?[kKmMgGtT]?$",
	.least = 1,
	.most = 1e18,
	.entry = "bytes, or with k, m, g, t"};
const struct aw_shape aw_time_shape = {.kind = AW_SHAPE_AMOUNT,
	.pattern = "^[0-9]{1,19}(\\.[0-9]{1,9})?[sSmMhHdD]?$",
	.least = 1,
	.most = 1e18,
	.entry = "seconds, or with s, m, h, d"};
static const struct aw_shape log_size_shape = {.kind = AW_SHAPE_AMOUNT,
	.pattern = "^[0-9]{1,19}(\\.[0-9]{1,9})?[kKmMgGtT]?$",
	.least = LOG_SIZE_LEAST,
	.most = 1e18,
	.entry = "bytes, or with k, m, g, t; at least 1m"};
static const struct aw_shape count_shape = {.kind = AW_SHAPE_AMOUNT,
	.pattern = "^[0-9]{1,19}$",
	.least = 1,
	.most = 1e18,
	.whole = true,
	.entry = "a number"};
static const struct aw_shape cpus_shape = {.kind = AW_SHAPE_AMOUNT,
	.pattern = "^[0-9]{1,19}(\\.[0-9]{1,9})?$",
	.least = 0.01,
	.most = 1e6,
	.entry = "a number, perhaps with a fraction"};

static const struct aw_key keys[] = {
	{"memory", read_limit, FIELD_MEMORY, AW_KEY_UNTRUSTED, &size_shape,
		"memory of all processes together"},
	{"cpus", read_cpus, 0, AW_KEY_UNTRUSTED, &cpus_shape,
		"processors that all processes together may use"},
	{"processes", read_limit, FIELD_PROCESSES, AW_KEY_UNTRUSTED, &count_shape,
		"processes at the same time"},
	{"time", read_limit, FIELD_TIME, AW_KEY_UNTRUSTED, &aw_time_shape,
		"time from the start, after which all is ended"},
	{"open_files", read_limit, FIELD_FILES, AW_KEY_UNTRUSTED, &count_shape,
		"open files of each process"},
	{"file_size", read_limit, FIELD_FILE_SIZE, AW_KEY_UNTRUSTED, &size_shape,
		"size of each file that is written"},
	{"connections_per_minute", read_limit, FIELD_CONNECTIONS, AW_KEY_UNTRUSTED,
		&count_shape, "connections to outside begun in any minute"},
	{"bytes_out", read_limit, FIELD_BYTES_OUT, AW_KEY_UNTRUSTED, &size_shape,
		"bytes sent over connections to outside, all together"},
	{"log_size", read_limit, FIELD_LOG_SIZE, 0, &log_size_shape,
		"size of the session's log, 1g when nothing is said"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

const struct aw_shape aw_limits_shape = {.kind = AW_SHAPE_MAP, .keys = keys};

void aw_limits_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_keys_read(l, value, "limits", keys);
}

void aw_limit_read(struct aw_loader *l, const struct aw_node *value, const char *name)
{
	const struct aw_key *key;

	for (key = keys; key->name; key++)
		if (strcmp(key->name, name) == 0)
			key->read(l, value, key->argument);
}

/* An untrusted file's limit that is not smaller changes nothing. */
static void warn_if_loose(struct aw_loader *l, const char *key, int field)
{
	const struct aw_source_place *place = &l->loose_limits[field];

	if (!place->source)
		return;
	l->source = place->source;
	aw_report_at(l, place->line, place->column, true,
		"'limits.%s' is ignored: this file is not trusted, and what holds "
		"already is not larger",
		key);
}

/* The smallest of those that say something. */
void aw_limits_complete(struct aw_loader *l)
{
	static const enum aw_stratum order[] = {
		AW_STRATUM_TRUSTED, AW_STRATUM_SYSTEM, AW_STRATUM_UNTRUSTED};
	struct aw_limits *to = &l->policy.limits;
	size_t i, f;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		const struct aw_limits *from = &l->limits[order[i]];

		for (f = 0; f < ARRAY_SIZE(fields); f++) {
			const uint64_t *value =
				(const uint64_t *)(const void *)((const char *)from +
								 fields[f].field);
			uint64_t *now =
				(uint64_t *)(void *)((char *)to + fields[f].field);

			if (*value && (!*now || *value < *now))
				*now = *value;
			else if (*value && order[i] == AW_STRATUM_UNTRUSTED)
				warn_if_loose(l, fields[f].key, (int)f);
		}
		if (from->cpus > 0 && (to->cpus <= 0 || from->cpus < to->cpus))
			to->cpus = from->cpus;
		else if (from->cpus > 0 && order[i] == AW_STRATUM_UNTRUSTED)
			warn_if_loose(l, "cpus", FIELD_CPUS);
	}
}

void aw_amount_text(double value, char *text, size_t size)
{
	snprintf(text, size,
		value >= 1 && value == (double)(uint64_t)value ? "%.0f" : "%.9f",
		value);
}
