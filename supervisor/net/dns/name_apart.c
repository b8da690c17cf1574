/* SPDX-License-Identifier: Apache-2.0 */
/* name_apart.c - a child makes the namespace and is gone when it has been joined. */
#include "supervisor/net/dns/name_apart.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A silent one, as in netns.c: whoever waits for the command's descendants is not told
 * of its end. */
static pid_t fork_into(unsigned long flags)
{
	pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);

	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

int aw_name_apart_start(struct aw_netns **ret, struct aw_error *err)
{
	pid_t pid = fork_into(CLONE_NEWNET);
	int result;

	if (pid < 0)
		pid = fork_into(CLONE_NEWUSER | CLONE_NEWNET);
	if (pid < 0)
		return aw_fail(
			err, errno, "making a network namespace: %s", strerror(errno));
	result = aw_netns_start(pid, ret, err);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	return result;
}
