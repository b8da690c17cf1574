/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock_rights.h - what Landlock can grant, by name; the kernel's numbers.
 *
 * Not from <linux/landlock.h>: that of the build machine may be older than the kernel
 * the program runs on.
 */
#ifndef AW_SUPERVISOR_LINUX_LANDLOCK_RIGHTS_H
#define AW_SUPERVISOR_LINUX_LANDLOCK_RIGHTS_H

#include <stdint.h>

#define AW_LL_EXECUTE (UINT64_C(1) << 0)
#define AW_LL_WRITE_FILE (UINT64_C(1) << 1)
#define AW_LL_READ_FILE (UINT64_C(1) << 2)
#define AW_LL_READ_DIR (UINT64_C(1) << 3)
#define AW_LL_REMOVE_DIR (UINT64_C(1) << 4)
#define AW_LL_REMOVE_FILE (UINT64_C(1) << 5)
#define AW_LL_MAKE_CHAR (UINT64_C(1) << 6)
#define AW_LL_MAKE_DIR (UINT64_C(1) << 7)
#define AW_LL_MAKE_REG (UINT64_C(1) << 8)
#define AW_LL_MAKE_SOCK (UINT64_C(1) << 9)
#define AW_LL_MAKE_FIFO (UINT64_C(1) << 10)
#define AW_LL_MAKE_BLOCK (UINT64_C(1) << 11)
#define AW_LL_MAKE_SYM (UINT64_C(1) << 12)
#define AW_LL_REFER (UINT64_C(1) << 13)	    /* ABI 2 */
#define AW_LL_TRUNCATE (UINT64_C(1) << 14)  /* ABI 3 */
#define AW_LL_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */

#define AW_LL_BIND_TCP (UINT64_C(1) << 0) /* ABI 4 */
#define AW_LL_CONNECT_TCP (UINT64_C(1) << 1)

#define AW_LL_SCOPE_ABSTRACT (UINT64_C(1) << 0) /* ABI 6 */
#define AW_LL_SCOPE_SIGNAL (UINT64_C(1) << 1)

/* The rights that a rule on something other than a directory may have. */
#define AW_LL_OF_FILES                                                                 \
	(AW_LL_EXECUTE | AW_LL_WRITE_FILE | AW_LL_READ_FILE | AW_LL_TRUNCATE |         \
		AW_LL_IOCTL_DEV)
#define AW_LL_READS (AW_LL_EXECUTE | AW_LL_READ_FILE | AW_LL_READ_DIR)
#define AW_LL_MAKES                                                                    \
	(AW_LL_MAKE_CHAR | AW_LL_MAKE_DIR | AW_LL_MAKE_REG | AW_LL_MAKE_SOCK |         \
		AW_LL_MAKE_FIFO | AW_LL_MAKE_BLOCK | AW_LL_MAKE_SYM)
#define AW_LL_REMOVES (AW_LL_REMOVE_DIR | AW_LL_REMOVE_FILE)

#endif
