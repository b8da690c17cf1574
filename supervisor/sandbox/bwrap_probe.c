/* SPDX-License-Identifier: Apache-2.0 */
/* bwrap_probe.c - can bubblewrap make a sandbox here? */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/sandbox/bwrap_internal.h"
#include "supervisor/util/cleanup.h"

static bool reads_as(const char *path, char digit)
{
	AW_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char c = 0;

	return fd >= 0 && read(fd, &c, 1) == 1 && c == digit;
}

static int explain(const char *line, struct aw_error *err)
{
	if (reads_as("/proc/sys/kernel/unprivileged_userns_clone", '0'))
		return aw_fail(err, EPERM,
			"ordinary users may not make user namespaces here "
			"(kernel.unprivileged_userns_clone is 0); runner landlock does without");
	if (reads_as("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1'))
		return aw_fail(err, EPERM,
			"AppArmor keeps ordinary users from user namespaces here "
			"(kernel.apparmor_restrict_unprivileged_userns is 1); allow it for bwrap "
			"with an AppArmor profile, or use runner landlock, which does without");
	return aw_fail(err, EPERM,
		"bwrap does not work here: %s; runner landlock does without",
		line[0] ? line : "it gave no reason");
}

int aw_bwrap_probe(struct aw_error *err)
{
	AW_FREE char *program = aw_runner_program("bwrap", err);
	struct aw_arguments args = {.count = 0};
	char line[160] = "";
	int failed;

	if (!program)
		return -1;
	if (aw_runner_works("bwrap", program))
		return 0;
	AW_ARGS(&args, program);
	if (geteuid() != 0)
		AW_ARGS(&args, "--unshare-user");
	AW_ARGS(&args, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--ro-bind",
		"/", "/", "--dev", "/dev", "--proc", "/proc", "--", "/bin/true");
	failed = args.failed ? -1 : aw_runner_try(args.items, line, sizeof(line));
	aw_arguments_free(&args);
	if (failed)
		return explain(line, err);
	aw_runner_note("bwrap", program);
	return 0;
}
