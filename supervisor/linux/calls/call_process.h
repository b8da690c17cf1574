/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_process.h - calls at other processes, and signals that descriptors send.
 */
#ifndef AW_SUPERVISOR_LINUX_CALLS_CALL_PROCESS_H
#define AW_SUPERVISOR_LINUX_CALLS_CALL_PROCESS_H

#include "supervisor/linux/calls/call.h"

/* Rows of the effect KIN. */
void aw_call_process(struct aw_notified *call);

/* fcntl(2) and ioctl(2) requests that say who a descriptor's signals are sent to. */
void aw_call_owner(struct aw_notified *call);

/* The caller itself, or another process of the session; no process of our own. */
bool aw_call_is_ours(const struct aw_notified *call, pid_t whom);

#endif
