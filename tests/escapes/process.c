/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - reaching into processes: one outside the session, and agentwatch's own */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

/* What /proc says of a process; -1 when nothing. */
static int parent_of(pid_t pid, char name[32])
{
	char path[64], line[200];
	int parent = -1;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	file = fopen(path, "re");
	name[0] = 0;
	while (file && fgets(line, sizeof line, file)) {
		sscanf(line, "Name: %31s", name);
		sscanf(line, "PPid: %d", &parent);
	}
	if (file)
		fclose(file);
	return parent;
}

/* What /proc tells everybody of a process is kept for those of agentwatch. */
static bool kept(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	fd = open(path, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EACCES;
}

static bool ours(pid_t pid)
{
	char name[32];

	return kept(pid) ||
	       (parent_of(pid, name) >= 0 && (strncmp(name, "agentwatch", 10) == 0 ||
						     strncmp(name, "aw-", 3) == 0));
}

/* The process of agentwatch that started us, the one before it, or one beside us. */
enum { SERVICE, FRONT, HELPER };

static pid_t supervisor(int which)
{
	enum { NEAR = 40 };

	if (started_by <= 1 || !ours(started_by))
		return 0;
	if (which == SERVICE)
		return started_by;
	for (pid_t away = 1; away < NEAR; away++) {
		pid_t pid = which == FRONT ? started_by - away : started_by + away;

		if (pid > 1 && ours(pid))
			return pid;
	}
	return 0;
}

enum {
	READV,
	WRITEV,
	MEM_READ,
	MEM_WRITE,
	PEEK,
	POKE,
	SEIZE,
	FD_OPEN,
	GETFD,
	ROOT_DIR,
	CWD_DIR,
	ENVIRON,
	KILL,
	TGKILL,
	TKILL,
	QUEUE,
	TGQUEUE,
	PIDFD,
	STOP,
	KILL_GROUP,
	FOLDER,
	SETOWN_EX,
	FIOSET,
	SETOWN,
	LIMIT,
	MADVISE,
	PIDFD_THREAD
};

static int memory(struct target *t, int how)
{
	struct iovec mine = {t->got, 60}, theirs = {(void *)t->memory, 60};
	char path[64], word[8] = "CHANGED";
	long rc, value;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/mem", t->pid);
	switch (how) {
	case READV:
		return result(process_vm_readv(t->pid, &mine, 1, &theirs, 1, 0));
	case WRITEV:
		mine.iov_base = word;
		mine.iov_len = theirs.iov_len = 7;
		return result(process_vm_writev(t->pid, &mine, 1, &theirs, 1, 0));
	case MEM_READ:
		fd = open(path, O_RDONLY);
		rc = fd < 0 ? -1 : pread(fd, t->got, 60, t->memory);
		return result(rc);
	case MEM_WRITE:
		fd = open(path, O_WRONLY);
		return result(fd < 0 ? -1 : pwrite(fd, word, 7, t->memory));
	case SEIZE:
		rc = ptrace(PTRACE_SEIZE, t->pid, 0, 0) ||
		     ptrace(PTRACE_INTERRUPT, t->pid, 0, 0);
		break;
	default:
		rc = ptrace(PTRACE_ATTACH, t->pid, 0, 0);
	}
	if (rc != 0)
		return errno;
	waitpid(t->pid, NULL, __WALL);
	for (fd = 0; how != POKE && fd < 7; fd++) {
		value = ptrace(PTRACE_PEEKDATA, t->pid, t->memory + fd * 8, 0);
		memcpy(t->got + fd * 8, &value, 8);
	}
	memcpy(&value, word, 8);
	rc = how == POKE ? ptrace(PTRACE_POKEDATA, t->pid, t->memory, value) : 0;
	ptrace(PTRACE_DETACH, t->pid, 0, 0);
	return result(rc);
}

static int names(struct target *t, int how)
{
	char path[600];
	int fd;

	switch (how) {
	case FD_OPEN:
		snprintf(path, sizeof path, "/proc/%d/fd/%d", t->pid, t->fd);
		break;
	case ROOT_DIR:
		snprintf(path, sizeof path, "/proc/%d/root%s", t->pid, t->read);
		break;
	case CWD_DIR: /* it was started in the stage */
		snprintf(path, sizeof path, "/proc/%d/cwd/%s", t->pid,
			t->denied ? "w/secret" : "../../../w/open");
		if (!t->denied)
			snprintf(path, sizeof path, "/proc/%d/cwd/../../open", t->pid);
		snprintf(path + strlen(path), 200, "/%s/key", t->name);
		break;
	case ENVIRON:
		snprintf(path, sizeof path, "/proc/%d/environ", t->pid);
		break;
	default:
		fd = syscall(SYS_pidfd_open, t->pid, 0);
		if (fd < 0)
			return errno;
		fd = syscall(438, fd, t->fd, 0);
		if (fd >= 0)
			lseek(fd, 0, SEEK_SET);
		return take(t, fd);
	}
	return take_path(t, path);
}

/* The signal comes with what is written, whoever reads. */
static int by_owner(pid_t pid, int how, const int pipes[2])
{
	struct f_owner_ex owner = {F_OWNER_PID, pid};
	int rc = how == SETOWN_EX ? fcntl(pipes[0], F_SETOWN_EX, &owner)
		 : how == FIOSET  ? ioctl(pipes[0], FIOSETOWN, &pid)
				  : fcntl(pipes[0], F_SETOWN, pid);

	if (rc < 0 || fcntl(pipes[0], F_SETSIG, SIGUSR1) < 0 ||
		fcntl(pipes[0], F_SETFL, O_ASYNC) < 0)
		return errno;
	return result(write(pipes[1], "x", 1) - 1);
}

static int signals(struct target *t, int how)
{
	siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
	struct rlimit limit = {0, 0};
	int pipes[2], fd;

	switch (how) {
	case KILL:
		return result(kill(t->pid, SIGUSR1));
	case TGKILL:
		return result(syscall(SYS_tgkill, t->pid, t->pid, SIGUSR1));
	case TKILL:
		return result(syscall(SYS_tkill, t->pid, SIGUSR1));
	case QUEUE:
		return result(syscall(SYS_rt_sigqueueinfo, t->pid, SIGUSR1, &info));
	case TGQUEUE:
		return result(
			syscall(SYS_rt_tgsigqueueinfo, t->pid, t->pid, SIGUSR1, &info));
	case PIDFD:
		fd = syscall(SYS_pidfd_open, t->pid, 0);
		return result(
			fd < 0 ? -1
			       : syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0));
	case STOP:
		return result(kill(t->pid, SIGTERM));
	case KILL_GROUP: /* the process outside leads a group */
		if (!t->denied)
			setpgid(t->pid, t->pid);
		return result(kill(-t->pid, SIGUSR1));
	case LIMIT: /* from now on it cannot write to a file */
		return result(prlimit(t->pid, RLIMIT_FSIZE, &limit, NULL));
	case FOLDER: { /* which it takes as well */
		char path[32];

		snprintf(path, sizeof path, "/proc/%d", t->pid);
		fd = open(path, O_RDONLY | O_DIRECTORY);
		return result(
			fd < 0 ? -1
			       : syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0));
	}
	default: /* the kernel sends it for us */
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pipes) < 0)
			return errno;
		return by_owner(t->pid, how, pipes);
	}
}

/* Only the process that stage.py made: behind a sandbox the number may be someone
 * else's.
 */
static int outside(struct target *t, int how)
{
	char name[32];
	int parent = parent_of(t->pid, name);

	if (t->denied && parent >= 0 && strcmp(name, "esc-victim") != 0)
		return ESRCH;
	if (how <= SEIZE && how != FD_OPEN)
		return memory(t, how);
	return how >= KILL ? signals(t, how) : names(t, how);
}

#define AGENTWATCH(which, how) ((which) << 8 | (how))

static int inside(struct target *t, int arg)
{
	int how = arg & 255, rc;

	if (t->denied) {
		t->pid = supervisor(arg >> 8);
		t->memory = 0x1000; /* any that faults is refused later than we want */
		t->fd = 0;
		if (t->pid == 0)
			return NOT_HERE;
	}
	if (how == MEM_READ || how == READV || how == PEEK || how == WRITEV) {
		rc = memory(t, how);
		/* it got as far as the address */
		return t->denied && (rc == EFAULT || rc == EIO) ? 0 : rc;
	}
	if (how >= KILL)
		return signals(t, how);
	rc = names(t, how);
	/* a descriptor was had, and there was nothing in it */
	return t->denied && rc == ENODATA ? 0 : rc;
}

static int everyone(struct target *t, int arg)
{
	(void)t;
	(void)arg;
	signal(SIGTERM, SIG_IGN);
	return result(kill(-1, SIGTERM));
}

const struct attempt process_table[] = {
	{"vm_read", "p", "process_vm_readv of a process outside", outside, READV},
	{"vm_write", "p", "process_vm_writev", outside, WRITEV},
	{"mem_read", "p", "/proc/PID/mem, read", outside, MEM_READ},
	{"mem_write", "p", "/proc/PID/mem, written", outside, MEM_WRITE},
	{"ptrace_peek", "p", "ptrace: attach and read", outside, PEEK},
	{"ptrace_poke", "p", "ptrace: attach and write", outside, POKE},
	{"ptrace_seize", "p", "ptrace: seize and read", outside, SEIZE},
	{"proc_fd", "p", "/proc/PID/fd/N, opened", outside, FD_OPEN},
	{"pidfd_getfd", "p", "pidfd_getfd", outside, GETFD},
	{"proc_other_root", "rp", "/proc/PID/root of a process outside", outside,
		ROOT_DIR},
	{"proc_other_cwd", "rp", "/proc/PID/cwd of a process outside", outside,
		CWD_DIR},
	{"proc_environ", "p", "/proc/PID/environ of a process outside", outside,
		ENVIRON},
	{"kill", "p", "kill", outside, KILL},
	{"kill_term", "p", "kill, SIGTERM", outside, STOP},
	{"kill_group", "p", "kill of its process group", outside, KILL_GROUP},
	{"tgkill", "p", "tgkill", outside, TGKILL},
	{"tkill", "p", "tkill", outside, TKILL},
	{"sigqueue", "p", "rt_sigqueueinfo", outside, QUEUE},
	{"tgsigqueue", "p", "rt_tgsigqueueinfo", outside, TGQUEUE},
	{"pidfd_signal", "p", "pidfd_send_signal", outside, PIDFD},
	{"pidfd_folder", "p", "pidfd_send_signal by an open /proc/PID", outside,
		FOLDER},
	{"fcntl_setown_ex", "p", "F_SETOWN_EX: the kernel sends the signal", outside,
		SETOWN_EX},
	{"ioctl_fiosetown", "p", "FIOSETOWN: the kernel sends the signal", outside,
		FIOSET},
	{"fcntl_setown", "p", "F_SETOWN: the kernel sends the signal", outside, SETOWN},
	{"prlimit", "p", "prlimit: it can write no file any more", outside, LIMIT},
	{"kill_all", "p1n", "kill(-1)", everyone, 0},
	{"service_kill", "s1n", "kill the supervisor", inside,
		AGENTWATCH(SERVICE, STOP)},
	{"service_pidfd", "s1n", "the same by pidfd_send_signal", inside,
		AGENTWATCH(SERVICE, PIDFD)},
	{"service_folder", "s1n", "the same by an open /proc/PID", inside,
		AGENTWATCH(SERVICE, FOLDER)},
	{"service_owner", "s1n", "F_SETOWN: the kernel signals the supervisor", inside,
		AGENTWATCH(SERVICE, SETOWN)},
	{"service_limit", "s1n", "prlimit of the supervisor", inside,
		AGENTWATCH(SERVICE, LIMIT)},
	{"front_kill", "s1n", "kill the front", inside, AGENTWATCH(FRONT, STOP)},
	{"helper_kill", "s1n", "kill a helper of the supervisor", inside,
		AGENTWATCH(HELPER, STOP)},
	{"service_mem", "s", "/proc/PID/mem of the supervisor", inside,
		AGENTWATCH(SERVICE, MEM_READ)},
	{"service_vm", "s", "process_vm_readv of the supervisor", inside,
		AGENTWATCH(SERVICE, READV)},
	{"service_ptrace", "s1n", "ptrace of the supervisor", inside,
		AGENTWATCH(SERVICE, PEEK)},
	{"service_getfd", "s", "pidfd_getfd of the supervisor", inside,
		AGENTWATCH(SERVICE, GETFD)},
	{"service_fd", "s", "/proc/PID/fd of the supervisor", inside,
		AGENTWATCH(SERVICE, FD_OPEN)},
	{"front_mem", "s", "/proc/PID/mem of the front", inside,
		AGENTWATCH(FRONT, MEM_READ)},
	{"front_getfd", "s", "pidfd_getfd of the front", inside,
		AGENTWATCH(FRONT, GETFD)},
	{"helper_mem", "s", "/proc/PID/mem of a helper", inside,
		AGENTWATCH(HELPER, MEM_READ)},
	{"helper_getfd", "s", "pidfd_getfd of a helper", inside,
		AGENTWATCH(HELPER, GETFD)},
	{0},
};
