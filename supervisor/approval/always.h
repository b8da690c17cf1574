/* SPDX-License-Identifier: Apache-2.0 */
/*
 * always.h - an answer that is written into a policy file.
 *
 * The rule is about exactly what was asked: this path, these arguments, this address.
 * It is put into the text of the chosen layer's file, the whole policy is loaded with
 * it, and only when it then says what was answered, and nothing milder than that, does
 * the new text take the old one's place.
 */
#ifndef AW_SUPERVISOR_APPROVAL_ALWAYS_H
#define AW_SUPERVISOR_APPROVAL_ALWAYS_H

#include <stdbool.h>

#include "supervisor/launch/run.h"

/*
 * layer: "global", "agent" or "workspace".  0 with what was written where in text; the
 * policy is still to be read again.  -1: nothing was changed, and why.
 */
int aw_always_write(struct aw_run *run, const struct aw_image *image,
	const struct aw_event *event, uint64_t question, bool yes, const char *layer,
	char *text, size_t size, struct aw_error *err);

#endif
