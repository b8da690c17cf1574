/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound.h - Unix sockets that the session has made itself.
 *
 * A program may talk to its own servers even where the policy names no socket.  A
 * socket file is known by its inode, an abstract one by its name.  Any thread may ask.
 * The oldest are forgotten when there are very many; then the policy alone decides.
 */
#ifndef AW_SUPERVISOR_KERNEL_BOUND_H
#define AW_SUPERVISOR_KERNEL_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

void aw_bound_add_file(const struct stat *st);
void aw_bound_add_name(const char *name, size_t len);
bool aw_bound_has_file(const struct stat *st);
bool aw_bound_has_name(const char *name, size_t len);

#endif
