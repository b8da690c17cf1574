/* SPDX-License-Identifier: Apache-2.0 */
/* inside.c - the ancestors of a process, and who watches this one. */
#include "supervisor/process/inside.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/linux/procfs.h"
#include "supervisor/util/cleanup.h"

enum { DEPTH = 1024 };

/* A supervisor cannot call itself anything else, whoever looks at it. */
static bool is_supervisor(pid_t pid)
{
	char path[48], name[32] = "";
	AW_FCLOSE FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	return file && fgets(name, sizeof(name), file) &&
	       strcmp(name, AW_SUPERVISOR_NAME "\n") == 0;
}

/* Alive, and not for us to see (proc(5), hidepid): so not ours, as a supervisor is. */
static bool is_hidden(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == EPERM;
}

/* From pid up to the first process; what is gone on the way is not outside. */
bool aw_is_outside(pid_t pid, pid_t self)
{
	for (int depth = 0; depth < DEPTH; depth++) {
		struct aw_proc_stat stat;

		if (pid == self)
			return false;
		if (!aw_proc_stat(pid, &stat))
			return depth > 0 && is_hidden(pid);
		if (is_supervisor(pid))
			return false;
		if (stat.ppid <= 0 || pid == 1)
			return true;
		pid = stat.ppid;
	}
	return false;
}

/*
 * A pid namespace hides the supervisor; its filter and its library do not hide.  The
 * filter cannot be taken off; without one (engine preload) nothing holds anyway.
 */
static bool is_filtered(void)
{
	return syscall(SYS_seccomp, AW_SECCOMP_INSIDE, 0, NULL) < 0 &&
	       errno == EALREADY;
}

static bool is_watched(void)
{
	return is_filtered() || aw_proc_maps_session(getpid());
}

void aw_keep_others_out(void)
{
	if (!is_filtered())
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int aw_refuse_inside(const char *what, struct aw_error *err)
{
	if (!is_watched() && aw_is_outside(getpid(), 0))
		return 0;
	return aw_fail(err, EPERM,
		"%s was called from inside of a session, or /proc does not show that "
		"it was not; sessions are controlled from outside, so call it there",
		what);
}
