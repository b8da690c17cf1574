/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - building the filter from calls.def. */
#include "supervisor/linux/seccomp/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/array.h"
#include "policy/calls.h"
#include "policy/numbers.h"
#include "policy/shared/page.h"
#include "supervisor/linux/calls/request.h"
#include "supervisor/linux/sockets/socket_option.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

#define NEW_VIEW                                                                       \
	(CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |    \
		CLONE_NEWUTS | CLONE_NEWCGROUP)
#define SOCKET_KIND 0xf /* linux/net.h: SOCK_TYPE_MASK */
#define X32_BIT 0x40000000u
#define FIELD(name) (uint32_t) offsetof(struct seccomp_data, name)
#define ARGUMENT(n) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (n)))

/* What the filter does with a watched number. */
enum treatment {
	ALWAYS,
	UNLESS_GATED,
	IF_ADDRESSED,
	IF_SECCOMP,
	IF_NEW_MOUNTS,
	IF_NEW_VIEW,
	IF_READ_GATED,
	IF_REQUEST,
	NOT_THERE,
	IF_UNCOMMON,
	IF_LEADS_ROUND,
	IF_OTHERS,
	IF_OWNER,
	IF_TO_WRITE,
	IF_TO_WRITE_AT,
	TREATMENTS
};

static void put(struct aw_filter *f, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	f->code[f->count++] = (struct sock_filter){code, jt, jf, k};
}

static void load(struct aw_filter *f, uint32_t offset)
{
	put(f, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void answer(struct aw_filter *f, uint32_t action)
{
	put(f, BPF_RET | BPF_K, action, 0, 0);
}

static enum treatment treatment_of(
	const struct aw_syscall *row, const struct aw_filter_params *params)
{
	switch ((enum aw_effect)row->effect) {
	case AW_FX_PRCTL:
		return IF_SECCOMP;
	case AW_FX_CLONE:
		return params->holds ? IF_NEW_VIEW : IF_NEW_MOUNTS;
	case AW_FX_IOCTL:
		return IF_REQUEST;
	case AW_FX_SOCKET:
		return IF_UNCOMMON;
	case AW_FX_OPTION:
		return IF_LEADS_ROUND;
	case AW_FX_PROCESS:
		return row->dir2 == 0 ? IF_OTHERS : ALWAYS;
	case AW_FX_OWNER:
		return IF_OWNER;
	case AW_FX_CLONE3:
		return NOT_THERE;
	case AW_FX_META:
		if (!params->metadata) /* access(2) in enforce */
			return row->dir < 0 ? IF_TO_WRITE : IF_TO_WRITE_AT;
		return params->gate ? UNLESS_GATED : ALWAYS;
	case AW_FX_SENDTO:
		return IF_ADDRESSED;
	case AW_FX_OPEN:
		/* flags of openat2 are in memory, where they can change */
		if (params->gate_reads && row->nr == __NR_openat)
			return IF_READ_GATED;
		return params->gate ? UNLESS_GATED : ALWAYS;
	case AW_FX_CREAT:
	case AW_FX_READ:
	case AW_FX_WRITE:
	case AW_FX_CREATE:
	case AW_FX_DELETE:
	case AW_FX_LINK:
	case AW_FX_SYMLINK:
	case AW_FX_SENDMSG:
	case AW_FX_SENDMMSG:
		return params->gate ? UNLESS_GATED : ALWAYS;
	default:
		return ALWAYS;
	}
}

/* access(2) and its kin; mode is in a register. */
static bool is_access(const struct aw_syscall *row)
{
	return row->nr >= 0 && (row->nr == aw_syscalls[AW_SYS_access].nr ||
				       row->nr == aw_syscalls[AW_SYS_faccessat].nr ||
				       row->nr == aw_syscalls[AW_SYS_faccessat2].nr);
}

static bool watched(const struct aw_syscall *row, const struct aw_filter_params *params)
{
	if (row->nr < 0)
		return false;
	if (row->effect == AW_FX_META)
		return params->metadata || (params->holds && is_access(row));
	if (row->effect == AW_FX_PROCESS)
		return params->holds && params->kin;
	return params->holds || row->effect < AW_FX_ENFORCE_ONLY;
}

/* The endings; each knows where it starts so that jumps can be patched. */
static void put_endings(struct aw_filter *f, unsigned start[TREATMENTS])
{
	start[UNLESS_GATED] = f->count;
	load(f, FIELD(instruction_pointer));
	put(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)AW_GATE_RETURN, 0, 3);
	load(f, FIELD(instruction_pointer) + 4);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(AW_GATE_RETURN >> 32), 0, 1);
	answer(f, SECCOMP_RET_ALLOW);
	answer(f, SECCOMP_RET_USER_NOTIF);

	start[IF_ADDRESSED] = f->count;
	load(f, ARGUMENT(4));
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	load(f, ARGUMENT(4) + 4);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	answer(f, SECCOMP_RET_ALLOW);
	answer(f, SECCOMP_RET_USER_NOTIF);

	start[IF_SECCOMP] = f->count;
	load(f, ARGUMENT(0));
	put(f, BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 2, 0);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, PR_SET_CHILD_SUBREAPER, 1, 0);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, PR_SET_MM, 0, 1);
	answer(f, SECCOMP_RET_USER_NOTIF);
	answer(f, SECCOMP_RET_ALLOW);

	start[IF_NEW_MOUNTS] = f->count;
	load(f, ARGUMENT(0));
	put(f, BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWNS, 0, 1);
	answer(f, SECCOMP_RET_USER_NOTIF);
	answer(f, SECCOMP_RET_ALLOW);
}

static const uint32_t owner_commands[] = {F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE};

/* Notified where an argument is one of these. */
static void put_one_of(
	struct aw_filter *f, unsigned argument, const uint32_t *values, unsigned count)
{
	load(f, ARGUMENT(argument));
	for (unsigned i = 0; i < count; i++)
		put(f, BPF_JMP | BPF_JEQ | BPF_K, values[i], (uint8_t)(count - i), 0);
	answer(f, SECCOMP_RET_ALLOW);
	answer(f, SECCOMP_RET_USER_NOTIF);
}

/* The endings of mode enforce. */
static void put_held_endings(struct aw_filter *f, unsigned start[TREATMENTS])
{
	/* O_PATH too: Landlock is not asked about what is only named */
	const uint32_t reading =
		O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | (O_TMPFILE & ~O_DIRECTORY);

	start[IF_NEW_VIEW] = f->count;
	load(f, ARGUMENT(0));
	put(f, BPF_JMP | BPF_JSET | BPF_K, NEW_VIEW, 0, 1);
	answer(f, SECCOMP_RET_USER_NOTIF);
	answer(f, SECCOMP_RET_ALLOW);

	start[IF_READ_GATED] = f->count;
	load(f, FIELD(instruction_pointer));
	put(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)AW_GATE_RETURN, 0, 5);
	load(f, FIELD(instruction_pointer) + 4);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(AW_GATE_RETURN >> 32), 0, 3);
	load(f, ARGUMENT(2));
	put(f, BPF_JMP | BPF_JSET | BPF_K, reading, 1, 0);
	answer(f, SECCOMP_RET_ALLOW);
	answer(f, SECCOMP_RET_USER_NOTIF);

	start[IF_REQUEST] = f->count;
	put_one_of(f, 1, aw_watched_ioctls, AW_WATCHED_IOCTLS);
	start[IF_OWNER] = f->count;
	load(f, ARGUMENT(1));
	put(f, BPF_JMP | BPF_JEQ | BPF_K, F_SETFL, 0, 4);
	load(f, ARGUMENT(2));
	put(f, BPF_JMP | BPF_JSET | BPF_K, O_ASYNC, 0, 1);
	answer(f, SECCOMP_RET_USER_NOTIF);
	answer(f, SECCOMP_RET_ALLOW);
	put_one_of(f, 1, owner_commands, ARRAY_SIZE(owner_commands));

	start[IF_OTHERS] = f->count;
	load(f, ARGUMENT(0));
	put(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	answer(f, SECCOMP_RET_USER_NOTIF);
	answer(f, SECCOMP_RET_ALLOW);

	start[IF_TO_WRITE_AT] = f->count;
	load(f, ARGUMENT(2));
	put(f, BPF_JMP | BPF_JA, 1, 0, 0);
	start[IF_TO_WRITE] = f->count;
	load(f, ARGUMENT(1));
	put(f, BPF_JMP | BPF_JSET | BPF_K, W_OK, 0, 1);
	answer(f, SECCOMP_RET_USER_NOTIF);
	answer(f, SECCOMP_RET_ALLOW);

	start[NOT_THERE] = f->count;
	answer(f, SECCOMP_RET_ERRNO | ENOSYS);
}

/* aw_socket_option_is_common(), in the filter's words */
static void put_uncommon(struct aw_filter *f)
{
	const uint8_t protocols = (uint8_t)aw_common_protocol_count;

	load(f, ARGUMENT(1));
	put(f, BPF_ALU | BPF_AND | BPF_K, SOCKET_KIND, 0, 0);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 1, 0);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 0, 4);
	load(f, ARGUMENT(0));
	put(f, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, (uint8_t)(protocols + 5), 0);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0);
	put(f, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0);
	answer(f, SECCOMP_RET_USER_NOTIF);
	load(f, ARGUMENT(2));
	for (uint8_t i = 0; i < protocols; i++)
		put(f, BPF_JMP | BPF_JEQ | BPF_K, aw_common_protocols[i],
			(uint8_t)(protocols - i), 0);
	answer(f, SECCOMP_RET_USER_NOTIF);
	answer(f, SECCOMP_RET_ALLOW);
}

/* Options of one level after the other; a level that is none of theirs is let go on
 * after as many comparisons as there are levels. */
static void put_options(struct aw_filter *f)
{
	size_t end;

	load(f, ARGUMENT(1));
	for (size_t i = 0; i < aw_socket_option_count; i = end) {
		for (end = i;
			end < aw_socket_option_count &&
			aw_socket_options[end].level == aw_socket_options[i].level;
			end++)
			;
		put(f, BPF_JMP | BPF_JEQ | BPF_K, aw_socket_options[i].level, 0,
			(uint8_t)(end - i + 3));
		load(f, ARGUMENT(2));
		for (size_t j = i; j < end; j++)
			put(f, BPF_JMP | BPF_JEQ | BPF_K, aw_socket_options[j].name,
				(uint8_t)(end - j), 0);
		answer(f, SECCOMP_RET_ALLOW);
		answer(f, SECCOMP_RET_USER_NOTIF);
	}
	answer(f, SECCOMP_RET_ALLOW);
}

static void put_socket_endings(struct aw_filter *f, unsigned start[TREATMENTS])
{
	start[IF_UNCOMMON] = f->count;
	put_uncommon(f);
	start[IF_LEADS_ROUND] = f->count;
	put_options(f);
}

static void put_rows(
	struct aw_filter *f, const struct aw_filter_params *params, bool always)
{
	for (int i = 0; i < AW_SYS_COUNT; i++) {
		enum treatment treatment = treatment_of(&aw_syscalls[i], params);

		if (watched(&aw_syscalls[i], params) && (treatment == ALWAYS) == always)
			put(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)aw_syscalls[i].nr,
				(uint8_t)treatment, 0);
	}
}

/* All from first on are notified, and nothing else is. */
static void put_always(struct aw_filter *f, unsigned first)
{
	for (unsigned i = first; i < f->count; i++)
		f->code[i].jt = (uint8_t)(f->count - i);
	answer(f, SECCOMP_RET_ALLOW);
	answer(f, SECCOMP_RET_USER_NOTIF);
}

static void put_native(struct aw_filter *f, const struct aw_filter_params *params)
{
	unsigned first = f->count, past, start[TREATMENTS];

	/*
	 * What mostly goes on comes first: the others cost a switch to us anyway.  Each
	 * half has its endings right behind it, since a conditional jump reaches 255
	 * instructions.
	 */
	put_rows(f, params, false);
	past = f->count;
	put(f, BPF_JMP | BPF_JA, 0, 0, 0); /* patched: to the other half */
	put_endings(f, start);
	put_held_endings(f, start);
	put_socket_endings(f, start);
	for (unsigned i = first; i < past; i++)
		f->code[i].jt = (uint8_t)(start[f->code[i].jt] - i - 1);
	f->code[past].k = f->count - past - 1;
	first = f->count;
	put_rows(f, params, true);
	put_always(f, first);
}

#if defined(__x86_64__)
/* 32-bit calls: the same rows under other numbers, and socketcall; never through a
 * gate. */
static void put_i386(struct aw_filter *f, const struct aw_filter_params *params)
{
	enum { SOCKETCALL = 102, IPC_LAST = 500 };
	unsigned first = f->count;

	for (long nr = 0; nr < IPC_LAST; nr++) {
		int row = aw_syscall_by_i386_number(nr);

		if (nr != SOCKETCALL &&
			(row < 0 || !watched(&aw_syscalls[row], params)))
			continue;
		if (row >= 0 && !params->holds &&
			(aw_syscalls[row].effect == AW_FX_PRCTL ||
				aw_syscalls[row].effect == AW_FX_CLONE))
			continue; /* PR_SET_SECCOMP from 32-bit code: the shim is not
				     there */
		put(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 0);
	}
	put_always(f, first);
}
#endif

/*
 * What a kernel has that is newer than the table of calls: nobody knows what it opens,
 * and programs have to live with a kernel that does not have it.  Since Linux 5.1 new
 * calls have one number on all machines (syscall(2)).
 */
static void put_newest(struct aw_filter *f, const struct aw_filter_params *params)
{
	if (!params->holds)
		return;
	put(f, BPF_JMP | BPF_JGE | BPF_K, AW_NEWEST_CALL + 1, 0, 1);
	answer(f, SECCOMP_RET_ERRNO | ENOSYS);
}

void aw_filter_build(const struct aw_filter_params *params, struct aw_filter *ret)
{
	*ret = (struct aw_filter){.count = 0};
	load(ret, FIELD(arch));
#if defined(__x86_64__)
	unsigned branch = ret->count;

	put(ret, BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0, 0);
	put(ret, BPF_JMP | BPF_JA, 0, 0, 0); /* patched: to the 32-bit part */
	load(ret, FIELD(nr));
	put(ret, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	answer(ret, SECCOMP_RET_USER_NOTIF);
	put_newest(ret, params);
	put_native(ret, params);
	ret->code[branch].jt = 1;
	ret->code[branch + 1].k = ret->count - (branch + 2);
	load(ret, FIELD(nr));
	put_newest(ret, params);
	put_i386(ret, params);
#else
	put(ret, BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
	answer(ret, SECCOMP_RET_USER_NOTIF); /* 32-bit ARM: always the supervisor's
						business */
	load(ret, FIELD(nr));
	put_newest(ret, params);
	put_native(ret, params);
#endif
}
