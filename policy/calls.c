/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - calls.def expanded into data. */
#include "policy/calls.h"

#include <fcntl.h>
#include <stddef.h>

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

_Static_assert(sizeof(starts) / sizeof(starts[0]) == AW_CALL_COUNT, "one name an id");

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

/* arch/x86/entry/syscalls/syscall_32.tbl */
static const short i386_numbers[AW_SYS_COUNT] = {
	[AW_SYS_open] = 5,
	[AW_SYS_creat] = 8,
	[AW_SYS_openat] = 295,
	[AW_SYS_openat2] = 437,
	[AW_SYS_open_by_handle_at] = 342,
	[AW_SYS_open_tree] = 428,
	[AW_SYS_unlink] = 10,
	[AW_SYS_unlinkat] = 301,
	[AW_SYS_rmdir] = 40,
	[AW_SYS_rename] = 38,
	[AW_SYS_renameat] = 302,
	[AW_SYS_renameat2] = 353,
	[AW_SYS_link] = 9,
	[AW_SYS_linkat] = 303,
	[AW_SYS_symlink] = 83,
	[AW_SYS_symlinkat] = 304,
	[AW_SYS_mkdir] = 39,
	[AW_SYS_mkdirat] = 296,
	[AW_SYS_mknod] = 14,
	[AW_SYS_mknodat] = 297,
	[AW_SYS_truncate] = 92,
	[AW_SYS_chmod] = 15,
	[AW_SYS_fchmod] = 94,
	[AW_SYS_fchmodat] = 306,
	[AW_SYS_fchmodat2] = 452,
	[AW_SYS_chown] = 182,
	[AW_SYS_lchown] = 16,
	[AW_SYS_fchown] = 95,
	[AW_SYS_fchownat] = 298,
	[AW_SYS_utime] = 30,
	[AW_SYS_utimes] = 271,
	[AW_SYS_futimesat] = 299,
	[AW_SYS_utimensat] = 320,
	[AW_SYS_setxattr] = 226,
	[AW_SYS_lsetxattr] = 227,
	[AW_SYS_fsetxattr] = 228,
	[AW_SYS_setxattrat] = 463,
	[AW_SYS_removexattr] = 235,
	[AW_SYS_lremovexattr] = 236,
	[AW_SYS_fremovexattr] = 237,
	[AW_SYS_removexattrat] = 466,
	[AW_SYS_chdir] = 12,
	[AW_SYS_fchdir] = 133,
	[AW_SYS_chroot] = 61,
	[AW_SYS_execve] = 11,
	[AW_SYS_execveat] = 358,
	[AW_SYS_connect] = 362,
	[AW_SYS_bind] = 361,
	[AW_SYS_sendto] = 369,
	[AW_SYS_sendmsg] = 370,
	[AW_SYS_sendmmsg] = 345,
	[AW_SYS_stat] = 106,
	[AW_SYS_lstat] = 107,
	[AW_SYS_newfstatat] = 300,
	[AW_SYS_statx] = 383,
	[AW_SYS_access] = 33,
	[AW_SYS_faccessat] = 307,
	[AW_SYS_faccessat2] = 439,
	[AW_SYS_readlink] = 85,
	[AW_SYS_readlinkat] = 305,
	[AW_SYS_statfs] = 99,
	[AW_SYS_getxattr] = 229,
	[AW_SYS_lgetxattr] = 230,
	[AW_SYS_listxattr] = 232,
	[AW_SYS_llistxattr] = 233,
	[AW_SYS_getxattrat] = 464,
	[AW_SYS_listxattrat] = 465,
	[AW_SYS_file_getattr] = 468,
	[AW_SYS_name_to_handle_at] = 341,
	[AW_SYS_inotify_add_watch] = 292,
	[AW_SYS_io_uring_setup] = 425,
	[AW_SYS_seccomp] = 354,
	[AW_SYS_prctl] = 172,
	[AW_SYS_unshare] = 310,
	[AW_SYS_setns] = 346,
	[AW_SYS_pivot_root] = 217,
	[AW_SYS_mount] = 21,
	[AW_SYS_move_mount] = 429,
	[AW_SYS_clone] = 120,
	[AW_SYS_socket] = 359,
	[AW_SYS_socketpair] = 360,
	[AW_SYS_listen] = 363,
	[AW_SYS_setsockopt] = 366,
	[AW_SYS_kill] = 37,
	[AW_SYS_tkill] = 238,
	[AW_SYS_tgkill] = 270,
	[AW_SYS_rt_sigqueueinfo] = 178,
	[AW_SYS_rt_tgsigqueueinfo] = 335,
	[AW_SYS_pidfd_send_signal] = 424,
	[AW_SYS_pidfd_getfd] = 438,
	[AW_SYS_ptrace] = 26,
	[AW_SYS_process_vm_readv] = 347,
	[AW_SYS_process_vm_writev] = 348,
	[AW_SYS_prlimit64] = 340,
	[AW_SYS_sched_setscheduler] = 156,
	[AW_SYS_sched_setparam] = 154,
	[AW_SYS_sched_setattr] = 351,
	[AW_SYS_sched_setaffinity] = 241,
	[AW_SYS_migrate_pages] = 294,
	[AW_SYS_move_pages] = 317,
	[AW_SYS_setpriority] = 97,
	[AW_SYS_ioprio_set] = 289,
	[AW_SYS_umask] = 60,
	[AW_SYS_setuid] = 213,
	[AW_SYS_setgid] = 214,
	[AW_SYS_setreuid] = 203,
	[AW_SYS_setregid] = 204,
	[AW_SYS_setresuid] = 208,
	[AW_SYS_setresgid] = 210,
	[AW_SYS_setfsuid] = 215,
	[AW_SYS_setfsgid] = 216,
	[AW_SYS_setgroups] = 206,
	[AW_SYS_capset] = 185,
	[AW_SYS_ioctl] = 54,
	[AW_SYS_clone3] = 435,
	[AW_SYS_umount2] = 52,
	[AW_SYS_fsopen] = 430,
	[AW_SYS_fsmount] = 432,
	[AW_SYS_fspick] = 433,
	[AW_SYS_mount_setattr] = 442,
	[AW_SYS_open_tree_attr] = 467,
	[AW_SYS_file_setattr] = 469,
	[AW_SYS_bpf] = 357,
	[AW_SYS_perf_event_open] = 336,
	[AW_SYS_userfaultfd] = 374,
	[AW_SYS_keyctl] = 288,
	[AW_SYS_add_key] = 286,
	[AW_SYS_request_key] = 287,
	[AW_SYS_init_module] = 128,
	[AW_SYS_finit_module] = 350,
	[AW_SYS_kexec_load] = 283,
};

/* Second i386 numbers of the same calls: 32-bit ids, 64-bit offsets and times. */
static const struct {
	short nr, row;
} i386_more[] = {
	{212, AW_SYS_chown},
	{198, AW_SYS_lchown},
	{207, AW_SYS_fchown},
	{193, AW_SYS_truncate},
	{195, AW_SYS_stat},
	{196, AW_SYS_lstat},
	{268, AW_SYS_statfs},
	{412, AW_SYS_utimensat},
	{23, AW_SYS_setuid},
	{46, AW_SYS_setgid},
	{70, AW_SYS_setreuid},
	{71, AW_SYS_setregid},
	{164, AW_SYS_setresuid},
	{170, AW_SYS_setresgid},
	{138, AW_SYS_setfsuid},
	{139, AW_SYS_setfsgid},
	{81, AW_SYS_setgroups},
	{22, AW_SYS_umount2},
};

int aw_syscall_by_i386_number(long nr)
{
	if (nr < 0)
		return -1;
	for (int i = 0; i < AW_SYS_COUNT; i++)
		if (i386_numbers[i] == nr)
			return i;
	for (size_t i = 0; i < sizeof(i386_more) / sizeof(i386_more[0]); i++)
		if (i386_more[i].nr == nr)
			return i386_more[i].row;
	return -1;
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
