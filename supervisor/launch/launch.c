/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - starting the command behind its filter. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/launch/launch_order.h"
#include "supervisor/linux/pidfd.h"
#include "supervisor/util/cleanup.h"

static size_t length_of(char *const *vector)
{
	size_t count = 0;

	while (vector && vector[count])
		count++;
	return count;
}

/*
 * The sandbox's program gets nothing of the command's: no shim, no secrets, and no
 * signal stops or ends it before the command has had it.
 */
static void become_wall(const struct aw_sandbox *sandbox, char **argv)
{
	char *env[] = {(char *)"PATH=/usr/bin:/bin:/usr/sbin:/sbin", NULL};
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t all;

	for (size_t i = 0; i < sandbox->fd_count; i++)
		fcntl(sandbox->fds[i], F_SETFD, 0);
	for (int n = 1; n < NSIG; n++)
		sigaction(n, &usual, NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	execve(argv[0], argv, env);
	_exit(AW_RUN_FAILED);
}

/* In the child: as if the caller had started it, but for the environment. */
static void become_enter(const struct aw_run *run, int fd, char **env)
{
	size_t walls = length_of(run->sandbox.prefix), count = length_of(run->command);
	char number[16];
	char **argv = calloc(walls + count + 4, sizeof(*argv)), **at = argv;

	if (!argv)
		_exit(AW_RUN_FAILED);
	snprintf(number, sizeof(number), "%d", fd);
	for (size_t i = 0; i < walls; i++)
		*at++ = run->sandbox.prefix[i];
	*at++ = walls ? run->enter : (char *)"agentwatch-enter";
	*at++ = number;
	if (!walls) { /* else it comes with the order: firejail takes 128 arguments */
		*at++ = run->program;
		memcpy(at, run->command, count * sizeof(*argv));
	}
	setpgid(0, run->front_group);
	setrlimit(RLIMIT_NOFILE, &run->files);
	aw_limits_join(&run->limiter);
	fcntl(fd, F_SETFD, 0);
	prctl(PR_SET_PDEATHSIG, 0);
	if (walls)
		become_wall(&run->sandbox, argv);
	if (run->ignores_ends)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &run->mask, NULL);
	execve(run->enter, argv, env);
	_exit(AW_RUN_FAILED);
}

/* What happened to the program that was started; it has said why on stderr itself. */
static int wall_failed(const struct aw_run *run, struct aw_error *err)
{
	if (!run->sandbox.prefix)
		return aw_fail(err, EPIPE,
			"%s ended before it had done anything; nothing was started, so "
			"install agentwatch again",
			run->enter);
	aw_runner_forget(run->sandbox.runner->name); /* the next start finds out why */
	return aw_fail(err, EPIPE,
		"%s could not build the sandbox (its own message stands above; the "
		"session's plan.txt has its command line); nothing was started",
		run->sandbox.runner->name);
}

/*
 * A report, and who sent it: the kernel knows, whatever pid namespace that is in.
 * *ret_fd becomes a descriptor that came along.
 */
static bool read_report(
	int fd, struct aw_enter_report *ret, pid_t *ret_pid, int *ret_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {ret, sizeof(*ret)};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control)};
	struct ucred who;
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&who, CMSG_DATA(c), sizeof(who));
			*ret_pid = who.pid;
		}
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	}
	return n == sizeof(*ret);
}

/* A sandbox's program that is killed may leave a child behind, which has the socket,
 * too.
 */
static bool will_report(const struct aw_launched *launched)
{
	AW_CLOSE int pidfd = aw_pidfd_open(launched->pid);
	struct pollfd fds[2] = {{.fd = launched->socket, .events = POLLIN},
		{.fd = pidfd, .events = POLLIN}}; /* one below 0 is left out */

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return fds[0].revents || poll(fds, 1, 0) > 0;
}

/*
 * The first report that is about more than the socket: behind a sandbox the talk goes
 * on over one that the sandbox's program has no copy of.
 */
static bool first_report(struct aw_launched *launched, struct aw_enter_report *ret)
{
	int fd = -1;

	if (!will_report(launched) ||
		!read_report(launched->socket, ret, &launched->command, &fd))
		return false;
	if (ret->step != AW_ENTER_SOCKET || fd < 0)
		return true;
	close(launched->socket);
	launched->socket = fd;
	return read_report(launched->socket, ret, &launched->command, &fd);
}

/* Take the listener out of agentwatch-enter: sending it would itself be a watched call. */
static int fetch_listener(pid_t pid, int number, struct aw_error *err)
{
	AW_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int fd;

	if (pidfd < 0)
		return aw_fail(err, errno,
			"taking over the seccomp listener (pidfd_open): %s; --engine "
			"preload does without",
			strerror(errno));
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (fd < 0)
		return aw_fail(err, errno,
			"taking over the seccomp listener (pidfd_getfd): %s; --engine "
			"preload does without",
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
	if (!first_report(ret, &report))
		return wall_failed(run, err);
	if (report.step == AW_ENTER_READY)
		return 0;
	if (report.step != AW_ENTER_LISTENER)
		return aw_launch_refused(run, &report, err);
	ret->listener = fetch_listener(ret->command, report.value, err);
	ret->no_new_privs = has_no_new_privs(ret->command);
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
	int pair[2], on = 1, failed;

	if (!env)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		free_vector(env);
		return aw_fail(err, errno, "starting the command: making a socket: %s",
			strerror(errno));
	}
	setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	*ret = (struct aw_launched){.socket = pair[0], .listener = -1};
	ret->pid = fork();
	if (ret->pid == 0) {
		close(pair[0]);
		become_enter(run, pair[1], env);
	}
	ret->command = ret->pid;
	close(pair[1]);
	failed = ret->pid < 0 ? aw_fail(err, errno, "starting the command: fork: %s",
					strerror(errno))
			      : aw_launch_order(run, env, ret->socket, err);
	free_vector(env);
	if (ret->pid < 0)
		return -1;
	if (failed || receive_listener(run, ret, err) < 0) {
		kill(ret->pid, SIGKILL);
		waitpid(ret->pid, NULL, 0);
		return -1;
	}
	return 0;
}

int aw_launch_go(const struct aw_run *run, struct aw_launched *launched,
	void (*wait)(void *ctx, int socket), void *ctx, struct aw_error *err)
{
	struct aw_enter_report report;
	int none = -1;
	pid_t sender;
	bool failed;

	if (write(launched->socket, "", 1) != 1)
		return aw_fail(err, errno, "starting the command: %s", strerror(errno)),
		       AW_RUN_FAILED;
	wait(ctx, launched->socket);
	/* end of file: it runs */
	failed = read_report(launched->socket, &report, &sender, &none);
	close(launched->socket);
	launched->socket = -1;
	if (!failed)
		return 0;
	if (report.step != AW_ENTER_NO_EXEC)
		return aw_launch_refused(run, &report, err), AW_RUN_FAILED;
	aw_fail(err, report.value, "cannot execute '%s': %s%s", run->command[0],
		strerror(report.value),
		report.value == EACCES && run->policy.mode == AW_ENFORCE
			? " (see agentwatch log --denied for the rule)"
			: "");
	return report.value == ENOENT ? AW_RUN_NOT_FOUND : AW_RUN_NOT_EXECUTABLE;
}
