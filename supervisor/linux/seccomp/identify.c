/* SPDX-License-Identifier: Apache-2.0 */
/* identify.c - which row of the table a notified call is, and its arguments. */
#include <errno.h>
#include <linux/audit.h>

#include "policy/array.h"
#include "supervisor/linux/calls/call.h"

#define X32_BIT 0x40000000
#define I386_SOCKETCALL 102

#if defined(__x86_64__)
/* 32-bit socket calls come as one number with their arguments in memory. */
static bool unpack_socketcall(struct aw_notified *call)
{
	static const struct {
		uint8_t number, row, count;
	} calls[] = {
		{1, AW_SYS_socket, 3},
		{2, AW_SYS_bind, 3},
		{3, AW_SYS_connect, 3},
		{4, AW_SYS_listen, 2},
		{8, AW_SYS_socketpair, 4},
		{11, AW_SYS_sendto, 6},
		{14, AW_SYS_setsockopt, 5},
		{16, AW_SYS_sendmsg, 3},
		{20, AW_SYS_sendmmsg, 4},
	};
	uint32_t args[6] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].number != call->args[0])
			continue;
		if (aw_syscalls[calls[i].row].effect >= AW_FX_ENFORCE_ONLY &&
			!call->watch->holds)
			return false;
		call->sys = calls[i].row;
		call->row = &aw_syscalls[call->sys];
		if (!aw_target_read(&call->target, call->args[1], args,
			    calls[i].count * sizeof(args[0]))) {
			aw_call_unreadable(call, errno);
			return false;
		}
		for (int j = 0; j < 6; j++)
			call->args[j] = args[j];
		call->by_memory = true;
		return true;
	}
	return false;
}
#endif

bool aw_call_identify(struct aw_notified *call, const struct seccomp_data *data)
{
	for (int i = 0; i < 6; i++)
		call->args[i] = data->args[i];
	call->nr = data->nr;
	call->by_memory = false;
	call->word = 8;
	call->sys = -1;
#if defined(__x86_64__)
	if (data->arch == AUDIT_ARCH_I386) {
		call->word = 4;
		for (int i = 0; i < 6; i++)
			call->args[i] = (uint32_t)data->args[i];
		if (data->nr != I386_SOCKETCALL)
			call->sys = aw_syscall_by_i386_number(data->nr);
		else if (!unpack_socketcall(call))
			return false;
	} else if (data->nr & X32_BIT) {
		aw_call_warn(call, "x32", "an x32 system call");
		return false;
	} else
#endif
		call->sys = aw_syscall_by_number(data->nr);
	if (call->sys < 0)
		return false;
	call->row = &aw_syscalls[call->sys];
	return true;
}
