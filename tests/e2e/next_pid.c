/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next_pid.c - a process outside of the session that gets a chosen number, and calls
 * at a number from inside.
 *
 * next_pid give NUMBER: fork until a child has this number, which says whether a signal
 * came; next_pid touch NUMBER: what each call at that process answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *what, long rc)
{
	printf("%s %s\n", what, rc < 0 ? strerrorname_np(errno) : "ok");
	fflush(stdout);
}

static void by_file(pid_t pid, const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, flags);
	tell(name, fd);
	if (fd >= 0)
		close(fd);
}

static int touch(pid_t pid)
{
	struct rlimit limit = {0, 0};
	char byte[8];
	struct iovec here = {byte, sizeof(byte)},
		     there = {(void *)&touch, sizeof(byte)};
	struct sched_param param = {.sched_priority = 0};
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), fd;

	tell("kill", kill(pid, SIGWINCH));
	tell("tkill", syscall(SYS_tkill, pid, SIGWINCH));
	tell("tgkill", syscall(SYS_tgkill, pid, pid, SIGWINCH));
	tell("prlimit", prlimit(pid, RLIMIT_CORE, &limit, NULL));
	tell("sched_setscheduler", sched_setscheduler(pid, SCHED_BATCH, &param));
	tell("setpriority", setpriority(PRIO_PROCESS, (id_t)pid, 5));
	tell("process_vm_readv", process_vm_readv(pid, &here, 1, &there, 1, 0));
	if (pidfd >= 0) {
		tell("pidfd_send_signal",
			syscall(SYS_pidfd_send_signal, pidfd, SIGWINCH, NULL, 0));
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, 1, 0);
		tell("pidfd_getfd", fd);
	}
	by_file(pid, "mem", O_RDWR);
	by_file(pid, "environ", O_RDONLY);
	by_file(pid, "maps", O_RDONLY);
	by_file(pid, "fd/0", O_RDONLY);
	by_file(pid, "root/etc/passwd", O_RDONLY);
	tell("ptrace", ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	return 0;
}

static void choose(pid_t number)
{
	FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "we");

	if (file) {
		fprintf(file, "%d", number - 1);
		fclose(file);
	}
}

static volatile sig_atomic_t hit;

static void on_signal(int number)
{
	hit = number;
}

/* One after the other gets the number, until one was hit. */
static int give(pid_t number, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		int status = 0;
		pid_t pid;

		choose(number);
		signal(SIGWINCH, on_signal); /* before it is there */
		pid = fork();
		if (pid < 0)
			continue;
		if (pid == 0) {
			usleep(300);
			_exit(hit && getpid() == number ? 1 : 0);
		}
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status)) {
			printf("hit in round %d\n", i);
			return 1;
		}
	}
	puts("never hit");
	return 0;
}

/* Signal the number all the time, without a pause. */
static int shoot(pid_t number, int seconds)
{
	alarm((unsigned)seconds);
	for (;;)
		kill(number, SIGWINCH);
	return 0;
}

int main(int argc, char **argv)
{
	pid_t pid = argc > 2 ? atoi(argv[2]) : 0;

	if (argc > 3 && strcmp(argv[1], "give") == 0)
		return give(pid, atoi(argv[3]));
	if (argc > 3 && strcmp(argv[1], "shoot") == 0)
		return shoot(pid, atoi(argv[3]));
	if (argc > 2 && strcmp(argv[1], "touch") == 0)
		return touch(pid);
	return 2;
}
