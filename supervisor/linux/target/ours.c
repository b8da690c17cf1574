/* SPDX-License-Identifier: Apache-2.0 */
/* ours.c - which processes are of the session. */
#include "supervisor/linux/target/ours.h"

#include "supervisor/decide/watch.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/process/descend.h"

bool aw_ours_inside(const struct aw_watch *watch, pid_t pid)
{
	if (watch->own_pids) /* nobody else has a number there */
		return pid != AW_SANDBOX_INIT;
	return pid > 0 && aw_descends(pid, watch->self);
}

bool aw_ours_outside(const struct aw_watch *watch, pid_t pid)
{
	if (!aw_descends(pid, watch->self))
		return false;
	return !watch->own_pids ||
	       (aw_proc_is_inside(pid) && aw_proc_inner_pid(pid) != AW_SANDBOX_INIT);
}
