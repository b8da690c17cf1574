/* SPDX-License-Identifier: Apache-2.0 */
/* test_i386.c - our i386 numbers are those of the kernel's header. */
#include <stddef.h>

#include "policy/calls.h"
#include "tests/unit/tap.h"

#if defined(__x86_64__)
#include <asm/unistd_32.h>

#include "policy/numbers_common.h"

/* what i386 calls otherwise */
#define __NR_newfstatat __NR_fstatat64
/* what it does not have */
#define __NR_kexec_file_load -1

static const struct {
	const char *name;
	int row, nr;
} numbers[] = {
#define AW_SYS(name, effect, dir, path, dir2, path2, flags, last)                      \
	{#name, AW_SYS_##name, __NR_##name},
#include "policy/calls.def"
	{"chown32", AW_SYS_chown, __NR_chown32},
	{"lchown32", AW_SYS_lchown, __NR_lchown32},
	{"fchown32", AW_SYS_fchown, __NR_fchown32},
	{"truncate64", AW_SYS_truncate, __NR_truncate64},
	{"stat64", AW_SYS_stat, __NR_stat64},
	{"lstat64", AW_SYS_lstat, __NR_lstat64},
	{"statfs64", AW_SYS_statfs, __NR_statfs64},
	{"utimensat_time64", AW_SYS_utimensat, __NR_utimensat_time64},
	{"setuid32", AW_SYS_setuid, __NR_setuid32},
	{"setgid32", AW_SYS_setgid, __NR_setgid32},
	{"setreuid32", AW_SYS_setreuid, __NR_setreuid32},
	{"setregid32", AW_SYS_setregid, __NR_setregid32},
	{"setresuid32", AW_SYS_setresuid, __NR_setresuid32},
	{"setresgid32", AW_SYS_setresgid, __NR_setresgid32},
	{"setfsuid32", AW_SYS_setfsuid, __NR_setfsuid32},
	{"setfsgid32", AW_SYS_setfsgid, __NR_setfsgid32},
	{"setgroups32", AW_SYS_setgroups, __NR_setgroups32},
	{"fcntl64", AW_SYS_fcntl, __NR_fcntl64},
	{"stime", AW_SYS_settimeofday, __NR_stime},
	{"clock_settime64", AW_SYS_clock_settime, __NR_clock_settime64},
	{"umount", AW_SYS_umount2, __NR_umount},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		ok(aw_syscall_by_i386_number(numbers[i].nr) ==
				(numbers[i].nr < 0 ? -1 : numbers[i].row),
			"i386 knows %s as %d", numbers[i].name, numbers[i].nr);
	return done();
}
#else
int main(void)
{
	puts("1..0 # SKIP not x86_64");
	return 0;
}
#endif
