/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unix_listens.h - does anybody have this socket file?
 *
 * A server that was killed leaves its file; who connects to that is refused by the
 * kernel with ECONNREFUSED and may take the name over.
 */
#ifndef AW_SUPERVISOR_LINUX_NETNS_UNIX_LISTENS_H
#define AW_SUPERVISOR_LINUX_NETNS_UNIX_LISTENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Of our own network namespace; true as well when it cannot be found out. */
bool aw_unix_has_owner(const struct stat *file);

/* Told of a bound socket: its inode, and what of its name follows the directory's. */
typedef bool aw_unix_seen(void *arg, uint32_t inode, const char *rest, size_t len);

/*
 * Go over the sockets of our own network namespace that were bound to names below a
 * directory, until seen() says true; false as well when the kernel does not tell.  A
 * name is what the server wrote; one that does not begin with "/" is not among them.
 */
bool aw_unix_any_below(const char *dir, size_t len, aw_unix_seen *seen, void *arg);

#endif
