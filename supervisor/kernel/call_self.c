/* SPDX-License-Identifier: Apache-2.0 */
/* call_self.c - calls about processes: rights, signals, namespaces, filters. */
#include <errno.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <unistd.h>

#include "supervisor/cleanup.h"
#include "supervisor/descend.h"
#include "supervisor/kernel/hand.h"
#include "supervisor/kernel/persona.h"
#include "supervisor/proc.h"

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

	if (!call->watch->holds || (flags && !(call->args[0] & NEW_VIEW)))
		return false;
	aw_call_warn(call, "namespace", aw_call_name((unsigned)call->sys));
	return true;
}

static void on_view(struct aw_notified *call)
{
	call->silent = true;
	if (refuses_view(call))
		return;
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

/* The process that a pidfd of the target's is for; 0 when it is none. */
static pid_t behind_pidfd(pid_t tid, int fd)
{
	char path[64], line[128];
	AW_FCLOSE FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", tid, fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "Pid:", 4) == 0)
			return atoi(line + 4);
	return 0;
}

/* A group, or everybody, may hold processes that are not of the session: each one that
 * is gets the signal from here. */
static void signal_many(struct aw_notified *call, pid_t whom)
{
	pid_t group = whom == -1 ? 0 : whom == 0 ? getpgid(call->target.tid) : -whom;
	size_t count = 0;
	int err = aw_persona_take(call->watch, &call->target);

	if (!err) {
		count = aw_signal_group(call->watch->self, group,
			whom == -1 ? call->target.who.pid : 0, (int)call->args[1]);
		aw_persona_drop();
	}
	call->reply = AW_REPLY_VALUE;
	call->err = err ? err : count ? 0 : ESRCH;
}

/*
 * setpriority(2), ioprio_set(2): who is meant, where it is one process or a group that
 * one of the session leads; 1 where others may be among them.
 */
static pid_t of_that_kind(const struct aw_notified *call, pid_t whom)
{
	int kind = (int)call->args[0] - (call->sys == AW_SYS_ioprio_set ? 1 : 0);

	if (kind == PRIO_PGRP)
		return whom ? whom : getpgid(call->target.tid);
	return kind == PRIO_PROCESS ? whom : kind == PRIO_USER ? 1 : 0;
}

static bool is_signal(const struct aw_notified *call)
{
	switch (call->sys) {
	case AW_SYS_kill:
	case AW_SYS_tkill:
	case AW_SYS_tgkill:
	case AW_SYS_rt_sigqueueinfo:
	case AW_SYS_rt_tgsigqueueinfo:
	case AW_SYS_pidfd_send_signal:
		return true;
	default:
		return false;
	}
}

/* Other processes may be touched when they are of the session and not ours. */
static void on_kin(struct aw_notified *call)
{
	const struct aw_who *who = &call->target.who;
	unsigned argument = (uint8_t)call->row->flags;
	pid_t whom = (pid_t)call->args[argument];
	bool walled = call->watch->own_pids; /* nobody else is to be seen */

	call->silent = true;
	if (call->row->path2 == AW_ARG_FD) {
		whom = behind_pidfd(call->target.tid, (int)call->args[argument]);
		if (!whom) /* the kernel knows what is wrong with it */
			return;
		if (walled)
			whom = aw_proc_inner_pid(whom);
	} else if (call->sys == AW_SYS_ptrace && call->args[0] == PTRACE_TRACEME) {
		return;
	} else if (call->sys == AW_SYS_kill && whom <= 0 && !walled) {
		signal_many(call, whom);
		return;
	} else if (call->row->dir == 0) {
		whom = of_that_kind(call, whom);
	}
	/* it would be a way out of a profile; a signal is none */
	if (!is_signal(call) && aw_watch_is_beyond(call->watch, who, whom)) {
		aw_call_warn(call, "profile", aw_call_name((unsigned)call->sys));
		return;
	}
	if (walled || whom <= 0 || whom == who->pid || whom == call->target.tid ||
		aw_descends(whom, call->watch->self) || !aw_proc_exists(whom))
		return;
	aw_call_warn(call, "outside", aw_call_name((unsigned)call->sys));
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
		else
			on_own_filter(call);
		break;
	case AW_FX_VIEW:
	case AW_FX_CLONE:
		on_view(call);
		break;
	case AW_FX_KIN:
		on_kin(call);
		break;
	case AW_FX_UMASK:
		aw_processes_set_umask(tree, pid, (int)call->args[0] & 0777);
		call->silent = true;
		break;
	case AW_FX_RIGHTS:
		aw_processes_set_rights(tree, pid);
		call->silent = true;
		break;
	case AW_FX_CLONE3: /* 32-bit: the filter answers for the others */
		call->silent = true;
		call->reply = AW_REPLY_FAIL;
		call->err = ENOSYS;
		break;
	case AW_FX_IOCTL:
		call->args[1] = (uint32_t)call->args[1]; /* as the kernel takes it */
		if (call->word == 4 && call->args[1] == FS_IOC32_SETFLAGS)
			call->args[1] = FS_IOC_SETFLAGS;
		if (call->args[1] == FS_IOC_SETFLAGS ||
			call->args[1] == FS_IOC_FSSETXATTR) {
			call->event.action = AW_WRITE;
			aw_hand_change(call);
			break;
		}
		call->silent = true;
		if (call->args[1] == TIOCSTI || call->args[1] == TIOCLINUX)
			aw_call_warn(call, "terminal", "typing into a terminal");
		break;
	default:
		aw_call_warn(call, "refused", aw_call_name((unsigned)call->sys));
		break;
	}
}
