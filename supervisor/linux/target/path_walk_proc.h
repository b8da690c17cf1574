/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_walk_proc.h - names whose meaning depends on who asks: /proc/self, the links
 * below /proc/PID, /dev/tty (proc(5), tty(4)).  For path_walk.c; aw_path_walk_proc()
 * for handle.c.
 */
#ifndef AW_SUPERVISOR_LINUX_TARGET_PATH_WALK_PROC_H
#define AW_SUPERVISOR_LINUX_TARGET_PATH_WALK_PROC_H

#include "supervisor/linux/target/path_walk.h"

/*
 * A link `name` in the directory `dir` of a proc file system, as the target would
 * follow it.  Either its text is put into text, or *ret_jump (owned by the caller) is
 * what it leads to; then *ret_own tells whether it is one of the target's own
 * descriptors. Links of processes that are not of the session are refused: EACCES.
 */
int aw_location_proc_link(struct aw_watch *watch, const struct aw_target *target,
	int dir, const char *name, char *text, size_t size, int *ret_jump,
	bool *ret_own);

/*
 * Note which /proc the session has: its numbers are those of its processes.  Another
 * procfs may show processes of outside: a directory that was handed down leads to the
 * one of this machine from behind a sandbox.  With our own rights; nothing when it is
 * known.
 */
void aw_path_walk_proc(struct aw_watch *watch, const struct aw_target *target);

/* /dev/tty becomes the target's terminal; ENXIO when it has none. Else nothing. */
int aw_location_own_tty(const struct aw_target *target, struct aw_location *place);

/* The user id that file permissions are checked with in this thread. */
uid_t aw_location_fsuid(void);

#endif
