/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creds.h - acting with a target's rights.
 *
 * A call done on behalf must succeed or fail as the target's own would: its file system
 * ids, groups, effective capabilities and umask count (credentials(7),
 * capabilities(7)). They are taken for one call by raw system calls, which change this
 * thread alone, and given back after it.  Real and saved ids stay ours, so that nobody
 * gains the right to signal us.  An ordinary user's supervisor has nothing to change
 * but the umask.
 *
 * Most processes have the rights that the command started with: only after a call that
 * changes rights, or an exec behind one, is /proc asked again, and once for each
 * thread.
 */
#ifndef AW_SUPERVISOR_LINUX_TARGET_CREDS_H
#define AW_SUPERVISOR_LINUX_TARGET_CREDS_H

#include "supervisor/decide/watch.h"
#include "supervisor/linux/target/target.h"

/* This thread gets a umask of its own, and notes its rights. Once, at its start. */
void aw_creds_prepare(void);

/*
 * Be the target until aw_creds_restore(), which may be said once too often.  Changing
 * costs much, so for calls about files the thread stays what it is: the next one mostly
 * comes from the same target.  0 or an errno: nothing has changed then.
 */
int aw_creds_assume(struct aw_watch *watch, const struct aw_target *target);
void aw_creds_restore(void);

/* Before another call is looked at: stay the target only when it comes from that one. */
void aw_creds_keep_for(pid_t tid);

/*
 * Something that is for us to do was refused, as errno says: true if that may be for
 * the target's rights, which are dropped then, so that it can be tried again.
 */
bool aw_creds_hinder(void);

#endif
