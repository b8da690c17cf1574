/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - what root can make the kernel do with files, and with the machine.
 *
 *   machine watch FOLDER     fanotify: what others open, as descriptors of ours
 *   machine account FILE     acct: the kernel writes to it
 *   machine adopt FILE       a child gives up root, and its orphan makes FILE
 *   machine helper WHAT PID  kill, trace, folder: a process of agentwatch
 *   machine faults           a user fault descriptor from its device
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int tell(const char *what, long rc)
{
	printf("%s: %s\n", what, rc < 0 ? strerrorname_np(errno) : "done");
	return rc < 0;
}

static int watch(const char *folder)
{
	struct fanotify_event_metadata event;
	int fd = fanotify_init(FAN_CLASS_NOTIF, O_RDWR);
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char text[64] = "";

	if (fd < 0)
		return tell("fanotify", fd);
	if (fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN | FAN_EVENT_ON_CHILD, AT_FDCWD,
		    folder) < 0)
		return tell("fanotify_mark", -1);
	puts("watching");
	fflush(stdout);
	if (poll(&ready, 1, 5000) != 1 || read(fd, &event, sizeof(event)) <= 0)
		return tell("fanotify", -1);
	if (read(event.fd, text, sizeof(text) - 1) > 0)
		printf("got %s", text);
	return 0;
}

static int account(const char *file)
{
	long rc = acct(file);

	if (fork() == 0)
		_exit(0);
	wait(NULL);
	if (rc == 0)
		acct(NULL);
	return tell("acct", rc);
}

/* Its orphan is ours, who have not given anything up. */
static int adopt(const char *file)
{
	int fd;

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (fork() == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(1);
		if (fork() == 0) {
			usleep(100000);
			fd = open(file, O_WRONLY | O_CREAT, 0644);
			_exit(tell("orphan", fd));
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static int helper(const char *what, pid_t pid)
{
	char path[64];

	if (strcmp(what, "kill") == 0)
		return tell(what, kill(pid, SIGKILL));
	if (strcmp(what, "trace") == 0)
		return tell(what, ptrace(PTRACE_SEIZE, pid, 0, 0));
	snprintf(path, sizeof(path), "/proc/%d%s%s", pid,
		strcmp(what, "folder") ? "/" : "", strcmp(what, "folder") ? what : "");
	return tell(what, open(path, O_RDONLY));
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "watch") == 0)
		return watch(argv[2]);
	if (argc == 3 && strcmp(argv[1], "account") == 0)
		return account(argv[2]);
	if (argc == 3 && strcmp(argv[1], "adopt") == 0)
		return adopt(argv[2]);
	if (argc == 4 && strcmp(argv[1], "helper") == 0)
		return helper(argv[2], atoi(argv[3]));
	if (argc == 2 && strcmp(argv[1], "faults") == 0) {
		int fd = open("/dev/userfaultfd", O_RDONLY);

		return fd < 0 ? tell("open", fd)
			      : tell("ioctl", ioctl(fd, _IO(0xAA, 0), O_CLOEXEC));
	}
	return 2;
}
