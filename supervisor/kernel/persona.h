/* SPDX-License-Identifier: Apache-2.0 */
/*
 * persona.h - acting with a target's rights.
 *
 * A call done on behalf must succeed or fail as the target's own would: its file system
 * ids, groups, effective capabilities and umask count (credentials(7),
 * capabilities(7)). They are taken for one call by raw system calls, which change this
 * thread alone, and given back after it.  Real and saved ids stay ours, so that nobody
 * gains the right to signal us.  An ordinary user's supervisor has nothing to change
 * but the umask.
 *
 * Most processes have the rights that the command started with: only where a call that
 * changes rights was seen is /proc asked again.
 */
#ifndef AW_SUPERVISOR_KERNEL_PERSONA_H
#define AW_SUPERVISOR_KERNEL_PERSONA_H

#include "supervisor/kernel/target.h"
#include "supervisor/watch.h"

/* This thread gets a umask of its own, and notes its rights. Once, at its start. */
void aw_persona_prepare(void);

/* Be the target until aw_persona_drop(). 0 or an errno: nothing has changed then. */
int aw_persona_take(struct aw_watch *watch, const struct aw_target *target);
void aw_persona_drop(void);

#endif
