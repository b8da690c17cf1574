/* SPDX-License-Identifier: Apache-2.0 */
/* listens.h - is there anybody inside, or here, who listens at an address? */
#ifndef AW_SUPERVISOR_LINUX_NETNS_LISTENS_H
#define AW_SUPERVISOR_LINUX_NETNS_LISTENS_H

#include <sys/types.h>

#include "supervisor/audit/address.h"
#include "supervisor/linux/netns/netns.h"

/*
 * The kernel says it (sock_diag(7)), for TCP and UDP; where it cannot, and for other
 * protocols, true.  Any thread may ask.
 */
bool aw_netns_listens(
	struct aw_netns *netns, int protocol, const union aw_any_address *at);

/*
 * The same of the network that we are in, with the socket's inode, or 0 where the
 * kernel does not say.
 */
bool aw_here_listens(int protocol, const union aw_any_address *at, ino_t *ret_inode);

#endif
