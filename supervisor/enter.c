/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enter.c - agentwatch-enter: the last step before the command runs.
 *
 *   agentwatch-enter FD PATH ARG0 [ARG...]
 *
 * Reads the seccomp filter from the socket FD, installs it, tells the supervisor the
 * number of the listener's descriptor (it fetches it with pidfd_getfd(2)), waits for
 * one byte and executes PATH.  When that fails, the errno goes back over the socket;
 * when it succeeds, the socket closes by itself.  Small and static, since it runs
 * inside walls.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
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

int main(int argc, char **argv)
{
	static struct sock_filter code[AW_ENTER_FILTER_MAX];
	struct aw_enter_order order;
	int fd, listener;
	char go;

	if (argc < 4)
		return AW_ENTER_FAILED;
	fd = atoi(argv[1]);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (read_all(fd, &order, sizeof(order)) < 0 ||
		order.count > AW_ENTER_FILTER_MAX ||
		read_all(fd, code, order.count * sizeof(code[0])) < 0)
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
	}
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
