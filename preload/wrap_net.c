/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_net.c - sockets, names and the generic syscall().
 */
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "preload/environ.h"
#include "preload/gate.h"
#include "preload/linux/arch.h"
#include "preload/linux/symbol.h"

AW_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t len)
{
	const long a[6] = {fd, (long)address, len};
	int (*real)(int, const struct sockaddr *, socklen_t);
	struct aw_passage passage;
	int ret;

	if (!aw_enter(AW_FN_connect, AW_SYS_connect, a, &passage))
		return -1;
	*(void **)&real = aw_real(AW_FN_connect);
	ret = real(fd, address, len);
	aw_leave(&passage, ret == -1);
	return ret;
}

AW_EXPORT int bind(int fd, const struct sockaddr *address, socklen_t len)
{
	const long a[6] = {fd, (long)address, len};
	int (*real)(int, const struct sockaddr *, socklen_t);
	struct aw_passage passage;
	int ret;

	if (!aw_enter(AW_FN_bind, AW_SYS_bind, a, &passage))
		return -1;
	*(void **)&real = aw_real(AW_FN_bind);
	ret = real(fd, address, len);
	aw_leave(&passage, ret == -1);
	return ret;
}

AW_EXPORT ssize_t sendto(int fd, const void *data, size_t size, int flags,
	const struct sockaddr *address, socklen_t len)
{
	const long a[6] = {fd, (long)data, (long)size, flags, (long)address, len};
	ssize_t (*real)(
		int, const void *, size_t, int, const struct sockaddr *, socklen_t);
	struct aw_passage passage = {.denied = 0};
	ssize_t ret;

	if (address && !aw_enter(AW_FN_sendto, AW_SYS_sendto, a, &passage))
		return -1;
	*(void **)&real = aw_real(AW_FN_sendto);
	ret = real(fd, data, size, flags, address, len);
	aw_leave(&passage, ret == -1);
	return ret;
}

extern int pthread_setcanceltype(int, int *) __attribute__((weak));

/* A message without an address is nobody's business: through the gate, still
 * cancellable. */
static bool send_unaddressed(int nr, int fd, const struct msghdr *message,
	unsigned count, int flags, ssize_t *ret)
{
	_Atomic uint32_t *passing;
	struct aw_self *self;
	int type = 0;

	if (aw_work() != AW_WORK_FAST || aw_is_vfork_child() || !(self = aw_self()) ||
		atomic_load(&atomic_load(&self->ring)->plain) || !message ||
		!aw_readable(self, message) || message->msg_name)
		return false;
	if (pthread_setcanceltype)
		pthread_setcanceltype(1 /* PTHREAD_CANCEL_ASYNCHRONOUS */, &type);
	passing = aw_gate_enter();
	if (aw_work() != AW_WORK_FAST) /* given up meanwhile */
		*ret = aw_raw(nr, fd, message,
			nr == __NR_sendmsg ? (unsigned)flags : count, flags);
	else
		*ret = nr == __NR_sendmsg ? aw_gated(nr, fd, message, flags)
					  : aw_gated(nr, fd, message, count, flags);
	aw_gate_leave(passing);
	if (pthread_setcanceltype)
		pthread_setcanceltype(type, &type);
	*ret = aw_answer(*ret);
	return true;
}

AW_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	const long a[6] = {fd, (long)message, flags};
	ssize_t (*real)(int, const struct msghdr *, int);
	struct aw_passage passage;
	ssize_t ret;

	if (send_unaddressed(__NR_sendmsg, fd, message, 1, flags, &ret))
		return ret;
	if (!aw_enter(AW_FN_sendmsg, AW_SYS_sendmsg, a, &passage))
		return -1;
	*(void **)&real = aw_real(AW_FN_sendmsg);
	ret = real(fd, message, flags);
	aw_leave(&passage, ret == -1);
	return ret;
}

AW_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
	int (*real)(int, struct mmsghdr *, unsigned, int);
	struct aw_passage passage;

	/* message by message; what is refused ends the list, as an error of the
	 * kernel's does */
	for (unsigned i = 0; aw_work() == AW_WORK_PRELOAD && i < count; i++) {
		const long a[6] = {fd, (long)&messages[i].msg_hdr, flags};

		if (aw_enter(AW_FN_sendmmsg, AW_SYS_sendmsg, a, &passage))
			continue;
		if (i == 0)
			return -1;
		count = i;
	}
	*(void **)&real = aw_real(AW_FN_sendmmsg);
	return real(fd, messages, count, flags);
}

AW_EXPORT int getaddrinfo(const char *host, const char *service,
	const struct addrinfo *hints, struct addrinfo **result)
{
	int (*real)(const char *, const char *, const struct addrinfo *,
		struct addrinfo **);
	struct aw_passage passage;
	int ret;

	if (!aw_enter_lookup(AW_FN_getaddrinfo, host, service, &passage))
		return EAI_FAIL;
	*(void **)&real = aw_real(AW_FN_getaddrinfo);
	ret = real(host, service, hints, result);
	aw_leave_lookup(AW_FN_getaddrinfo, &passage, host, ret ? NULL : *result);
	return ret;
}

AW_EXPORT long syscall(long nr, ...)
{
	struct aw_child_env env = {.mapping = NULL};
	struct aw_passage passage = {.denied = 0};
	int row = aw_syscall_by_number(nr), which;
	va_list args;
	long a[6], ret;

	va_start(args, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (nr == __NR_mmap || nr == __NR_munmap || nr == __NR_mprotect)
		aw_session_make_room((const void *)a[0], (size_t)a[1]);
	if (row == AW_SYS_sendmmsg) /* has a vector, which is judged one by one */
		return sendmmsg(
			(int)a[0], (struct mmsghdr *)a[1], (unsigned)a[2], (int)a[3]);
	if (row == AW_SYS_execve || row == AW_SYS_execveat) {
		which = row == AW_SYS_execve ? 2 : 3;
		if (!aw_enter_exec(AW_FN_syscall, which == 2 ? -100 : (int)a[0],
			    (const char *)a[which - 2], which == 2 ? 0 : (int)a[4],
			    (char *const *)a[which - 1]))
			return -1;
		aw_child_env_make((char *const *)a[which], false, &env);
		a[which] = (long)env.vector;
	} else if (row >= 0 && !aw_enter(AW_FN_syscall, row, a, &passage)) {
		return -1;
	}
	ret = aw_answer(aw_raw6(nr, a[0], a[1], a[2], a[3], a[4], a[5]));
	aw_child_env_release(&env);
	aw_leave(&passage, ret == -1);
	if (row == AW_SYS_chdir || row == AW_SYS_fchdir || row == AW_SYS_chroot)
		aw_cwd_forget();
	return ret;
}

AW_SAME(__connect, connect);
