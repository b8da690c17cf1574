/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock_apply.h - the calls that put a process behind Landlock.
 *
 * Linked into agentwatch-enter too, so it uses system calls alone.  All give 0 (or a
 * descriptor), or -1 and errno.
 */
#ifndef AW_SUPERVISOR_LINUX_LANDLOCK_APPLY_H
#define AW_SUPERVISOR_LINUX_LANDLOCK_APPLY_H

#include <stdint.h>

/* The newest interface that the kernel has, from 1. */
int aw_landlock_version(void);

/* A new ruleset that handles these rights; the descriptor is the caller's. */
int aw_landlock_begin(uint64_t files, uint64_t network, uint64_t scopes);

/*
 * Grant access from path down, as far as it fits what stands there: the rights of
 * directories are left out for a file.  What is not there, is out of reach or reached
 * by a symbolic link alone gets no rule, and is no failure; nor does a directory get
 * reading that is not to be listed, too: that was meant for a file.
 */
int aw_landlock_add_path(int ruleset, const char *path, uint64_t access);
int aw_landlock_add_directory(int ruleset, int folder, uint64_t access); /* open */
int aw_landlock_add_port(int ruleset, uint64_t port, uint64_t access);

/*
 * Hold the calling thread and all its children to it, for good.  Without CAP_SYS_ADMIN
 * this sets no_new_privs.
 */
int aw_landlock_restrict(int ruleset);

#endif
