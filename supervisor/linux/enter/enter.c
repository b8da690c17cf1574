/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enter.c - agentwatch-enter: the last step before the command runs.
 *
 *   agentwatch-enter FD [PATH ARG0 [ARG...]]
 *
 * Reads an order (enter.h) from the socket FD and does as it says: lowers limits, goes
 * behind Landlock, takes the environment and signals that the command is to have when a
 * sandbox's program stands between, installs the seccomp filter, tells the supervisor
 * the number of the listener's descriptor (it fetches it with pidfd_getfd(2)), waits
 * for one byte, gives up capabilities and executes PATH.  When something fails, the
 * step and errno go back over the socket; when all succeeds, the socket closes by
 * itself. Small and static, since it runs inside sandboxes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/linux/enter/enter.h"
#include "supervisor/linux/landlock_apply.h"

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

_Noreturn static void fail(int fd, enum aw_enter_step step)
{
	tell(fd, step, errno);
	_exit(AW_ENTER_FAILED);
}

/* What does not come, or makes no sense, is no order. */
static void take(int fd, void *to, size_t len)
{
	errno = EPROTO;
	if (read_all(fd, to, len) < 0)
		fail(fd, AW_ENTER_NO_ORDER);
}

static void lower_limits(int fd, uint32_t count)
{
	while (count--) {
		struct aw_enter_limit limit;
		struct rlimit now;

		take(fd, &limit, sizeof(limit));
		if (getrlimit((unsigned)limit.resource, &now) < 0)
			fail(fd, AW_ENTER_NO_LIMIT);
		if (now.rlim_max > limit.most)
			now.rlim_max = limit.most;
		if (now.rlim_cur > limit.most)
			now.rlim_cur = limit.most;
		if (setrlimit((unsigned)limit.resource, &now) < 0)
			fail(fd, AW_ENTER_NO_LIMIT);
	}
}

static void grant_path(int fd, int ruleset)
{
	static char path[AW_ENTER_PATH_MAX];
	struct aw_enter_path rule;

	take(fd, &rule, sizeof(rule));
	errno = EPROTO;
	if (!rule.len || rule.len > sizeof(path))
		fail(fd, AW_ENTER_NO_ORDER);
	take(fd, path, rule.len);
	path[rule.len - 1] = '\0'; /* cppcheck-suppress arrayIndexOutOfBoundsCond */
	if (aw_landlock_add_path(ruleset, path, rule.access) < 0)
		fail(fd, AW_ENTER_NO_PATH);
}

static void grant_port(int fd, int ruleset)
{
	struct aw_enter_port rule;

	take(fd, &rule, sizeof(rule));
	if (aw_landlock_add_port(ruleset, rule.port, rule.access) < 0)
		fail(fd, AW_ENTER_NO_PORT);
}

static void go_behind_landlock(int fd, const struct aw_enter_order *order)
{
	int ruleset = aw_landlock_begin(order->files, order->network, order->scopes);

	if (ruleset < 0)
		fail(fd, AW_ENTER_NO_RULESET);
	for (uint32_t i = 0; i < order->paths; i++)
		grant_path(fd, ruleset);
	for (uint32_t i = 0; i < order->ports; i++)
		grant_port(fd, ruleset);
	if (aw_landlock_restrict(ruleset) < 0)
		fail(fd, AW_ENTER_NO_LANDLOCK);
	close(ruleset);
}

/* What the sandbox's program did not pass on. */
static char **take_strings(int fd, uint32_t size, uint32_t count)
{
	size_t pointers = ((size_t)count + 1) * sizeof(char *);
	char **strings = calloc(1, pointers + size + 1);
	char *at, *end;

	if (!strings) {
		fail(fd, AW_ENTER_NO_ORDER);
		return NULL;
	}
	at = (char *)strings + pointers;
	end = at + size;
	take(fd, at, size);
	for (uint32_t i = 0; i < count && at < end; i++) {
		strings[i] = at;
		at += strlen(at) + 1;
	}
	return strings;
}

/* The command: its path, then its argv. */
static char **take_state(int fd, struct aw_enter_state *ret)
{
	take(fd, ret, sizeof(*ret));
	environ = take_strings(fd, ret->env_size, ret->env_count);
	return take_strings(fd, ret->arg_size, ret->arg_count);
}

/* A socket that nobody else has: the supervisor is to see it close. */
static int own_socket(int fd)
{
	struct aw_enter_report report = {AW_ENTER_SOCKET, 0};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov = {&report, sizeof(report)};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control)};
	int pair[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
		setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return -1;
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.align), &pair[1], sizeof(int));
	if (sendmsg(fd, &msg, MSG_NOSIGNAL) != sizeof(report))
		return -1;
	close(pair[1]);
	close(fd);
	return pair[0];
}

/* The sandbox's program had all signals blocked and none ignored. */
static void restore_signals(const struct aw_enter_state *state)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (int n = 1; n <= 64; n++)
		if (state->ignored & (UINT64_C(1) << (n - 1)))
			sigaction(n, &ignore, NULL);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &state->blocked, NULL,
		sizeof(state->blocked));
}

/* One byte; without it the supervisor is gone. */
static void wait_for_go(int fd)
{
	char go;

	if (read_all(fd, &go, 1) < 0)
		_exit(AW_ENTER_FAILED);
}

static void take_filter(
	int fd, const struct aw_enter_order *order, struct sock_filter *ret)
{
	errno = EPROTO;
	if (order->count > AW_ENTER_FILTER_MAX)
		fail(fd, AW_ENTER_NO_ORDER);
	take(fd, ret, order->count * sizeof(*ret));
}

static void go_behind_filter(
	int fd, const struct aw_enter_order *order, struct sock_filter *code)
{
	int listener = install(order, code);

	if (listener < 0)
		fail(fd, AW_ENTER_NO_FILTER);
	tell(fd, AW_ENTER_LISTENER, listener);
	wait_for_go(fd);
	close(listener);
}

/* Go on over another socket, as long as that is not yet a watched call. */
static int change_socket(int fd)
{
	int own = own_socket(fd);

	if (own < 0)
		fail(fd, AW_ENTER_NO_SOCKET);
	return own;
}

int main(int argc, char **argv)
{
	static struct sock_filter code[AW_ENTER_FILTER_MAX];
	struct aw_enter_order order;
	struct aw_enter_state state;
	char **command = argv + 2;
	bool behind;
	int fd;

	if (argc < 2)
		return AW_ENTER_FAILED;
	fd = atoi(argv[1]);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	take(fd, &order, sizeof(order));
	lower_limits(fd, order.limits);
	if (order.files | order.network | order.scopes)
		go_behind_landlock(fd, &order);
	behind = order.what & AW_ENTER_BEHIND;
	if (behind)
		command = take_state(fd, &state);
	if (!command[0] || !command[1])
		fail(fd, AW_ENTER_NO_ORDER);
	take_filter(fd, &order, code);
	if (behind)
		fd = change_socket(fd);
	if (order.count) {
		go_behind_filter(fd, &order, code);
	} else {
		tell(fd, AW_ENTER_READY, 0);
		wait_for_go(fd);
	}
	if ((order.what & AW_ENTER_DROP) && aw_enter_drop(order.keep) < 0)
		fail(fd, AW_ENTER_NO_DROP);
	if (behind)
		restore_signals(&state);
	execv(command[0], command + 1);
	if (errno == ENOEXEC) { /* as execvp(3) does: a script without a first line */
		command[1] = command[0];
		command[0] = (char *)"sh";
		execv("/bin/sh", command);
	}
	fail(fd, AW_ENTER_NO_EXEC);
}
