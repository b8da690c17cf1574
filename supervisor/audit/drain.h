/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h - the thread that reads the rings and notices ends.
 *
 * Sleeps on the control page's doorbell (futex(2)); a ring that fills up rings it, else
 * it looks by itself every few milliseconds, so a line is in the file within 100 ms.
 */
#ifndef AW_SUPERVISOR_AUDIT_DRAIN_H
#define AW_SUPERVISOR_AUDIT_DRAIN_H

#include "supervisor/decide/watch.h"

struct aw_drain;

int aw_drain_start(struct aw_watch *watch, struct aw_drain **ret, struct aw_error *err);

/* Read everything that is left, log all exits, stop. */
void aw_drain_finish(struct aw_drain *drain);

#endif
