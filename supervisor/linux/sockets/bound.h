/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - Unix sockets that the session has made itself.
 *
 * A program may talk to its own servers even where the policy names no socket.  A
 * server is known by its own socket, of which the kernel tells the inode that it was
 * bound to (sock_diag(7)), and it is asked again at each connect: what stands at the
 * name by now may be another's, and a number may be used once more when its owner is
 * gone.  Where the kernel does not tell, the policy alone decides.  Any thread may ask.
 * The oldest are forgotten when there are very many.
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_BOUND_H
#define AW_SUPERVISOR_LINUX_SOCKETS_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "supervisor/decide/watch.h"

/*
 * This socket was bound for the session: to a file in a directory, or an abstract name.
 * Such a name is all bytes of it, the NUL in front too; sockets of different types may
 * have the same one (unix(7)), and then only those of one's own type are reached by it.
 */
void aw_bound_add_file(const struct aw_watch *watch, int socket, int folder);
void aw_bound_add_name(
	const struct aw_watch *watch, int socket, const char *name, size_t len);

/* Is this file, or this abstract name for a socket of that type, that of a socket of
 * the session's? */
bool aw_bound_has_file(const struct aw_watch *watch, const struct stat *st);
bool aw_bound_has_name(
	const struct aw_watch *watch, const char *name, size_t len, int type);

/* Is this the inode of a socket that was bound for the session? */
bool aw_bound_has_socket(const struct aw_watch *watch, uint32_t inode);

#endif
