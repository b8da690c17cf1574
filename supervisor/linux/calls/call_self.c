/* SPDX-License-Identifier: Apache-2.0 */
/* call_self.c - calls about processes: rights, signals, namespaces, filters. */
#include <errno.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "supervisor/linux/calls/call_process.h"
#include "supervisor/linux/calls/own_sandbox.h"
#include "supervisor/linux/calls/request.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/emulate/machine.h"
#include "supervisor/process/inside.h"

#define NEW_VIEW                                                                       \
	(CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |    \
		CLONE_NEWUTS | CLONE_NEWCGROUP)

/* A filter of the target's own: the shim must make only the calls that libc would. */
static void on_own_filter(struct aw_notified *call)
{
	enum { MODE_STRICT, MODE_FILTER };

	call->silent = true;
	if (call->row->effect == AW_FX_PRCTL
			? (int)call->args[0] == PR_SET_SECCOMP
			: call->args[0] == MODE_STRICT || call->args[0] == MODE_FILTER)
		aw_processes_set_filtered(call->watch->tree, call->target.who.pid);
}

/* Enforce refuses other views of files and processes: paths would mean other things. */
static bool refuses_view(struct aw_notified *call)
{
	bool flags = call->row->effect == AW_FX_CLONE || call->sys == AW_SYS_unshare;

	if (flags && !(call->args[0] & NEW_VIEW))
		return false;
	aw_call_refuse(call, "namespace", aw_call_name((unsigned)call->sys));
	return call->watch->holds;
}

static void on_view(struct aw_notified *call)
{
	call->silent = true;
	if (refuses_view(call)) {
		aw_own_sandbox_refused(call->watch, &call->target.who, false);
		return;
	}
	if (call->row->effect == AW_FX_CLONE && !(call->args[0] & CLONE_NEWNS))
		return;
	if (call->sys == AW_SYS_unshare && !(call->args[0] & (CLONE_NEWNS | CLONE_FS)))
		return;
	if (call->row->effect == AW_FX_CLONE) { /* its child inherits what is said */
		aw_processes_set_moved_root(call->watch->tree, call->target.who.pid);
		return;
	}
	call->moves = call->leads = true;
	if (call->sys == AW_SYS_unshare && call->args[0] & CLONE_FS)
		aw_processes_set_plain(call->watch->tree, call->target.who.pid);
	aw_processes_set_moved_root(call->watch->tree, call->target.who.pid);
}

/*
 * A sandbox of the target's own would hold what it does itself and not what is done on
 * its behalf, so enforce answers as a kernel without Landlock does: programs that would
 * rather have it go without, and those that must have it say so.
 */
static void on_landlock(struct aw_notified *call)
{
	call->silent = true;
	call->reply = AW_REPLY_FAIL;
	call->err = EOPNOTSUPP;
	if (call->sys != AW_SYS_landlock_restrict_self &&
		(call->sys != AW_SYS_landlock_create_ruleset || !call->args[0]))
		return;
	aw_watch_warn(call->watch, &call->target.who, "landlock",
		"process %d was told that there is no Landlock, since a "
		"sandbox of its own would not hold what is done on its behalf",
		call->target.who.pid);
	aw_own_sandbox_refused(call->watch, &call->target.who, true);
}

/* A command of ours asks whether it is watched. */
static void tell_inside(struct aw_notified *call)
{
	call->silent = true;
	call->reply = AW_REPLY_FAIL;
	call->err = EALREADY;
}

static void on_ioctl(struct aw_notified *call)
{
	call->args[1] = (uint32_t)call->args[1]; /* as the kernel takes it */
	if (call->word == 4 && call->args[1] == FS_IOC32_SETFLAGS)
		call->args[1] = FS_IOC_SETFLAGS;
	if (call->word == 4 && call->args[1] == FS_IOC32_SETVERSION)
		call->args[1] = FS_IOC_SETVERSION;
	call->silent = true;
	switch (call->args[1]) {
	case FS_IOC_SETFLAGS:
	case FS_IOC_FSSETXATTR:
		call->silent = false;
		call->event.action = AW_WRITE;
		aw_emulate_change(call);
		break;
	case FIOASYNC:
	case FIOSETOWN:
	case SIOCSPGRP:
		aw_call_owner(call);
		break;
	case TIOCSTI:
	case TIOCLINUX:
		aw_call_warn(call, "terminal", "typing into a terminal");
		break;
	case USERFAULTFD_IOC_NEW: /* the same number on another file is no business */
		if (aw_machine_is_misc(call, (int)call->args[0], "userfaultfd"))
			aw_call_warn(call, "refused", "ioctl(USERFAULTFD_IOC_NEW)");
		break;
	case TIOCSETD: /* loads modules, and leads to code that nobody needs */
		aw_call_warn(call, "refused", "ioctl(TIOCSETD)");
		break;
	case FS_IOC_SETVERSION:
	case AW_EXT4_IOC_SETVERSION_OLD:
	case FS_IOC_ENABLE_VERITY:
	case BTRFS_IOC_SNAP_CREATE:
	case BTRFS_IOC_SNAP_CREATE_V2:
	case BTRFS_IOC_SUBVOL_CREATE:
	case BTRFS_IOC_SUBVOL_CREATE_V2:
	case BTRFS_IOC_SNAP_DESTROY:
	case BTRFS_IOC_SNAP_DESTROY_V2:
	case BTRFS_IOC_SUBVOL_SETFLAGS:
	case BTRFS_IOC_DEFAULT_SUBVOL:
		aw_call_warn(call, "refused",
			"ioctl of a file system (generation, fs-verity, subvolume)");
		break;
	default: /* others come from 32-bit programs, of which the filter sees all */
		break;
	}
}

void aw_call_self(struct aw_notified *call)
{
	struct aw_processes *tree = call->watch->tree;
	pid_t pid = call->target.who.pid;

	switch ((enum aw_effect)call->row->effect) {
	case AW_FX_URING:
		aw_call_warn(call, "io_uring",
			"io_uring_setup (its opens and connects are not seen)");
		break;
	case AW_FX_SECCOMP:
	case AW_FX_PRCTL:
		/* descendants are told apart by the numbers that this can change */
		if (call->row->effect == AW_FX_PRCTL &&
			(int)call->args[0] == PR_SET_MM && call->watch->holds)
			aw_call_warn(call, "refused", "prctl(PR_SET_MM)");
		else if (call->row->effect == AW_FX_PRCTL &&
			 (int)call->args[0] == PR_SET_CHILD_SUBREAPER)
			aw_processes_set_adopts(tree);
		else if (call->row->effect == AW_FX_SECCOMP &&
			 (uint32_t)call->args[0] == AW_SECCOMP_INSIDE)
			tell_inside(call);
		else
			on_own_filter(call);
		break;
	case AW_FX_NAMESPACE:
	case AW_FX_CLONE:
		on_view(call);
		break;
	case AW_FX_PROCESS:
		aw_call_process(call);
		break;
	case AW_FX_UMASK:
		aw_processes_set_umask(tree, pid, (int)call->args[0] & 0777);
		call->silent = true;
		break;
	case AW_FX_CREDS:
		aw_processes_set_rights(tree, pid);
		call->silent = true;
		break;
	case AW_FX_CLONE3: /* 32-bit: the filter answers for the others */
		call->silent = true;
		call->reply = AW_REPLY_FAIL;
		call->err = ENOSYS;
		break;
	case AW_FX_IOCTL:
		on_ioctl(call);
		break;
	case AW_FX_OWNER:
		aw_call_owner(call);
		break;
	case AW_FX_LANDLOCK:
		on_landlock(call);
		break;
	default:
		aw_call_warn(call, "refused", aw_call_name((unsigned)call->sys));
		break;
	}
}
