/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_table.h - events as rows for people.
 */
#ifndef AW_SUPERVISOR_COMMANDS_LOG_TABLE_H
#define AW_SUPERVISOR_COMMANDS_LOG_TABLE_H

#include <cjson/cJSON.h>

#include "supervisor/cli/screen.h"

struct aw_log_table {
	struct aw_screen screen;
	bool rules;   /* one more column: the rule's place, or the reason */
	char day[12]; /* of the row before */
};

/* Set up for stdout; rules as above. */
void aw_log_table_init(struct aw_log_table *table, bool rules);

/* Print one event; the head of the table comes with the first on a terminal. */
void aw_log_table_put(struct aw_log_table *table, const cJSON *line);

/*
 * log_about.c: its column of paths and the like; key: with the key of git's
 * configuration that was refused, too.  Owned by the caller; NULL: no memory.
 */
char *aw_log_about(const cJSON *line, bool key);

#endif
