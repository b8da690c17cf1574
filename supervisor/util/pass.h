/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.h - words between our own processes and threads, with descriptors beside them:
 * unix(7), SCM_RIGHTS.
 *
 * Both functions keep to system calls alone, so that a child may use them that was
 * forked from several threads.
 */
#ifndef AW_SUPERVISOR_UTIL_PASS_H
#define AW_SUPERVISOR_UTIL_PASS_H

#include <stddef.h>
#include <sys/types.h>

enum { AW_PASS_MAX = 3 };

/*
 * Send size bytes and count descriptors (AW_PASS_MAX at most), which stay the
 * caller's; flags as of sendmsg(2), without SIGPIPE.  0 or an errno.
 */
int aw_pass(int socket, const void *words, size_t size, const int *fds, size_t count,
	int flags);

/*
 * Wait for a message of up to size bytes: its length, 0 at the end, -1 with errno; a
 * signal does not end the wait.  fds has room for AW_PASS_MAX: what came along is
 * owned by the caller and closed on exec, the rest is -1.
 */
ssize_t aw_pass_take(int socket, void *words, size_t size, int fds[AW_PASS_MAX]);

#endif
