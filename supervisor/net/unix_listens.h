/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unix_listens.h - does anybody have this socket file?
 *
 * A server that was killed leaves its file; who connects to that is refused by the
 * kernel with ECONNREFUSED and may take the name over.
 */
#ifndef AW_SUPERVISOR_NET_UNIX_LISTENS_H
#define AW_SUPERVISOR_NET_UNIX_LISTENS_H

#include <stdbool.h>
#include <sys/stat.h>

/* Of our own network namespace; true as well when it cannot be found out. */
bool aw_unix_has_owner(const struct stat *file);

#endif
