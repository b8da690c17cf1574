/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.h - what was learnt as the text of a policy.
 */
#ifndef AW_SUPERVISOR_LEARN_RENDER_H
#define AW_SUPERVISOR_LEARN_RENDER_H

#include "supervisor/learn/learner.h"

/*
 * The whole file; owned by the caller.  given is the environment that the command had,
 * or NULL when it is not known.  Questions that an entry would admit are denied by
 * name, which is found out by loading the text once.
 */
char *aw_render(
	struct aw_learner *learner, const char *const *given, struct aw_error *err);

/* "/root/.ssh/id_rsa was read 3 times, by git: protected (private-keys)", for people;
 * owned by the caller. */
char *aw_question_text(const struct aw_learn_question *question);

#endif
