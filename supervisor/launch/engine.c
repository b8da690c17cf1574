/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - which engine this machine can do, best first. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/launch/run.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* In a child of its own, since a filter cannot be taken off again. */
static int install_listener(unsigned flags)
{
	struct sock_filter code[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
	struct sock_fprog program = {1, code};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) >= 0)
			_exit(0);
		_exit(errno);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return EAGAIN;
	return WEXITSTATUS(status);
}

/*
 * May a listener be had?  The errno, 0 for yes.  Where no filter is around us, nobody
 * else listens and nothing forbids it: then it is up to the kernel, which looks at the
 * flags before it looks for the filter (seccomp(2), EFAULT).
 */
static int try_listener(unsigned flags)
{
	flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
	if (prctl(PR_GET_SECCOMP) != 0)
		return install_listener(flags);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL) < 0)
		return errno == EFAULT ? 0 : errno;
	return EINVAL;
}

static const char *reason(int err, enum aw_mode mode)
{
	if (err == EBUSY)
		return "something outside, such as another agentwatch, already listens here";
	if (err == EINVAL && mode == AW_ENFORCE)
		return "the kernel's seccomp user notification is too old for enforce "
		       "(Linux 5.19 or later)";
	if (err == EINVAL)
		return "the kernel has no seccomp user notification (Linux 5.14 or later)";
	if (err == ENOSYS || err == EPERM || err == EACCES)
		return "seccomp(2) is refused by something outside, such as a "
		       "container's own filter";
	return strerror(err);
}

static int no_shim(const char *engine, struct aw_error *err)
{
	return aw_fail(err, ENOENT,
		"engine %s needs libagentwatch.so, which is not beside this program; "
		"install agentwatch again, or use --engine kernel",
		engine);
}

int aw_run_choose_engine(struct aw_run *run, const char *wanted, struct aw_error *err)
{
	int failed;

	run->hybrid_flags = false;
	run->engine = AW_PRELOAD;
	if (wanted && strcmp(wanted, "preload") == 0)
		return run->shim ? 0 : no_shim("preload", err);
	failed = try_listener(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	run->hybrid_flags = failed == 0;
	if (failed == EINVAL && run->policy.mode == AW_AUDIT)
		failed = try_listener(
			0); /* before 5.19 a signal may repeat a call: audit only */
	if (!failed) {
		run->engine = run->shim && !(wanted && strcmp(wanted, "kernel") == 0)
				      ? AW_HYBRID
				      : AW_KERNEL;
		if (run->engine == AW_KERNEL && wanted && strcmp(wanted, "hybrid") == 0)
			return no_shim("hybrid", err);
		return 0;
	}
	if (wanted && strcmp(wanted, "auto") != 0)
		return aw_fail(err, failed,
			"engine %s cannot be used here: %s; --engine auto takes what works",
			wanted, reason(failed, run->policy.mode));
	if (!run->shim)
		return aw_fail(err, failed,
			"no engine can be used here: %s, and libagentwatch.so is not "
			"beside this program, so install agentwatch again",
			reason(failed, run->policy.mode));
	return aw_fail(err, failed,
		       "using engine preload, which does not see static programs and "
		       "raw system calls: %s",
		       reason(failed, run->policy.mode)),
	       0;
}
