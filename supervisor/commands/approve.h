/* SPDX-License-Identifier: Apache-2.0 */
/*
 * approve.h - questions of running sessions, as the command `approve` sees them.
 */
#ifndef AW_SUPERVISOR_COMMANDS_APPROVE_H
#define AW_SUPERVISOR_COMMANDS_APPROVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "supervisor/cli/options.h"

struct cJSON;

extern const struct aw_command aw_command_approve;

/* One open question; owned. */
struct aw_open_question {
	char *session, *control; /* control: its socket */
	uint64_t id;
	struct cJSON *json; /* as the session gave it */
	char *line;	    /* the same as text */
};

struct aw_open_questions {
	struct aw_open_question *items; /* owned; by session, then by id */
	size_t count;
};

/* Of all sessions that run; a session that does not answer is said on stderr. */
int aw_open_questions_get(struct aw_open_questions *ret, struct aw_error *err);
void aw_open_questions_free(struct aw_open_questions *questions);

/* By "3" where only one session has a question 3, or by "SESSION/3"; NULL with the
 * reason. */
const struct aw_open_question *aw_open_questions_find(
	const struct aw_open_questions *questions, const char *name,
	struct aw_error *err);

/* For people, several lines on stdout. */
void aw_open_question_show(const struct aw_open_question *question);

/* how: "once", "session", "always" with a layer.  The session's sentence in *ret_text
 * (owned). */
int aw_open_question_answer(const struct aw_open_question *question, bool yes,
	const char *how, const char *layer, char **ret_text, struct aw_error *err);

/* Show new questions as they come, and take answers from standard input, until stopped. */
int aw_approve_watch(bool json, const char *layer);

#endif
