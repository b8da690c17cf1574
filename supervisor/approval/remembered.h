/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remembered.h - answers that hold until the session ends, by what was asked.
 *
 * A table is a pointer that begins as NULL; whoever owns it keeps threads apart.
 */
#ifndef AW_SUPERVISOR_APPROVAL_REMEMBERED_H
#define AW_SUPERVISOR_APPROVAL_REMEMBERED_H

#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/approval/questions.h"
#include "supervisor/approval/subject_key.h"

struct aw_remembered;

/*
 * What was answered to this: who may change something may read it, so a yes for the one
 * is one for the other.  key is changed meanwhile and given back as it was.
 */
bool aw_remembered_find(
	struct aw_remembered *all, struct aw_subject_key *key, struct aw_answered *ret);

/* In the place of what was answered before; without memory it is asked about again. */
void aw_remembered_add(struct aw_remembered **all, const struct aw_subject_key *key,
	bool yes, uid_t uid);

void aw_remembered_free(struct aw_remembered *all);

#endif
