/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - files that are the machine: devices, and settings of the kernel.
 *
 * A rule for a folder does not mean these: a disk is every file on it, and what is
 * written to /proc/sys/kernel/core_pattern runs programs outside of every sandbox.
 */
#ifndef AW_SUPERVISOR_KERNEL_MACHINE_H
#define AW_SUPERVISOR_KERNEL_MACHINE_H

#include "supervisor/kernel/call.h"
#include "supervisor/kernel/place.h"

/*
 * Is this one of them, which `rule` (or AW_NO_RULE), by which it was admitted, does not
 * name?  Block devices and settings are named by their own path alone, other devices by
 * any rule below /dev.
 */
bool aw_machine_keeps(const struct aw_notified *call, enum aw_action action,
	const struct aw_place *place, uint32_t rule);

/* The target's descriptor is for the device of this name among the kernel's "misc". */
bool aw_machine_is_misc(struct aw_notified *call, int number, const char *name);

#endif
