/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - the ioctl(2) requests that mode enforce looks at.
 *
 * Typing into a terminal and line disciplines, flags of an inode, who is sent the
 * signals of a descriptor, and user fault descriptors, by which a program could make us
 * wait for itself.  Then what changes a file or directory by a descriptor that was
 * opened for reading alone: the generation of an inode, fs-verity, subvolumes.
 */
#ifndef AW_SUPERVISOR_LINUX_CALLS_REQUEST_H
#define AW_SUPERVISOR_LINUX_CALLS_REQUEST_H

#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/sockios.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "policy/array.h"

#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00) /* Linux 6.1: of /dev/userfaultfd */
#endif

/* ext4.h: from before it was common to all file systems */
#define AW_EXT4_IOC_SETVERSION_OLD _IOW('f', 4, long)

static const uint32_t aw_watched_ioctls[] = {TIOCSTI, TIOCLINUX, TIOCSETD,
	FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION,
	AW_EXT4_IOC_SETVERSION_OLD, FS_IOC_ENABLE_VERITY, FIOASYNC, FIOSETOWN,
	SIOCSPGRP, USERFAULTFD_IOC_NEW, BTRFS_IOC_SNAP_CREATE, BTRFS_IOC_SNAP_CREATE_V2,
	BTRFS_IOC_SUBVOL_CREATE, BTRFS_IOC_SUBVOL_CREATE_V2, BTRFS_IOC_SNAP_DESTROY,
	BTRFS_IOC_SNAP_DESTROY_V2, BTRFS_IOC_SUBVOL_SETFLAGS, BTRFS_IOC_DEFAULT_SUBVOL};

enum { AW_WATCHED_IOCTLS = ARRAY_SIZE(aw_watched_ioctls) };

#endif
