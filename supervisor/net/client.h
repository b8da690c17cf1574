/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - who is at the other end of a connection from this machine?
 *
 * The kernel says which socket it is (sock_diag(7)), /proc which processes of the
 * session have it.
 */
#ifndef AW_SUPERVISOR_NET_CLIENT_H
#define AW_SUPERVISOR_NET_CLIENT_H

#include <stdbool.h>

#include "supervisor/watch.h"

/*
 * fd: accepted.  The process that has the other end, and in its role the profiles of
 * all that have it.  False: no process of the session has, or none that can be looked
 * at.
 */
bool aw_client_find(struct aw_watch *watch, int fd, struct aw_who *ret);

#endif
