/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - one event as one line of JSON, fields in the order of docs/AUDIT.md.
 */
#ifndef AW_SUPERVISOR_AUDIT_LINE_H
#define AW_SUPERVISOR_AUDIT_LINE_H

#include <time.h>

#include "supervisor/audit/event.h"
#include "supervisor/util/json.h"

/* The text of the second last written; most events share it with the one before. */
struct aw_clock_text {
	time_t second;
	bool valid;
	char text[20]; /* "2026-11-21T21:55:01" */
};

/* "2026-11-21T21:55:01.123456789Z" with its quotes. */
void aw_line_time(struct aw_json *json, struct aw_clock_text *clock, uint64_t ts);

/* Append the line and its newline; session_json is the session's id with its quotes. */
void aw_line_write(struct aw_json *json, struct aw_clock_text *clock, uint64_t seq,
	const struct aw_text *session_json, const struct aw_event *event);

#endif
