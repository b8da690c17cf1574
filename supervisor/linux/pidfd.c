/* SPDX-License-Identifier: Apache-2.0 */
/* pidfd.c - PIDFD_GET_INFO, whose header older systems do not have. */
#include "supervisor/linux/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/pidfd.h of Linux 6.15 */
struct info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid;
	uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};

#define THREAD O_EXCL /* PIDFD_THREAD of Linux 6.9 */
#define GET_INFO _IOWR(0xFF, 11, struct info)
#define INFO_PID (1UL << 0)
#define INFO_EXIT (1UL << 3)

int aw_pidfd_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int aw_pidfd_of_thread(pid_t tid, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, tid, THREAD);

	return fd < 0 && errno == EINVAL ? aw_pidfd_open(pid) : fd;
}

bool aw_pidfd_parent(int pidfd, pid_t *ret_pid, pid_t *ret_ppid)
{
	struct info info = {.mask = INFO_PID};

	if (ioctl(pidfd, GET_INFO, &info) < 0 || !(info.mask & INFO_PID))
		return false;
	*ret_pid = (pid_t)info.tgid;
	*ret_ppid = (pid_t)info.ppid;
	return true;
}

int aw_pidfd_status(int pidfd)
{
	struct info info = {.mask = INFO_EXIT};

	if (ioctl(pidfd, GET_INFO, &info) < 0 || !(info.mask & INFO_EXIT))
		return -1;
	return info.exit_code;
}
