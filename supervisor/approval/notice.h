/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notice.h - telling the human that something is asked.
 *
 * For the launcher: notify-send is nobody's business that is watched, and what descends
 * from the service could be touched by the agent.
 */
#ifndef AW_SUPERVISOR_APPROVAL_NOTICE_H
#define AW_SUPERVISOR_APPROVAL_NOTICE_H

#include <stdbool.h>

enum { AW_NOTICE_TEXT = 1024 };

/*
 * text is what aw_question_brief() made; name is SESSION/NUMBER.  A notification on the
 * desktop where there is one, without waiting for it; on stderr once, unless quiet.
 */
void aw_notice(const char *name, const char *text, bool quiet);

#endif
