/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_order.h - what agentwatch-enter is told to do, and what it could not do.
 */
#ifndef AW_SUPERVISOR_LAUNCH_LAUNCH_ORDER_H
#define AW_SUPERVISOR_LAUNCH_LAUNCH_ORDER_H

#include "supervisor/launch/run.h"
#include "supervisor/linux/enter/enter.h"

/* Tell it all over its socket; env counts behind a sandbox's program only. */
int aw_launch_order(
	const struct aw_run *run, char *const *env, int fd, struct aw_error *err);

/* The sentence for a step that failed; always -1. */
int aw_launch_refused(const struct aw_run *run, const struct aw_enter_report *report,
	struct aw_error *err);

#endif
