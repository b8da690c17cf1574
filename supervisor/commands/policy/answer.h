/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - one answer of `policy explain`, and how it is printed.
 */
#ifndef AW_SUPERVISOR_COMMANDS_POLICY_ANSWER_H
#define AW_SUPERVISOR_COMMANDS_POLICY_ANSWER_H

#include "supervisor/commands/policy/source_verdicts.h"

/* All borrowed. */
struct aw_answer {
	const struct aw_effective *standing;
	const struct aw_source_verdicts *words;
	const struct aw_asked_subject *subject;
	const char *verb; /* "read", ... */
	struct aw_source_line word;
	struct aw_enforced held;
	const char *granted; /* the directory by which Landlock lets it, or NULL */
};

/* Some lines for people, or one JSON object, on stdout. */
void aw_answer_print(const struct aw_answer *answer);
void aw_answer_print_json(const struct aw_answer *answer);

#endif
