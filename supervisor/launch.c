/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - starting the command behind its filter. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/cleanup.h"
#include "supervisor/enter.h"
#include "supervisor/kernel/filter.h"
#include "supervisor/run.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* In the child: as if the caller had started it, but for the environment. */
static void become_enter(const struct aw_run *run, int fd, char **env)
{
	size_t count = 0;
	char number[16];
	char **argv;

	while (run->command[count])
		count++;
	argv = calloc(count + 4, sizeof(*argv));
	if (!argv)
		_exit(AW_RUN_FAILED);
	snprintf(number, sizeof(number), "%d", fd);
	argv[0] = (char *)"agentwatch-enter";
	argv[1] = number;
	argv[2] = run->program;
	memcpy(argv + 3, run->command, count * sizeof(*argv));
	setpgid(0, run->front_group);
	setrlimit(RLIMIT_NOFILE, &run->files);
	fcntl(fd, F_SETFD, 0);
	prctl(PR_SET_PDEATHSIG, 0);
	sigprocmask(SIG_SETMASK, &run->mask, NULL);
	execve(run->enter, argv, env);
	_exit(AW_RUN_FAILED);
}

static int send_order(const struct aw_run *run, int fd, struct aw_error *err)
{
	struct aw_enter_order order = {.count = 0};
	struct aw_filter filter;
	size_t size;

	if (run->engine != AW_PRELOAD) {
		const struct aw_page *page = run->shared.page;
		const struct aw_filter_wish wish = {
			.gate = atomic_load(&page->work) == AW_WORK_FAST,
			.metadata = page->hides,
			.holds = page->enforce,
			.kin = page->enforce,
		};

		aw_filter_build(&wish, &filter);
		order.count = filter.count;
		order.flags =
			run->hybrid_flags ? SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV : 0;
	}
	size = order.count * sizeof(filter.code[0]);
	if (write(fd, &order, sizeof(order)) != sizeof(order) ||
		(size && write(fd, filter.code, size) != (ssize_t)size))
		return aw_fail(
			err, errno, "talking to %s: %s", run->enter, strerror(errno));
	return 0;
}

static bool read_report(int fd, struct aw_enter_report *ret)
{
	ssize_t n;

	do
		n = read(fd, ret, sizeof(*ret));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*ret);
}

/* Take the listener out of agentwatch-enter: sending it would itself be a watched call.
 */
static int fetch_listener(pid_t pid, int number, struct aw_error *err)
{
	AW_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int fd;

	if (pidfd < 0)
		return aw_fail(err, errno, "pidfd_open: %s", strerror(errno));
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (fd < 0)
		return aw_fail(err, errno,
			"taking over the seccomp listener (pidfd_getfd): %s",
			strerror(errno));
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

static bool has_no_new_privs(pid_t pid)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = strncmp(line, "NoNewPrivs:\t1", 13) == 0;
	if (file)
		fclose(file);
	return found;
}

static int receive_listener(
	const struct aw_run *run, struct aw_launched *ret, struct aw_error *err)
{
	struct aw_enter_report report;

	ret->listener = -1;
	if (run->engine == AW_PRELOAD)
		return 0;
	if (!read_report(ret->socket, &report))
		return aw_fail(
			err, EPIPE, "%s ended before it had done anything", run->enter);
	if (report.step != AW_ENTER_LISTENER)
		return aw_fail(err, report.value,
			"installing the seccomp filter: %s; --engine preload does "
			"without",
			strerror(report.value));
	ret->listener = fetch_listener(ret->pid, report.value, err);
	ret->no_new_privs = has_no_new_privs(ret->pid);
	return ret->listener < 0 ? -1 : 0;
}

static void free_vector(char **vector)
{
	for (size_t i = 0; vector && vector[i]; i++)
		free(vector[i]);
	free(vector);
}

int aw_launch(const struct aw_run *run, struct aw_launched *ret, struct aw_error *err)
{
	char **env = aw_run_environment(run, err);
	int pair[2];

	if (!env)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		free_vector(env);
		return aw_fail(err, errno, "socketpair: %s", strerror(errno));
	}
	*ret = (struct aw_launched){.socket = pair[0], .listener = -1};
	ret->pid = fork();
	if (ret->pid == 0) {
		close(pair[0]);
		become_enter(run, pair[1], env);
	}
	free_vector(env);
	close(pair[1]);
	if (ret->pid < 0)
		return aw_fail(err, errno, "fork: %s", strerror(errno));
	if (send_order(run, ret->socket, err) < 0 ||
		receive_listener(run, ret, err) < 0) {
		kill(ret->pid, SIGKILL);
		waitpid(ret->pid, NULL, 0);
		return -1;
	}
	return 0;
}

int aw_launch_go(
	const struct aw_run *run, struct aw_launched *launched, struct aw_error *err)
{
	struct aw_enter_report report;
	bool failed;

	if (launched->listener >= 0 && write(launched->socket, "", 1) != 1)
		return aw_fail(err, errno, "starting the command: %s", strerror(errno)),
		       AW_RUN_FAILED;
	failed = read_report(launched->socket, &report); /* end of file: it runs */
	close(launched->socket);
	launched->socket = -1;
	if (!failed)
		return 0;
	aw_fail(err, report.value, "cannot execute '%s': %s%s", run->command[0],
		strerror(report.value),
		report.value == EACCES && run->policy.mode == AW_ENFORCE
			? " (see agentwatch log --denied for the rule)"
			: "");
	return report.value == ENOENT ? AW_RUN_NOT_FOUND : AW_RUN_NOT_EXECUTABLE;
}
