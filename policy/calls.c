/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - calls.def expanded into data. */
#include "policy/calls.h"

#include <fcntl.h>
#include <stddef.h>

#include "policy/array.h"
#include "policy/numbers.h"

#define N AW_ARG_NONE
#define CWD AW_ARG_CWD
#define FD AW_ARG_FD

const struct aw_syscall aw_syscalls[] = {
#define AW_SYS(name, effect, dir, path, dir2, path2, flags, last)                      \
	[AW_SYS_##name] = {AW_FX_##effect, dir, path, dir2, path2, flags,              \
		AW_LAST_##last, AW_NUMBER(name)},
#include "policy/calls.def"
};

#undef N
#undef CWD
#undef FD

/*
 * All names in one block and where each starts: no pointers, so that the loader has
 * nothing to relocate in every process that the shim is loaded into.
 */
static const struct texts {
#define AW_SYS(name, effect, dir, path, dir2, path2, flags, last)                      \
	char sys_##name[sizeof(#name)];
#include "policy/calls.def"
#define AW_FN(ret, name, params, args, sys, sysargs) char fn_##name[sizeof(#name)];
#define AW_HAND(name, effect, sys) char fn_##name[sizeof(#name)];
#include "policy/calls.def"
} texts = {
#define AW_SYS(name, effect, dir, path, dir2, path2, flags, last) #name,
#include "policy/calls.def"
#define AW_FN(ret, name, params, args, sys, sysargs) #name,
#define AW_HAND(name, effect, sys) #name,
#include "policy/calls.def"
};

static const uint16_t starts[] = {
#define AW_SYS(name, effect, dir, path, dir2, path2, flags, last)                      \
	offsetof(struct texts, sys_##name),
#include "policy/calls.def"
#define AW_FN(ret, name, params, args, sys, sysargs) offsetof(struct texts, fn_##name),
#define AW_HAND(name, effect, sys) offsetof(struct texts, fn_##name),
#include "policy/calls.def"
};

_Static_assert(ARRAY_SIZE(starts) == AW_CALL_COUNT, "one name an id");

const char *aw_call_name(unsigned call)
{
	return call < AW_CALL_COUNT ? (const char *)&texts + starts[call] : "?";
}

int aw_syscall_by_number(long nr)
{
	for (int i = 0; i < AW_SYS_COUNT; i++)
		if (aw_syscalls[i].nr == nr && nr >= 0)
			return i;
	return -1;
}

/*
 * arch/x86/entry/syscalls/syscall_32.tbl, with the second numbers of a call for 32-bit
 * ids, 64-bit offsets and times.  A row is one more than it is, so that 0 is none.
 */
#define ROW(number, name) [number] = AW_SYS_##name + 1
static const uint8_t i386_rows[] = {
	ROW(5, open),
	ROW(8, creat),
	ROW(9, link),
	ROW(10, unlink),
	ROW(11, execve),
	ROW(12, chdir),
	ROW(14, mknod),
	ROW(15, chmod),
	ROW(16, lchown),
	ROW(21, mount),
	ROW(22, umount2),
	ROW(23, setuid),
	ROW(25, settimeofday),
	ROW(26, ptrace),
	ROW(30, utime),
	ROW(33, access),
	ROW(37, kill),
	ROW(38, rename),
	ROW(39, mkdir),
	ROW(40, rmdir),
	ROW(46, setgid),
	ROW(51, acct),
	ROW(52, umount2),
	ROW(54, ioctl),
	ROW(55, fcntl),
	ROW(60, umask),
	ROW(61, chroot),
	ROW(70, setreuid),
	ROW(71, setregid),
	ROW(74, sethostname),
	ROW(79, settimeofday),
	ROW(81, setgroups),
	ROW(83, symlink),
	ROW(85, readlink),
	ROW(86, uselib),
	ROW(87, swapon),
	ROW(88, reboot),
	ROW(92, truncate),
	ROW(94, fchmod),
	ROW(95, fchown),
	ROW(97, setpriority),
	ROW(99, statfs),
	ROW(101, ioperm),
	ROW(106, stat),
	ROW(107, lstat),
	ROW(110, iopl),
	ROW(115, swapoff),
	ROW(120, clone),
	ROW(121, setdomainname),
	ROW(128, init_module),
	ROW(129, delete_module),
	ROW(131, quotactl),
	ROW(133, fchdir),
	ROW(138, setfsuid),
	ROW(139, setfsgid),
	ROW(154, sched_setparam),
	ROW(156, sched_setscheduler),
	ROW(164, setresuid),
	ROW(170, setresgid),
	ROW(172, prctl),
	ROW(178, rt_sigqueueinfo),
	ROW(182, chown),
	ROW(185, capset),
	ROW(193, truncate),
	ROW(195, stat),
	ROW(196, lstat),
	ROW(198, lchown),
	ROW(203, setreuid),
	ROW(204, setregid),
	ROW(206, setgroups),
	ROW(207, fchown),
	ROW(208, setresuid),
	ROW(210, setresgid),
	ROW(212, chown),
	ROW(213, setuid),
	ROW(214, setgid),
	ROW(215, setfsuid),
	ROW(216, setfsgid),
	ROW(217, pivot_root),
	ROW(221, fcntl),
	ROW(226, setxattr),
	ROW(227, lsetxattr),
	ROW(228, fsetxattr),
	ROW(229, getxattr),
	ROW(230, lgetxattr),
	ROW(232, listxattr),
	ROW(233, llistxattr),
	ROW(235, removexattr),
	ROW(236, lremovexattr),
	ROW(237, fremovexattr),
	ROW(238, tkill),
	ROW(241, sched_setaffinity),
	ROW(264, clock_settime),
	ROW(268, statfs),
	ROW(270, tgkill),
	ROW(271, utimes),
	ROW(283, kexec_load),
	ROW(286, add_key),
	ROW(287, request_key),
	ROW(288, keyctl),
	ROW(289, ioprio_set),
	ROW(292, inotify_add_watch),
	ROW(294, migrate_pages),
	ROW(295, openat),
	ROW(296, mkdirat),
	ROW(297, mknodat),
	ROW(298, fchownat),
	ROW(299, futimesat),
	ROW(300, newfstatat),
	ROW(301, unlinkat),
	ROW(302, renameat),
	ROW(303, linkat),
	ROW(304, symlinkat),
	ROW(305, readlinkat),
	ROW(306, fchmodat),
	ROW(307, faccessat),
	ROW(310, unshare),
	ROW(317, move_pages),
	ROW(320, utimensat),
	ROW(335, rt_tgsigqueueinfo),
	ROW(336, perf_event_open),
	ROW(338, fanotify_init),
	ROW(339, fanotify_mark),
	ROW(340, prlimit64),
	ROW(341, name_to_handle_at),
	ROW(342, open_by_handle_at),
	ROW(345, sendmmsg),
	ROW(346, setns),
	ROW(347, process_vm_readv),
	ROW(348, process_vm_writev),
	ROW(350, finit_module),
	ROW(351, sched_setattr),
	ROW(353, renameat2),
	ROW(354, seccomp),
	ROW(357, bpf),
	ROW(358, execveat),
	ROW(359, socket),
	ROW(360, socketpair),
	ROW(361, bind),
	ROW(362, connect),
	ROW(363, listen),
	ROW(366, setsockopt),
	ROW(369, sendto),
	ROW(370, sendmsg),
	ROW(374, userfaultfd),
	ROW(383, statx),
	ROW(404, clock_settime),
	ROW(412, utimensat),
	ROW(424, pidfd_send_signal),
	ROW(425, io_uring_setup),
	ROW(428, open_tree),
	ROW(429, move_mount),
	ROW(430, fsopen),
	ROW(432, fsmount),
	ROW(433, fspick),
	ROW(435, clone3),
	ROW(437, openat2),
	ROW(438, pidfd_getfd),
	ROW(439, faccessat2),
	ROW(442, mount_setattr),
	ROW(443, quotactl_fd),
	ROW(444, landlock_create_ruleset),
	ROW(445, landlock_add_rule),
	ROW(446, landlock_restrict_self),
	ROW(452, fchmodat2),
	ROW(463, setxattrat),
	ROW(464, getxattrat),
	ROW(465, listxattrat),
	ROW(466, removexattrat),
	ROW(467, open_tree_attr),
	ROW(468, file_getattr),
	ROW(469, file_setattr),
};
#undef ROW

_Static_assert(AW_SYS_COUNT < UINT8_MAX, "a row fits");

int aw_syscall_by_i386_number(long nr)
{
	return nr < 0 || nr >= (long)sizeof(i386_rows) ? -1 : i386_rows[nr] - 1;
}

enum aw_action aw_action_of_open(uint64_t flags)
{
	if (flags & O_PATH)
		return AW_METADATA;
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		return AW_CREATE;
	if ((flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC)
		return AW_WRITE;
	return AW_READ;
}

enum aw_action aw_action_of_effect(enum aw_effect effect, uint64_t flags)
{
	static const unsigned char actions[] = {
		[AW_FX_CREAT] = AW_CREATE,
		[AW_FX_READ] = AW_READ,
		[AW_FX_WRITE] = AW_WRITE,
		[AW_FX_CREATE] = AW_CREATE,
		[AW_FX_DELETE] = AW_DELETE,
		[AW_FX_RENAME] = AW_RENAME,
		[AW_FX_LINK] = AW_CREATE,
		[AW_FX_SYMLINK] = AW_CREATE,
		[AW_FX_CHDIR] = AW_READ,
		[AW_FX_EXEC] = AW_EXEC,
		[AW_FX_CONNECT] = AW_CONNECT,
		[AW_FX_BIND] = AW_BIND,
		[AW_FX_SENDTO] = AW_SEND,
		[AW_FX_SENDMSG] = AW_SEND,
		[AW_FX_SENDMMSG] = AW_SEND,
		[AW_FX_LOOKUP] = AW_CONNECT,
		[AW_FX_META] = AW_METADATA,
		[AW_FX_LISTEN] = AW_BIND,
		[AW_FX_OPTION] = AW_BIND,
	};

	if (effect == AW_FX_OPEN || effect == AW_FX_HANDLE)
		return aw_action_of_open(flags);
	return effect < sizeof(actions) ? actions[effect] : AW_READ;
}
