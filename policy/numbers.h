/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - system call numbers that this architecture or these headers do not have.
 *
 * Calls below 424 that are missing are -1; for newer ones see numbers_common.h.
 */
#ifndef AW_POLICY_NUMBERS_H
#define AW_POLICY_NUMBERS_H

#if __has_include(<asm/unistd.h>)
#include <asm/unistd.h>
#define AW_NUMBER(name) __NR_##name
#else /* not Linux: no call has a number */
#define AW_NUMBER(name) -1
/* bits that no open has there */
#define O_PATH (1ull << 40)
#define O_TMPFILE (1ull << 41)
#endif

#include "policy/numbers_common.h"

#ifndef __NR_open
#define __NR_open -1
#endif
#ifndef __NR_creat
#define __NR_creat -1
#endif
#ifndef __NR_unlink
#define __NR_unlink -1
#endif
#ifndef __NR_rmdir
#define __NR_rmdir -1
#endif
#ifndef __NR_rename
#define __NR_rename -1
#endif
#ifndef __NR_renameat
#define __NR_renameat -1
#endif
#ifndef __NR_link
#define __NR_link -1
#endif
#ifndef __NR_symlink
#define __NR_symlink -1
#endif
#ifndef __NR_mkdir
#define __NR_mkdir -1
#endif
#ifndef __NR_mknod
#define __NR_mknod -1
#endif
#ifndef __NR_chmod
#define __NR_chmod -1
#endif
#ifndef __NR_chown
#define __NR_chown -1
#endif
#ifndef __NR_lchown
#define __NR_lchown -1
#endif
#ifndef __NR_utime
#define __NR_utime -1
#endif
#ifndef __NR_utimes
#define __NR_utimes -1
#endif
#ifndef __NR_futimesat
#define __NR_futimesat -1
#endif
#ifndef __NR_stat
#define __NR_stat -1
#endif
#ifndef __NR_lstat
#define __NR_lstat -1
#endif
#ifndef __NR_access
#define __NR_access -1
#endif
#ifndef __NR_readlink
#define __NR_readlink -1
#endif
#ifndef __NR_newfstatat
#define __NR_newfstatat -1
#endif
#ifndef __NR_io_uring_setup
#define __NR_io_uring_setup -1
#endif
#ifndef __NR_seccomp
#define __NR_seccomp -1
#endif
#ifndef __NR_statx
#define __NR_statx -1
#endif
#ifndef __NR_execveat
#define __NR_execveat -1
#endif
#ifndef __NR_renameat2
#define __NR_renameat2 -1
#endif
#ifndef __NR_sendmmsg
#define __NR_sendmmsg -1
#endif
#ifndef __NR_kexec_load
#define __NR_kexec_load -1
#endif
#ifndef __NR_kexec_file_load
#define __NR_kexec_file_load -1
#endif
#ifndef __NR_iopl
#define __NR_iopl -1
#endif
#ifndef __NR_uselib
#define __NR_uselib -1
#endif
#ifndef __NR_ioperm
#define __NR_ioperm -1
#endif
#ifndef __NR_fanotify_init
#define __NR_fanotify_init -1
#endif
#ifndef __NR_fanotify_mark
#define __NR_fanotify_mark -1
#endif
#ifndef __NR_userfaultfd
#define __NR_userfaultfd -1
#endif
#ifndef __NR_bpf
#define __NR_bpf -1
#endif
#ifndef __NR_tkill
#define __NR_tkill -1
#endif
#ifndef __NR_process_vm_readv
#define __NR_process_vm_readv -1
#endif
#ifndef __NR_process_vm_writev
#define __NR_process_vm_writev -1
#endif
#ifndef __NR_rt_tgsigqueueinfo
#define __NR_rt_tgsigqueueinfo -1
#endif
#ifndef __NR_finit_module
#define __NR_finit_module -1
#endif
#ifndef __NR_perf_event_open
#define __NR_perf_event_open -1
#endif
#ifndef __NR_umount2
#define __NR_umount2 -1
#endif

#endif
