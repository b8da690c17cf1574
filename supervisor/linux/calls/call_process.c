/* SPDX-License-Identifier: Apache-2.0 */
/* call_process.c - calls at other processes: signals, tracing, priorities, limits. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "supervisor/linux/calls/call_process.h"
#include "supervisor/linux/pidfd.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/linux/sockets/emulate_net.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/linux/target/ours.h"
#include "supervisor/process/descend.h"
#include "supervisor/util/cleanup.h"

#define PRIORITY_OF_PROCESS 1 /* linux/ioprio.h: IOPRIO_WHO_PROCESS */

/* "/proc/PID" itself, which pidfd_send_signal(2) takes as well; 0: it is none. */
static pid_t behind_folder(int fd)
{
	char link[40], name[64], *end;
	struct statfs fs;
	const char *last;
	ssize_t n;
	long pid;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	if (n <= 0 || fstatfs(fd, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
		return 0;
	name[n] = '\0';
	last = strrchr(name, '/');
	if (!last || last[1] < '1' || last[1] > '9')
		return 0;
	pid = strtol(last + 1, &end, 10);
	return *end ? 0 : (pid_t)pid;
}

/* The process that a descriptor of ours is for: 0 for none, -1 when it has ended. */
static pid_t behind_pidfd(int fd, bool *ret_folder)
{
	char path[64], line[128];
	AW_FCLOSE FILE *file = NULL;

	*ret_folder = false;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "Pid:", 4) == 0)
			return atoi(line + 4);
	*ret_folder = true;
	return behind_folder(fd);
}

bool aw_call_is_ours(const struct aw_notified *call, pid_t whom)
{
	return (!call->watch->own_pids &&
		       (whom == call->target.who.pid || whom == call->target.tid)) ||
	       aw_ours_inside(call->watch, whom);
}

/* Of this group, as the target numbers it; 0: of the target's own. */
static bool is_in_group(const struct aw_notified *call, pid_t pid, pid_t group)
{
	if (!group)
		return getpgid(pid) == getpgid(call->target.tid);
	return (call->watch->own_pids ? aw_proc_inner_group(pid) : getpgid(pid)) ==
	       group;
}

/* As the target, which aw_creds_assume() has made of us. */
static bool signal_member(struct aw_notified *call, pid_t pid)
{
	AW_CLOSE int pidfd = aw_pidfd_open(pid);

	return pidfd >= 0 && aw_ours_outside(call->watch, pid) &&
	       syscall(SYS_pidfd_send_signal, pidfd, (int)call->args[1], NULL, 0) == 0;
}

/* signal(7) has 64, and kill(2) says so whoever the process belongs to. */
static bool is_no_signal(const struct aw_notified *call)
{
	bool of_thread =
		call->sys == AW_SYS_tgkill || call->sys == AW_SYS_rt_tgsigqueueinfo;

	return (uint32_t)call->args[of_thread ? 2 : 1] > 64;
}

/*
 * A group, or everybody, may hold processes that are not of the session, and a pid
 * namespace does not cut a group in two: each one that is gets the signal from here.
 */
static void signal_many(struct aw_notified *call, pid_t whom)
{
	AW_FREE pid_t *all = NULL;
	size_t count = aw_session_members(call->watch->self, &all), hit = 0, met = 0;
	int err = aw_creds_assume(call->watch, &call->target);

	for (size_t i = 0; !err && all && i < count; i++)
		if (whom == -1 ? all[i] != call->target.who.pid
			       : is_in_group(call, all[i], -whom)) {
			hit += signal_member(call, all[i]);
			met++;
		}
	aw_creds_restore();
	call->reply = AW_REPLY_VALUE;
	call->err = err ? err : hit ? 0 : met && is_no_signal(call) ? EINVAL : ESRCH;
}

/* --- setpriority(2), ioprio_set(2) --- */

static int kind_of(const struct aw_notified *call)
{
	return (int)call->args[0] -
	       (call->sys == AW_SYS_ioprio_set ? PRIORITY_OF_PROCESS : 0);
}

static long set_one(const struct aw_notified *call, pid_t tid)
{
	if (call->sys == AW_SYS_ioprio_set)
		return syscall(
			SYS_ioprio_set, PRIORITY_OF_PROCESS, tid, (int)call->args[2]);
	return setpriority(PRIO_PROCESS, (id_t)tid, (int)call->args[2]);
}

/* Of a group, or of a user; who is 0 for those of the caller. */
static bool is_meant(const struct aw_notified *call, pid_t pid, int kind, uint32_t who)
{
	uid_t user;

	if (!aw_ours_outside(call->watch, pid))
		return false;
	if (kind == PRIO_PGRP)
		return is_in_group(call, pid, (pid_t)who);
	return aw_proc_user(pid, &user) && user == who;
}

static bool is_group(pid_t group)
{
	AW_FREE pid_t *all = NULL;

	return aw_proc_group(group, &all) > 0;
}

/* Those of the session that are meant, and nobody else; as the kernel adds it up. */
static void set_many(struct aw_notified *call, int kind)
{
	uint32_t who = (uint32_t)call->args[1];
	AW_FREE pid_t *all = NULL;
	size_t count = aw_session_members(call->watch->self, &all);
	int err = ESRCH;
	uid_t user;

	if (!who && kind == PRIO_USER && aw_proc_user(call->target.tid, &user))
		who = user;
	if (aw_creds_assume(call->watch, &call->target)) {
		aw_emulate_answer(call, -EPERM);
		return;
	}
	for (size_t i = 0; all && i < count; i++) {
		AW_FREE pid_t *threads = NULL;
		size_t n = is_meant(call, all[i], kind, who)
				   ? aw_proc_threads(all[i], &threads)
				   : 0;

		for (size_t t = 0; threads && t < n; t++)
			if (set_one(call, threads[t]) < 0)
				err = errno == ESRCH ? err : errno;
			else if (err == ESRCH)
				err = 0;
	}
	aw_creds_restore();
	if (err == ESRCH && kind == PRIO_PGRP && !call->watch->own_pids &&
		is_group((pid_t)who))
		aw_call_warn(call, "outside", aw_call_name((unsigned)call->sys));
	else
		aw_emulate_answer(call, -err);
}

/* --- by a pidfd --- */

/* As the target has it; 32-bit programs put it more closely. */
static bool read_info(const struct aw_notified *call, siginfo_t *ret)
{
	struct {
		int32_t number, error, code, pid, user, value;
	} narrow;

	memset(ret, 0, sizeof(*ret));
	if (call->word == 8)
		return aw_target_read(&call->target, call->args[2], ret, sizeof(*ret));
	if (!aw_target_read(&call->target, call->args[2], &narrow, sizeof(narrow)))
		return false;
	ret->si_signo = narrow.number;
	ret->si_errno = narrow.error;
	ret->si_code = narrow.code;
	ret->si_pid = narrow.pid;
	ret->si_uid = (uid_t)narrow.user;
	ret->si_value.sival_int = narrow.value;
	return true;
}

/* What a signal may be given along with, and the argument that has it; -1: none. */
static int info_at(const struct aw_notified *call)
{
	return call->sys == AW_SYS_kill ? -1 : 2;
}

/* On what was looked at: by its number alone it could be another one by then. */
static void signal_by(struct aw_notified *call, int pidfd)
{
	siginfo_t info;
	bool given = info_at(call) >= 0 && call->args[2] != 0;
	unsigned flags =
		call->sys == AW_SYS_pidfd_send_signal ? (unsigned)call->args[3] : 0;
	int err;

	if (given && !read_info(call, &info)) {
		aw_emulate_answer(call, -EFAULT);
		return;
	}
	err = aw_creds_assume(call->watch, &call->target);
	if (!err && syscall(SYS_pidfd_send_signal, pidfd, (int)call->args[1],
			    given ? &info : NULL, flags) < 0)
		err = errno;
	aw_creds_restore();
	aw_emulate_answer(call, -err);
}

static void take_by(struct aw_notified *call, int pidfd)
{
	int err = aw_creds_assume(call->watch, &call->target);
	AW_CLOSE int fd = -1;

	if (!err) {
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)call->args[1],
			(unsigned)call->args[2]);
		err = fd < 0 ? errno : 0;
	}
	aw_creds_restore();
	if (err)
		aw_emulate_answer(call, -err);
	else
		aw_emulate_give(call, &fd, O_CLOEXEC);
}

/* Would the kernel itself keep the session's processes from those outside? */
static bool kernel_holds(const struct aw_notified *call)
{
	enum { SIGNALS = 1 << 1 }; /* linux/landlock.h: LANDLOCK_SCOPE_SIGNAL */
	const struct aw_landlock *landlock = call->watch->facts->landlock;

	return call->watch->own_pids ||
	       (landlock &&
		       (call->sys == AW_SYS_pidfd_getfd || landlock->scopes & SIGNALS));
}

static bool is_beyond(struct aw_notified *call, pid_t whom)
{
	if (!aw_watch_is_beyond(call->watch, &call->target.who, whom))
		return false;
	aw_call_warn(call, "profile", aw_call_name((unsigned)call->sys));
	return true;
}

static void by_pidfd(struct aw_notified *call)
{
	bool folder, walled = call->watch->own_pids;
	AW_CLOSE int fd = aw_emulate_socket(call, (int)call->args[0]);
	pid_t whom;

	if (fd < 0)
		return;
	whom = behind_pidfd(fd, &folder);
	if (!whom || (folder && call->sys != AW_SYS_pidfd_send_signal)) {
		aw_emulate_answer(call, -EBADF);
		return;
	}
	if (call->sys == AW_SYS_pidfd_getfd &&
		is_beyond(call, walled && !folder ? aw_proc_inner_pid(whom) : whom))
		return;
	if (whom > 0 && !aw_ours_outside(call->watch, whom) && aw_proc_exists(whom)) {
		aw_call_warn(call, "outside", aw_call_name((unsigned)call->sys));
		return;
	}
	if (kernel_holds(call) || !aw_emulate_waits(call))
		return;
	if (call->sys == AW_SYS_pidfd_send_signal)
		signal_by(call, fd);
	else
		take_by(call, fd);
}

/* --- by its number --- */

static bool is_signal(const struct aw_notified *call)
{
	switch (call->sys) {
	case AW_SYS_kill:
	case AW_SYS_tkill:
	case AW_SYS_tgkill:
	case AW_SYS_rt_sigqueueinfo:
	case AW_SYS_rt_tgsigqueueinfo:
		return true;
	default:
		return false;
	}
}

/* Nobody is there; who gets the number next is nobody that was looked at. */
static void is_nobody(struct aw_notified *call)
{
	call->reply = AW_REPLY_FAIL;
	call->err = ESRCH;
}

/*
 * At another process, where nothing but us keeps the session's from those outside: on
 * what was looked at, since the number may belong to another one a moment later.
 */
static void signal_held(struct aw_notified *call, pid_t whom)
{
	AW_CLOSE int pidfd = aw_pidfd_open(whom);

	if (pidfd < 0) /* a thread that leads nothing */
		return;
	if (!aw_call_is_ours(call, whom))
		is_nobody(call);
	else if (aw_emulate_waits(call))
		signal_by(call, pidfd);
}

/* Other processes may be touched when they are of the session and not ours. */
void aw_call_process(struct aw_notified *call)
{
	pid_t whom = (pid_t)call->args[(uint8_t)call->row->flags];
	bool walled = call->watch->own_pids; /* nobody else is to be seen */

	call->silent = true;
	if (call->row->path2 == AW_ARG_FD) {
		by_pidfd(call);
		return;
	}
	if (call->sys == AW_SYS_ptrace && call->args[0] == PTRACE_TRACEME)
		return;
	if (call->sys == AW_SYS_kill && whom <= 0 && !(walled && whom == -1)) {
		signal_many(call, whom);
		return;
	}
	if (call->row->dir == 0 && kind_of(call) != PRIO_PROCESS) {
		if (kind_of(call) == PRIO_PGRP ||
			(!walled && kind_of(call) == PRIO_USER))
			set_many(call, kind_of(call));
		return;
	}
	/* it would be a way out of a profile; a signal is none */
	if (!is_signal(call) && is_beyond(call, whom))
		return;
	if (whom <= 0)
		return;
	if (aw_call_is_ours(call, whom)) {
		if (whom != call->target.who.pid && !kernel_holds(call) &&
			(call->sys == AW_SYS_kill ||
				call->sys == AW_SYS_rt_sigqueueinfo))
			signal_held(call, whom);
		return;
	}
	if (!walled && !aw_proc_exists(whom))
		is_nobody(call);
	else if (is_signal(call) && is_no_signal(call))
		aw_emulate_answer(call, -EINVAL);
	else
		aw_call_warn(call, "outside", aw_call_name((unsigned)call->sys));
}
