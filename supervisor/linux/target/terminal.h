/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - whose terminal a device is.
 *
 * Terminals of one user are all open to that user: a program can read what is typed at
 * another one, or write to it what that one's emulator takes for commands.
 */
#ifndef AW_SUPERVISOR_LINUX_TARGET_TERMINAL_H
#define AW_SUPERVISOR_LINUX_TARGET_TERMINAL_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Those that the session has from its beginning: before there are threads. */
void aw_terminals_note(void);

/*
 * Is it a terminal (pty(7), console) of this machine that is nothing of the session's?
 * The session's are those it began with, the controlling one of tid, and those whose
 * other side one of its processes holds; behind a sandbox, all of that sandbox's
 * /dev/pts, which is the file system own_pts.
 */
bool aw_terminal_is_foreign(pid_t tid, dev_t own_pts, const struct stat *st);

/* Is it one whose other side the session holds, or one of its own /dev/pts? */
bool aw_terminal_is_made_inside(dev_t own_pts, const struct stat *st);

#endif
