/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announce.h - from the table of questions to the human, by way of the launcher.
 */
#ifndef AW_SUPERVISOR_LAUNCH_ANNOUNCE_H
#define AW_SUPERVISOR_LAUNCH_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/approval/questions.h"

/* Zero at the start. */
struct aw_announcer {
	uint64_t last; /* the question that the human was told of */
	uint64_t at;   /* when, in ms */
	bool pending;  /* aw_questions_fd() was readable */
};

/*
 * Send AW_LAUNCH_ASKED for what is new, one message for all that came at once, so that
 * many questions are not many windows.  To be called again while it is pending.
 */
void aw_announce(
	struct aw_announcer *announcer, struct aw_questions *questions, int news);

#endif
