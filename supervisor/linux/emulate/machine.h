/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - files that are the machine: devices, and settings of the kernel.
 *
 * A rule for a directory does not mean these: a disk is every file on it, and what is
 * written to /proc/sys/kernel/core_pattern runs programs outside of every sandbox.
 */
#ifndef AW_SUPERVISOR_LINUX_EMULATE_MACHINE_H
#define AW_SUPERVISOR_LINUX_EMULATE_MACHINE_H

#include <sys/stat.h>

#include "supervisor/linux/calls/call.h"
#include "supervisor/linux/target/path_walk.h"

/*
 * Is what a call is about one of them, which `rule` (or AW_NO_RULE), by which it was
 * admitted, does not name?  Block devices and settings are named by their own path
 * alone, other devices by any rule below /dev.  Then why it is refused, in words; else
 * NULL.
 */
const char *aw_machine_keeps(const struct aw_notified *call, enum aw_action action,
	const struct aw_location *place, uint32_t rule);

/*
 * The same for a name: what enforce would refuse, where nothing is held open.  sys is a
 * row of the system calls, or -1 for the opening of a file.
 */
const char *aw_machine_would_keep(const struct aw_image *image, enum aw_action action,
	int sys, const struct aw_text *path, pid_t tid, uint32_t rule);

/* Whether that is worth a look: the usual places, for what is looked at often. */
bool aw_machine_may_be(enum aw_action action, const struct aw_text *path);

/* The target's descriptor is for the device of this name among the kernel's "misc". */
bool aw_machine_is_misc(struct aw_notified *call, int number, const char *name);

#endif
