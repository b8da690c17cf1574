/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_sandbox.h - telling a human that a program's own sandbox does not start here.
 *
 * The program itself says something about its kernel, or nothing at all, so stderr gets
 * one line in a session: who it was, and what to switch off.
 */
#ifndef AW_SUPERVISOR_LINUX_CALLS_OWN_SANDBOX_H
#define AW_SUPERVISOR_LINUX_CALLS_OWN_SANDBOX_H

#include <stdbool.h>

#include "supervisor/decide/watch.h"

/*
 * A namespace or the like was refused to this process. optional: programs do without
 * it, so only of those that are known not to something is said.
 */
void aw_own_sandbox_refused(
	struct aw_watch *watch, const struct aw_process_info *who, bool optional);

#endif
