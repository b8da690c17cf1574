/* SPDX-License-Identifier: Apache-2.0 */
/* log_table.c - events as rows for people. */
#include "supervisor/commands/log_table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "supervisor/audit/read/log_filter.h"
#include "supervisor/cli/say.h"
#include "supervisor/cli/when.h"
#include "supervisor/decide/reason.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

enum { PID = 7, PROGRAM = 12, ACTION = 8, VERDICT = 10, RESULT = 8, GAPS = 6 };
enum { TIME = 12, TIME_SHORT = 8, ROOMY = 100, TARGET_LEAST = 12 };
enum { RULE_LEAST = 8, RULE_MOST = 40 };

void aw_log_table_init(struct aw_log_table *table, bool rules)
{
	memset(table, 0, sizeof(*table));
	aw_screen_init(&table->screen);
	table->rules = rules;
}

/* Milliseconds are shown where there is room for them. */
static size_t time_width(const struct aw_log_table *table)
{
	size_t width = table->screen.width;

	return width && width < ROOMY ? TIME_SHORT : TIME;
}

/* Columns that path and rule share on a terminal. */
static size_t free_width(const struct aw_log_table *table)
{
	size_t others =
		time_width(table) + PID + PROGRAM + ACTION + VERDICT + RESULT + GAPS;

	return table->screen.width > others ? table->screen.width - others : 0;
}

/* Columns for the rule, with the blank in front of it. */
static size_t rule_width(const struct aw_log_table *table)
{
	size_t width = free_width(table) / 2;

	if (!table->rules || !table->screen.width)
		return 0;
	return 1 + (width < RULE_LEAST	       ? RULE_LEAST
			   : width > RULE_MOST ? RULE_MOST
					       : width);
}

/* Columns for the path: what is left of a terminal, or as many as it takes. */
static size_t target_width(const struct aw_log_table *table)
{
	size_t others = table->screen.width - free_width(table) + rule_width(table);

	if (!table->screen.width)
		return 0;
	return table->screen.width > others + TARGET_LEAST
		       ? table->screen.width - others
		       : TARGET_LEAST;
}

static void put(const struct aw_log_table *table, const char *text, size_t width,
	enum aw_colour colour)
{
	aw_screen_put(&table->screen, text, width, colour);
	putchar(' ');
}

static void put_head(const struct aw_log_table *table)
{
	put(table, "TIME", time_width(table), AW_BOLD);
	put(table, "PID", PID, AW_BOLD);
	put(table, "PROGRAM", PROGRAM, AW_BOLD);
	put(table, "ACTION", ACTION, AW_BOLD);
	put(table, "VERDICT", VERDICT, AW_BOLD);
	put(table, "PATH OR ADDRESS", target_width(table), AW_BOLD);
	aw_screen_put(&table->screen, "RESULT", table->rules ? RESULT + 1 : 0, AW_BOLD);
	if (table->rules)
		aw_screen_put(&table->screen, "RULE", 0, AW_BOLD);
	putchar('\n');
}

static void put_time(struct aw_log_table *table, const cJSON *line)
{
	const char *text = aw_event_word(line, "ts");
	char clock[16], day[12];
	time_t seconds;
	int64_t when;
	struct tm tm;

	if (!text || aw_when_parse(text, &when) < 0) {
		put(table, "?", time_width(table), AW_PLAIN);
		return;
	}
	seconds = (time_t)(when / 1000000000);
	localtime_r(&seconds, &tm);
	strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	if (table->screen.terminal && strcmp(day, table->day) != 0) {
		if (!table->day[0])
			put_head(table);
		aw_screen_put(&table->screen, day, 0, AW_DIM);
		putchar('\n');
		memcpy(table->day, day, sizeof(day));
	}
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	if (time_width(table) == TIME)
		snprintf(clock + 8, sizeof(clock) - 8, ".%03d",
			(int)(when % 1000000000 / 1000000));
	put(table, clock, time_width(table), AW_DIM);
}

static void put_who(const struct aw_log_table *table, const cJSON *line)
{
	const cJSON *pid = cJSON_GetObjectItemCaseSensitive(line, "pid");
	AW_FREE char *exe = aw_event_text(line, "exe");
	AW_FREE char *mcp = aw_event_text(line, "mcp");
	AW_FREE char *shown = NULL, *named = NULL;
	const char *base = exe ? strrchr(exe, '/') : NULL;
	char number[24] = "?";

	if (cJSON_IsNumber(pid))
		snprintf(number, sizeof(number), "%.0f", pid->valuedouble);
	put(table, number, PID, AW_PLAIN);
	base = base ? base + 1 : exe;
	/* the server says more than "node" does */
	if (mcp && asprintf(&named, "%s:%s", mcp, base ? base : "") >= 0)
		base = named;
	else
		named = NULL;
	shown = aw_shown(base ? base : "", base ? strlen(base) : 0);
	put(table, shown ? shown : "", PROGRAM, AW_PLAIN);
}

static void put_verdict(const struct aw_log_table *table, const cJSON *line)
{
	const char *verdict = aw_event_word(line, "verdict");
	const cJSON *enforced = cJSON_GetObjectItemCaseSensitive(line, "enforced");
	AW_FREE char *shown = verdict ? aw_shown(verdict, strlen(verdict)) : NULL;
	char text[32];

	if (!shown || !aw_verdict_refuses(verdict)) {
		put(table, shown ? shown : "", VERDICT, AW_DIM);
		return;
	}
	if (cJSON_IsTrue(enforced))
		snprintf(text, sizeof(text), "%s", shown);
	else
		snprintf(text, sizeof(text), "would %s",
			strncmp(shown, "ask-", 4) ? shown : "ask");
	put(table, text, VERDICT, cJSON_IsTrue(enforced) ? AW_RED : AW_YELLOW);
}

/* Cut on a terminal, and padded when something follows. */
static void put_last(const struct aw_log_table *table, const char *text, bool more)
{
	bool cut = table->screen.width &&
		   (more || aw_screen_columns(text) > (size_t)RESULT);

	aw_screen_put(&table->screen, text, cut ? RESULT : 0, AW_PLAIN);
}

/* The last column, on a terminal no wider than what is left. */
static void put_rule(
	const struct aw_log_table *table, const char *result, const char *rule)
{
	size_t width = rule_width(table);

	if (!result && width)
		put_last(table, "", true);
	fputs(width ? " " : "  ", stdout);
	width = width ? width - 1 : 0;
	aw_screen_put(&table->screen, rule, aw_screen_columns(rule) > width ? width : 0,
		AW_PLAIN);
}

/* Which rule it was; where none was, in words what else. Owned by the caller. */
static char *rule_of(const struct aw_log_table *table, const cJSON *line)
{
	const cJSON *rule = cJSON_GetObjectItemCaseSensitive(line, "rule");
	const cJSON *number = cJSON_GetObjectItemCaseSensitive(rule, "line");
	AW_FREE char *file = aw_event_text(rule, "file");
	AW_FREE char *text = aw_event_text(rule, "text");
	AW_FREE char *reason = aw_event_text(line, "reason");
	AW_FREE char *whole = NULL;

	if (!table->rules || (!file && !reason))
		return NULL;
	/* the line of a key says little without the key, and that of a protection none */
	if (reason && file &&
		(strcmp(file, "protections") == 0 || aw_reason_is_key(file, text)))
		return aw_shown(reason, strlen(reason));
	if (file && asprintf(&whole, "%s:%.0f", file,
			    cJSON_IsNumber(number) ? number->valuedouble : 0) < 0)
		whole = NULL;
	if (whole)
		return aw_shown(whole, strlen(whole));
	return reason ? aw_shown(reason, strlen(reason)) : NULL;
}

/* With more to come it is padded; as the last column it may take the room of the next. */
static void put_target(const struct aw_log_table *table, const char *text, bool more)
{
	size_t width = target_width(table);

	if (!more && width) {
		width += RESULT;
		if (aw_screen_columns(text) <= width)
			width = 0;
	}
	aw_screen_put(&table->screen, text, width, AW_PLAIN);
}

void aw_log_table_put(struct aw_log_table *table, const cJSON *line)
{
	const char *action = aw_event_word(line, "action");
	const char *result = aw_event_word(line, "result");
	AW_FREE char *target = aw_log_about(line, !table->rules);
	AW_FREE char *rule = rule_of(table, line);
	AW_FREE char *what = NULL;
	AW_FREE char *shown = result ? aw_shown(result, strlen(result)) : NULL;

	if (!action)
		action = aw_event_word(line, "event");
	if (action && strcmp(action, "connection") == 0)
		action = "ended"; /* which it has, or it would not be there */
	what = action ? aw_shown(action, strlen(action)) : NULL;
	put_time(table, line);
	put_who(table, line);
	put(table, what ? what : "?", ACTION, AW_PLAIN);
	put_verdict(table, line);
	put_target(table, target ? target : "", shown || table->rules);
	if (shown) {
		fputs(table->screen.width ? " " : "  ", stdout);
		put_last(table, shown, rule != NULL);
	}
	if (rule)
		put_rule(table, shown, rule);
	putchar('\n');
}
