/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h - the calls of a log, one after another.
 *
 * A log is read a line at a time; damaged lines are said and passed over.
 */
#ifndef AW_SUPERVISOR_LEARN_SEEN_H
#define AW_SUPERVISOR_LEARN_SEEN_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <sys/types.h>

#include "policy/image/image.h"
#include "supervisor/audit/read/lines.h"

enum { AW_SEEN_WORDS = 256 };

enum aw_outcome { AW_OUTCOME_UNKNOWN, AW_OUTCOME_OK, AW_OUTCOME_FAILED };

/* One call.  Strings are borrowed from the line and hold until the next one. */
struct aw_seen {
	const char *call;
	enum aw_action action;
	pid_t pid;
	const char *exe;
	const char *raw; /* or "" */
	const char *path, *path2;
	size_t path_len, path2_len;
	const char *argv[AW_SEEN_WORDS];
	size_t argc;
	struct aw_address address; /* family 0: no network call */
	enum aw_outcome outcome;
	const char *error; /* "ENOENT", with AW_OUTCOME_FAILED */
	bool refused;	   /* a rule refused it, or would have */
	const char *rule;  /* that rule's text and where it stands, or NULL */
	const char *rule_file, *rule_layer;
	unsigned rule_line;
};

struct aw_log_reader {
	const char *name; /* borrowed */
	struct aw_lines lines;
	cJSON *line;	       /* the one that was given out last */
	unsigned long damaged; /* lines passed over */
	bool quiet;	       /* say nothing about them: a second reading */
};

int aw_log_reader_open(
	struct aw_log_reader *reader, const char *name, struct aw_error *err);

/* The next call: 1; the end: 0; a read error: -1. */
int aw_log_reader_next(
	struct aw_log_reader *reader, struct aw_seen *ret, struct aw_error *err);

void aw_log_reader_close(struct aw_log_reader *reader);

#endif
