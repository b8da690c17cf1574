/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_owner.c - who the kernel sends a descriptor's signals to (fcntl(2), F_SETOWN).
 *
 * The kernel sends whatever signal F_SETSIG names, so an owner must be of the session.
 * What is in memory, or is about the owner that a descriptor has already, is set from
 * here on a duplicate, which is the same open file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "supervisor/linux/calls/call_process.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/linux/sockets/emulate_net.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/linux/target/ours.h"
#include "supervisor/linux/target/terminal.h"
#include "supervisor/process/descend.h"
#include "supervisor/util/cleanup.h"

/* Is every process of a group of the session?  Nobody outside can join one later. */
static bool is_group_ours(struct aw_notified *call, pid_t group)
{
	AW_FREE pid_t *all = NULL;
	bool walled = call->watch->own_pids;
	/* in a pid namespace a number names no group but those made in it */
	size_t count = walled ? aw_descendants(call->watch->self, &all)
			      : aw_proc_group(group, &all);
	bool ours = all != NULL;

	for (size_t i = 0; ours && i < count; i++)
		ours = (walled && aw_proc_inner_group(all[i]) != group) ||
		       aw_ours_outside(call->watch, all[i]);
	return ours;
}

/* As F_SETOWN says it: a process or thread, below 0 a group, 0 nobody. */
static bool may_own(struct aw_notified *call, int owner)
{
	return !owner ||
	       (owner > 0 ? aw_call_is_ours(call, owner) || !aw_proc_exists(owner)
			  : is_group_ours(call, -owner));
}

static int as_number(const struct f_owner_ex *owner)
{
	return owner->type == F_OWNER_PGRP ? -owner->pid : owner->pid;
}

static void refuse(struct aw_notified *call, const char *what)
{
	aw_call_warn(call, "outside", what);
}

/* What fcntl or ioctl is told, by us on the same open file. */
static void set_here(struct aw_notified *call, int fd, const struct f_owner_ex *owner)
{
	int err = aw_emulate_waits(call) ? aw_creds_assume(call->watch, &call->target)
					 : 0;
	long rc = 0;

	if (call->reply == AW_REPLY_DONE)
		return;
	if (!err) {
		if (call->row->effect == AW_FX_IOCTL)
			rc = ioctl(fd, (unsigned)call->args[1], &owner->pid);
		else if ((int)call->args[1] == F_SETSIG)
			rc = fcntl(fd, F_SETSIG, (int)call->args[2]);
		else
			rc = fcntl(fd, F_SETOWN_EX, owner);
		err = rc < 0 ? errno : 0;
	}
	aw_creds_restore();
	aw_emulate_answer(call, -err);
}

/* The same of an owner by its number here, whatever it is for the target. */
static bool is_owner_ours(
	const struct aw_notified *call, const struct f_owner_ex *owner)
{
	AW_FREE pid_t *all = NULL;
	size_t count;

	if (!owner->pid)
		return true;
	if (owner->type != F_OWNER_PGRP)
		return aw_ours_outside(call->watch, owner->pid) ||
		       !aw_proc_exists(owner->pid);
	count = aw_proc_group(owner->pid, &all);
	for (size_t i = 0; i < count; i++)
		if (!aw_ours_outside(call->watch, all[i]))
			return false;
	return all != NULL;
}

static void on_signal(struct aw_notified *call, int fd)
{
	struct f_owner_ex owner = {.pid = 0};

	if (fcntl(fd, F_GETOWN_EX, &owner) == 0 && !is_owner_ours(call, &owner))
		refuse(call, "fcntl(F_SETSIG)");
	else
		set_here(call, fd, &owner);
}

/* Who has a file open for writing, or may write to it. */
static bool may_change(const struct aw_notified *call, int fd)
{
	char name[AW_LOCATION_PATH];
	struct aw_decision decision;
	size_t n;

	if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
		return true;
	n = aw_own_descriptor_name(fd, name, sizeof(name));
	aw_image_decide_path_in(atomic_load(&call->watch->image),
		call->target.who.role.profiles, AW_WRITE, name, n, &decision);
	return n && decision.verdict == AW_ALLOW;
}

/*
 * A lease holds up whoever opens the file, for as long as the kernel has patience
 * (fcntl(2)): as grave as a change.  It belongs to the open file, so it is set here, on
 * the one that was looked at; who gets the signal is said before, or it would be us.
 */
static void on_lease(struct aw_notified *call, int fd)
{
	struct f_owner_ex owner = {.pid = 0},
			  target = {F_OWNER_PID, call->target.who.pid};
	int err;

	if ((int)call->args[2] == F_UNLCK)
		return;
	if (!may_change(call, fd)) {
		call->silent = true;
		aw_emulate_answer(call, -EACCES);
		return;
	}
	err = aw_emulate_waits(call) ? aw_creds_assume(call->watch, &call->target) : 0;
	if (call->reply == AW_REPLY_DONE)
		return;
	if (!err && (fcntl(fd, F_GETOWN_EX, &owner) < 0 ||
			    (!owner.pid && fcntl(fd, F_SETOWN_EX, &target) < 0) ||
			    fcntl(fd, F_SETLEASE, (int)call->args[2]) < 0))
		err = errno;
	aw_creds_restore();
	aw_emulate_answer(call, -err);
}

/*
 * Signals when there is something to read.  Where there is no owner a terminal makes
 * its foreground group the owner (tty_fasync()), and another thread may take the owner
 * away at any moment: so only a terminal of the session's making may send any.
 */
static bool may_send(const struct aw_notified *call, int fd)
{
	struct f_owner_ex owner = {.pid = 0};
	struct stat st;

	if (fcntl(fd, F_GETOWN_EX, &owner) == 0 && !is_owner_ours(call, &owner))
		return false;
	return !isatty(fd) ||
	       (fstat(fd, &st) == 0 &&
		       aw_terminal_is_made_inside(atomic_load(&call->watch->pts), &st));
}

/* on: what memory says, for ioctl. */
static void on_async(struct aw_notified *call, int fd, bool by_ioctl, int on)
{
	int err = 0;

	if (!may_send(call, fd)) {
		refuse(call, by_ioctl ? "ioctl(FIOASYNC)" : "fcntl(F_SETFL, O_ASYNC)");
		return;
	}
	if (!aw_emulate_waits(call))
		return;
	if ((by_ioctl ? ioctl(fd, FIOASYNC, &on)
		      : fcntl(fd, F_SETFL, (int)call->args[2])) < 0)
		err = errno;
	aw_emulate_answer(call, -err);
}

static void on_command(struct aw_notified *call, int fd, int command)
{
	struct f_owner_ex owner = {.pid = 0};

	switch (command) {
	case F_SETSIG:
		on_signal(call, fd);
		break;
	case F_SETLEASE:
		on_lease(call, fd);
		break;
	case F_SETFL:
		on_async(call, fd, false, 0);
		break;
	default:
		if (!aw_target_read(
			    &call->target, call->args[2], &owner, sizeof(owner)))
			aw_emulate_answer(call, -EFAULT);
		else if (may_own(call, as_number(&owner)))
			set_here(call, fd, &owner);
		else
			refuse(call, "fcntl(F_SETOWN_EX)");
	}
}

static void on_request(struct aw_notified *call, int fd)
{
	struct f_owner_ex owner = {.pid = 0};
	int value;

	if (!aw_target_read(&call->target, call->args[2], &value, sizeof(value))) {
		aw_emulate_answer(call, -EFAULT);
		return;
	}
	owner.pid = value;
	if (call->args[1] == FIOASYNC)
		on_async(call, fd, true, value);
	else if (may_own(call, value))
		set_here(call, fd, &owner);
	else
		refuse(call, "ioctl(FIOSETOWN)");
}

/* Behind a pid namespace nobody can be named who is outside of it. */
static bool is_for_us(const struct aw_notified *call, bool by_ioctl, int command)
{
	bool walled = call->watch->own_pids;

	if (by_ioctl)
		return call->args[1] == FIOASYNC || !walled;
	switch (command) {
	case F_SETFL: /* 32-bit: not told apart by the filter */
		return call->args[2] & O_ASYNC;
	case F_SETSIG:
	case F_SETLEASE:
		return true;
	default:
		return command == F_SETOWN_EX && !walled;
	}
}

void aw_call_owner(struct aw_notified *call)
{
	bool by_ioctl = call->row->effect == AW_FX_IOCTL;
	int command = (int)call->args[1];
	AW_CLOSE int fd = -1;

	call->silent = true;
	if (!by_ioctl && command == F_SETOWN && !call->watch->own_pids &&
		!may_own(call, (int)call->args[2]))
		refuse(call, "fcntl(F_SETOWN)");
	if (!is_for_us(call, by_ioctl, command))
		return;
	fd = aw_emulate_socket(call, (int)call->args[0]);
	if (fd < 0)
		return;
	if (by_ioctl)
		on_request(call, fd);
	else
		on_command(call, fd, command);
}
