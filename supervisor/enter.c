/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enter.c - agentwatch-enter: the last step before the command runs.
 *
 *   agentwatch-enter FD PATH ARG0 [ARG...]
 *
 * Reads the seccomp filter from the socket FD, and behind a wall the environment and
 * signals that the command is to have; installs the filter, tells the supervisor the
 * number of the listener's descriptor (it fetches it with pidfd_getfd(2)), waits for
 * one byte and executes PATH.  When that fails, the errno goes back over the socket;
 * when it succeeds, the socket closes by itself.  Small and static, since it runs
 * inside walls.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/enter.h"

static int read_all(int fd, void *to, size_t len)
{
	char *at = to;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static void tell(int fd, int32_t step, int32_t value)
{
	struct aw_enter_report report = {step, value};

	while (write(fd, &report, sizeof(report)) < 0 && errno == EINTR)
		;
}

/* The listener's descriptor, or -1; without CAP_SYS_ADMIN only under no_new_privs. */
static int install(const struct aw_enter_order *order, struct sock_filter *code)
{
	struct sock_fprog program = {order->count, code};
	unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | order->flags;
	long fd;

	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (fd >= 0 || errno != EACCES)
		return (int)fd;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* What comes after the instructions when the command stands behind a wall. */
static int read_state(int fd, struct aw_enter_state *ret, char ***ret_env)
{
	char *bytes, *at;

	if (read_all(fd, ret, sizeof(*ret)) < 0)
		return -1;
	bytes = malloc(ret->env_size + 1);
	*ret_env = calloc(ret->env_count + 1, sizeof(**ret_env));
	if (!bytes || !*ret_env || read_all(fd, bytes, ret->env_size) < 0)
		return -1;
	at = bytes;
	for (uint32_t i = 0; i < ret->env_count && at < bytes + ret->env_size; i++) {
		(*ret_env)[i] = at;
		at += strlen(at) + 1;
	}
	return 0;
}

/* The wall's program had all signals blocked and none ignored. */
static void restore_signals(const struct aw_enter_state *state)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (int n = 1; n <= 64; n++)
		if (state->ignored & (UINT64_C(1) << (n - 1)))
			sigaction(n, &ignore, NULL);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &state->blocked, NULL,
		sizeof(state->blocked));
}

int main(int argc, char **argv)
{
	static struct sock_filter code[AW_ENTER_FILTER_MAX];
	struct aw_enter_order order;
	struct aw_enter_state state;
	char **env = environ;
	int fd, listener;
	char go;

	if (argc < 4)
		return AW_ENTER_FAILED;
	fd = atoi(argv[1]);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (read_all(fd, &order, sizeof(order)) < 0 ||
		order.count > AW_ENTER_FILTER_MAX ||
		read_all(fd, code, order.count * sizeof(code[0])) < 0 ||
		(order.behind_wall && read_state(fd, &state, &env) < 0))
		return AW_ENTER_FAILED;
	if (order.count) {
		listener = install(&order, code);
		if (listener < 0) {
			tell(fd, AW_ENTER_NO_FILTER, errno);
			return AW_ENTER_FAILED;
		}
		tell(fd, AW_ENTER_LISTENER, listener);
		if (read_all(fd, &go, 1) < 0)
			return AW_ENTER_FAILED;
		close(listener);
	} else if (order.behind_wall) {
		tell(fd, AW_ENTER_READY, 0);
		if (read_all(fd, &go, 1) < 0)
			return AW_ENTER_FAILED;
	}
	if (order.behind_wall)
		restore_signals(&state);
	environ = env;
	execv(argv[2], argv + 3);
	if (errno == ENOEXEC) { /* as execvp(3) does: a script without a first line */
		argv[1] = (char *)"sh";
		argv[3] = argv[2];
		memmove(argv + 2, argv + 3, (size_t)(argc - 2) * sizeof(*argv));
		execv("/bin/sh", argv + 1);
	}
	tell(fd, AW_ENTER_NO_EXEC, errno);
	return AW_ENTER_FAILED;
}
