/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.h - a question for people and for programs.
 */
#ifndef AW_SUPERVISOR_APPROVAL_DESCRIBE_H
#define AW_SUPERVISOR_APPROVAL_DESCRIBE_H

#include "supervisor/approval/questions.h"

/*
 * One line of JSON about a question, with its asker's directory and ancestors up to the
 * supervisor self as they are now.  The length, terminated; 0 when it does not fit.
 * squeeze: leave out arguments rather than not fit.
 */
size_t aw_question_json(const char *session, pid_t self,
	const struct aw_question *question, char *to, size_t size, bool squeeze);

/* "read /home/me/x": control characters made harmless. */
void aw_question_brief(const struct aw_event *event, char *to, size_t size);

#endif
