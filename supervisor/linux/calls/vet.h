/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vet.h - programs that have begun and were not looked at yet, before others look in.
 *
 * An exec goes on in the kernel, and which program it has become is looked at with its
 * first watched call (aw_call_verify()).  A tracer has it stopped before that, with the
 * text of a program that may not run in its memory.  So whoever reaches for the memory
 * or the registers of such a process has it looked at first.
 */
#ifndef AW_SUPERVISOR_LINUX_CALLS_VET_H
#define AW_SUPERVISOR_LINUX_CALLS_VET_H

#include "supervisor/linux/calls/call.h"

/*
 * Mode enforce: a call (ptrace, process_vm_*) is about another process of the session.
 * False: that one has become what it may not run, and was killed; the call is refused,
 * filled in.
 */
bool aw_vet_call(struct aw_notified *call);

/* The same for a resolved path below /proc/PID. */
bool aw_vet_path(struct aw_notified *call, const char *name);

#endif
