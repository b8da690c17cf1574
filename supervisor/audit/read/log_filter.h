/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_filter.h - which lines of a log are wanted.
 */
#ifndef AW_SUPERVISOR_AUDIT_READ_LOG_FILTER_H
#define AW_SUPERVISOR_AUDIT_READ_LOG_FILTER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervisor/cli/options.h"

/* Values of one list are alternatives; different filters must all hold. */
struct aw_log_filter {
	bool denied;
	struct aw_string_list pids, programs, actions, paths, verdicts, events, calls;
	struct aw_string_list mcps, profiles;
	const char *since, *until; /* as given */
	int64_t from, to;	   /* set by aw_log_filter_prepare() */
	char **expanded;	   /* owned: paths by aw_log_filter_expand() */
};

/* Check the values and read the times. */
int aw_log_filter_prepare(struct aw_log_filter *filter, struct aw_error *err);

/*
 * Paths that begin with "~", "$HOME", "$TMPDIR", "$WORKSPACE" (the session's; NULL: not
 * known), "." or ".." become what they mean here.
 */
void aw_log_filter_expand(struct aw_log_filter *filter, const char *workspace);

/* Line is a parsed event. */
bool aw_log_filter_matches(const struct aw_log_filter *filter, const cJSON *line);

void aw_log_filter_release(struct aw_log_filter *filter);

/* A string member's original bytes, owned by the caller; NULL when there is none. */
char *aw_event_text(const cJSON *line, const char *key);

/* A string member as it stands in the line; NULL when there is none. */
const char *aw_event_word(const cJSON *line, const char *key);

/* deny, hide and ask-deny. */
bool aw_verdict_refuses(const char *verdict);

#endif
