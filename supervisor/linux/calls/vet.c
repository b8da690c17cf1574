/* SPDX-License-Identifier: Apache-2.0 */
/* vet.c - programs that have begun and were not looked at yet. */
#include "supervisor/linux/calls/vet.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "supervisor/linux/procfs.h"

/* pid is as we number them; false: it was killed. */
static bool vet_process(struct aw_notified *call, pid_t pid)
{
	struct aw_decision decision;
	char link[64], exe[AW_CALL_PATH];
	pid_t leader, parent;
	struct aw_process_info who;
	ssize_t n;

	if (call->watch->holds && pid > 0 && aw_proc_parent(pid, &leader, &parent))
		pid = leader; /* of a thread */
	if (!call->watch->holds || pid <= 0 || pid == call->target.who.pid ||
		!aw_processes_peek(call->watch->tree, pid, &who) || !who.execing)
		return true;
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n <= 0)
		return errno == ENOENT || errno == ESRCH;
	exe[n] = '\0';
	aw_image_decide_exec_in(atomic_load(&call->watch->image), who.role.profiles,
		exe, (size_t)n, NULL, 0, &decision);
	/* as aw_call_verify() has it */
	if (decision.verdict == AW_ALLOW ||
		(decision.rule == AW_NO_RULE &&
			aw_processes_is_foreseen(call->watch->tree, pid)))
		return true;
	if (decision.verdict != AW_ASK) {
		aw_watch_warn(call->watch, &who, "exec",
			"process %d became %s, which it may not run, and was killed",
			pid, exe);
		kill(pid, SIGKILL);
	}
	return false;
}

bool aw_vet_call(struct aw_notified *call)
{
	size_t argument;
	pid_t pid;

	switch (call->sys) {
	case AW_SYS_ptrace:
		if (call->args[0] == PTRACE_TRACEME)
			return true;
		argument = 1;
		break;
	case AW_SYS_process_vm_readv:
	case AW_SYS_process_vm_writev:
		argument = 0;
		break;
	default:
		return true;
	}
	pid = (pid_t)call->args[argument];
	if (call->watch->own_pids)
		pid = aw_proc_outer_pid(call->target.tid, pid);
	if (vet_process(call, pid))
		return true;
	call->silent = true;
	call->reply = AW_REPLY_FAIL;
	call->err = EPERM;
	return false;
}

bool aw_vet_path(struct aw_notified *call, const char *name)
{
	char *end;
	long pid;

	if (strncmp(name, "/proc/", 6) != 0)
		return true;
	pid = strtol(name + 6, &end, 10);
	if (end == name + 6 || *end != '/')
		return true;
	if (call->watch->own_pids)
		pid = aw_proc_outer_pid(call->target.tid, (pid_t)pid);
	return vet_process(call, (pid_t)pid);
}
