/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enforcement.c - every call that is watched in mode enforce alone, made once: a line a
 * call.
 *
 *   held OUTSIDE    OUTSIDE is the pid of a process that is not of the session
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/calls.h"
#include "policy/numbers.h"

static pid_t outside, child, ended;
static char byte;
static int line;
static unsigned long long room[2];
static struct iovec one = {&byte, 1};
static unsigned long all = ~0ul;
static struct {
	unsigned size, policy;
	unsigned long long rest[5];
} plain = {sizeof(plain), SCHED_OTHER, {0}};

static void tell(const char *name, const char *what, long result)
{
	printf("%s %s %s\n", name, what, result < 0 ? strerrorname_np(errno) : "ok");
}

static int pidfd_of(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Something that changes nothing, done to another process. */
static long touch(const char *name, long nr, pid_t whom)
{
	siginfo_t info = {.si_signo = 0, .si_code = SI_QUEUE};

	if (strcmp(name, "tgkill") == 0)
		return syscall(nr, whom, whom, 0);
	if (strcmp(name, "rt_sigqueueinfo") == 0)
		return syscall(nr, whom, 0, &info);
	if (strcmp(name, "rt_tgsigqueueinfo") == 0)
		return syscall(nr, whom, whom, 0, &info);
	if (strcmp(name, "pidfd_send_signal") == 0)
		return syscall(nr, pidfd_of(whom), 0, NULL, 0);
	if (strcmp(name, "pidfd_getfd") == 0)
		return syscall(nr, pidfd_of(whom), 0, 0);
	if (strcmp(name, "ptrace") == 0)
		return syscall(nr, PTRACE_SEIZE, whom, 0, 0);
	if (strcmp(name, "prlimit64") == 0)
		return syscall(nr, whom, 7, NULL, room);
	if (strcmp(name, "setpriority") == 0)
		return syscall(nr, PRIO_PROCESS, whom, 0);
	if (strcmp(name, "ioprio_set") == 0)
		return syscall(nr, 1, whom, 0);
	if (strcmp(name, "sched_setaffinity") == 0)
		return syscall(nr, whom, sizeof(all), &all);
	if (strcmp(name, "sched_setattr") == 0)
		return syscall(nr, whom, &plain, 0);
	if (strcmp(name, "sched_setscheduler") == 0)
		return syscall(nr, whom, SCHED_OTHER, room);
	if (strcmp(name, "sched_setparam") == 0)
		return syscall(nr, whom, room);
	if (strncmp(name, "process_vm", 10) == 0) {
		/* the child's memory is laid out as ours is; nothing is there outside */
		return syscall(nr, whom, &one, 1, &one, 1, 0);
	}
	return syscall(nr, whom, 0);
}

/* The arguments say "as it is", so that the rest of this program is not changed. */
static long rights(const char *name, long nr)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];
	gid_t groups[64];
	int count;

	if (strcmp(name, "setgroups") == 0) {
		count = getgroups(64, groups);
		return count < 0 ? -1 : syscall(nr, count, groups);
	}
	if (strcmp(name, "capset") == 0) {
		syscall(SYS_capget, &head, data);
		return syscall(nr, &head, data);
	}
	if (strncmp(name, "setfs", 5) == 0)
		return syscall(nr, -1) >= 0 ? 0 : -1;
	if (strcmp(name, "setuid") == 0)
		return syscall(nr, geteuid());
	if (strcmp(name, "setgid") == 0)
		return syscall(nr, getegid());
	return syscall(nr, -1, -1, -1);
}

static long another_socket(int family)
{
	return socket(family, SOCK_DGRAM, 0);
}

/* A route by way of ourselves, an interface, a group. */
static long option(long nr, int name)
{
	static const unsigned char route[8] = {131, 7, 4, 127, 0, 0, 1, 0};
	struct ip_mreqn group = {{htonl(0xefff2a2a)}, {htonl(INADDR_LOOPBACK)}, 0};
	int fd = another_socket(AF_INET);

	switch (name) {
	case IP_OPTIONS:
		return syscall(nr, fd, IPPROTO_IP, name, route, sizeof(route));
	case IP_ADD_MEMBERSHIP:
		return syscall(nr, fd, IPPROTO_IP, name, &group, sizeof(group));
	case SO_BINDTODEVICE:
		return syscall(nr, fd, SOL_SOCKET, name, "lo", 2);
	default:
		return syscall(nr, fd, SOL_SOCKET, name, &(int){1}, sizeof(int));
	}
}

/* Who gets a signal when there is something to read. */
static void owners(const char *name)
{
	struct f_owner_ex one = {F_OWNER_PID, child}, other = {F_OWNER_TID, outside};
	int pair[2], fd, someone = outside;

	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	fd = pair[0];
	tell(name, "inside", fcntl(fd, F_SETOWN, child));
	tell(name, "inside-ended", fcntl(fd, F_SETOWN, ended));
	tell(name, "outside", fcntl(fd, F_SETOWN, outside));
	tell(name, "outside", fcntl(fd, F_SETOWN, -getpgid(outside)));
	tell(name, "inside-ex", fcntl(fd, F_SETOWN_EX, &one));
	tell(name, "outside", fcntl(fd, F_SETOWN_EX, &other));
	tell(name, "bad-signal", fcntl(fd, F_SETSIG, 1000));
	tell(name, "closed", fcntl(1000, F_SETOWN_EX, &one));
	tell(name, "address", fcntl(fd, F_SETOWN_EX, 1));
	tell("ioctl", "inside", ioctl(fd, FIOSETOWN, &child));
	tell("ioctl", "outside", ioctl(fd, FIOSETOWN, &someone));
	tell("ioctl", "outside", ioctl(fd, SIOCSPGRP, &someone));
	tell(name, "signal", fcntl(fd, F_SETSIG, SIGUSR1));
	printf("%s kept %s\n", name,
		fcntl(fd, F_GETOWN) == child && fcntl(fd, F_GETSIG) == SIGUSR1 ? "yes"
									       : "no");
}

/* pidfd_send_signal(2) takes "/proc/PID", too. */
static long signal_folder(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return syscall(
		SYS_pidfd_send_signal, open(path, O_RDONLY | O_DIRECTORY), 0, NULL, 0);
}

/* Nobody is in the group but one who has ended. */
static void kill_ended_group(void)
{
	siginfo_t end;
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		_exit(0);
	}
	waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT);
	tell("kill", "ended-group", kill(-pid, 0));
	waitpid(pid, NULL, 0);
	tell("kill", "nobody", kill(-pid, 0));
}

static void held(const char *name, enum aw_effect effect, long nr)
{
	switch (effect) {
	case AW_FX_SOCKET:
		if (strcmp(name, "socketpair") == 0) {
			tell(name, "unix",
				syscall(nr, AF_UNIX, SOCK_SEQPACKET, 0, room));
			tell(name, "other", syscall(nr, AF_TIPC, SOCK_RDM, 0, room));
			break;
		}
		tell(name, "inet", another_socket(AF_INET));
		tell(name, "other", another_socket(AF_ALG));
		tell(name, "other", socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP));
		tell(name, "other", socket(AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK));
		tell(name, "netlink", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
		break;
	case AW_FX_LISTEN:
		tell(name, "unbound", syscall(nr, socket(AF_INET, SOCK_STREAM, 0), 5));
		tell(name, "unbound", syscall(nr, socket(AF_INET6, SOCK_STREAM, 0), 5));
		tell(name, "datagram", syscall(nr, another_socket(AF_INET), 5));
		tell(name, "nothing", syscall(nr, -1, 5));
		break;
	case AW_FX_OPTION:
		tell(name, "plain", option(nr, SO_KEEPALIVE));
		tell(name, "route", option(nr, IP_OPTIONS));
		tell(name, "device", option(nr, SO_BINDTODEVICE));
		tell(name, "joins", option(nr, IP_ADD_MEMBERSHIP));
		break;
	case AW_FX_PROCESS:
		tell(name, "inside", touch(name, nr, child));
		tell(name, "ended", touch(name, nr, ended));
		tell(name, "outside", touch(name, nr, outside));
		break;
	case AW_FX_OWNER:
		owners(name);
		break;
	case AW_FX_LANDLOCK:
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		tell(name, "sandbox",
			syscall(nr, NULL, 0,
				strcmp(name, "landlock_create_ruleset") == 0));
		break;
	case AW_FX_UMASK:
		tell(name, "own", syscall(nr, 022));
		break;
	case AW_FX_CREDS:
		tell(name, "own", rights(name, nr));
		break;
	case AW_FX_IOCTL:
		tell(name, "FIONREAD",
			ioctl(open("/dev/null", O_RDONLY), TCGETS, &byte));
		tell(name, "TIOCSTI", ioctl(open("/dev/null", O_RDWR), TIOCSTI, &byte));
		tell(name, "TIOCLINUX",
			ioctl(open("/dev/null", O_RDWR), TIOCLINUX, &byte));
		tell(name, "TIOCSETD",
			ioctl(open("/dev/null", O_RDWR), TIOCSETD, &line));
		tell(name, "FS_IOC_SETVERSION",
			ioctl(open(".", O_RDONLY), FS_IOC_SETVERSION, &line));
		tell(name, "FS_IOC_ENABLE_VERITY",
			ioctl(open(".", O_RDONLY), FS_IOC_ENABLE_VERITY, NULL));
		tell(name, "BTRFS_IOC_SUBVOL_CREATE",
			ioctl(open(".", O_RDONLY), BTRFS_IOC_SUBVOL_CREATE, NULL));
		break;
	case AW_FX_CLONE3:
		tell(name, "size", syscall(nr, NULL, 1));
		break;
	default:
		tell(name, "any",
			nr < 0 ? (errno = ENOSYS, -1)
			       : syscall(nr, -1, strstr(name, "name") ? -1L : 0L, 0, 0,
					 0, 0));
		break;
	}
}

int main(int argc, char **argv)
{
	siginfo_t end;

	outside = argc > 1 ? atoi(argv[1]) : 1;
	ended = fork();
	if (ended == 0)
		_exit(0);
	waitid(P_PID, (id_t)ended, &end, WEXITED | WNOWAIT);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
#define AW_SYS(name, effect, dir, path, dir2, path2, flags, last)                      \
	if (AW_FX_##effect >= AW_FX_ENFORCE_ONLY || AW_FX_##effect == AW_FX_MACHINE)   \
		held(#name, AW_FX_##effect, __NR_##name);
#include "policy/calls.def"
	tell("setpriority", "itself", setpriority(PRIO_PROCESS, 0, 0));
	setpgid(child, child);
	tell("setpriority", "group", setpriority(PRIO_PGRP, child, 0));
	tell("setpriority", "some", setpriority(PRIO_PGRP, getpgid(outside), 0));
	tell("setpriority", "nobody", setpriority(PRIO_USER, (id_t)-1, 0));
	tell("setpriority", "no-group", setpriority(PRIO_PGRP, 0x3ffffffe, 0));
	tell("kill", "group", (setpgid(child, child), kill(-child, 0)));
	tell("pidfd_send_signal", "folder", signal_folder(child));
	tell("pidfd_send_signal", "own-folder", signal_folder(getpid()));
	tell("pidfd_send_signal", "outside", signal_folder(outside));
	tell("pidfd_send_signal", "file",
		syscall(SYS_pidfd_send_signal, open("/dev/null", O_RDONLY), 0, NULL,
			0));
	tell("pidfd_send_signal", "closed",
		syscall(SYS_pidfd_send_signal, 1000, 0, NULL, 0));
	kill_ended_group();
	tell("unshare", "fs", unshare(CLONE_FS));
	tell("unshare", "user", unshare(CLONE_NEWUSER));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
