/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ours.h - which processes are of the session, and may be touched by the others of it.
 *
 * Not those that are not proven to descend from us now, nor what stands above the
 * command: a sandbox's own program is behind no filter and would be a way out.
 */
#ifndef AW_SUPERVISOR_LINUX_TARGET_OURS_H
#define AW_SUPERVISOR_LINUX_TARGET_OURS_H

#include <stdbool.h>
#include <sys/types.h>

struct aw_watch;

enum {
	AW_SANDBOX_INIT = 1
}; /* in a sandbox's pid namespace: the sandbox's own program */

/* By the number that the target uses, in the sandbox's pid namespace if there is one. */
bool aw_ours_inside(const struct aw_watch *watch, pid_t pid);

/* By the number that we have for it. */
bool aw_ours_outside(const struct aw_watch *watch, pid_t pid);

#endif
