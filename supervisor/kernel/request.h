/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - the ioctl(2) requests that mode enforce looks at.
 *
 * Typing into a terminal, flags of an inode, who is sent the signals of a descriptor,
 * and user fault descriptors, by which a program could make us wait for itself.
 */
#ifndef AW_SUPERVISOR_KERNEL_REQUEST_H
#define AW_SUPERVISOR_KERNEL_REQUEST_H

#include <linux/fs.h>
#include <linux/sockios.h>
#include <stdint.h>
#include <sys/ioctl.h>

#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00) /* Linux 6.1: of /dev/userfaultfd */
#endif

enum { AW_WATCHED_IOCTLS = 7 };

static const uint32_t aw_watched_ioctls[AW_WATCHED_IOCTLS] = {TIOCSTI, TIOCLINUX,
	FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FIOSETOWN, SIOCSPGRP, USERFAULTFD_IOC_NEW};

#endif
