/* SPDX-License-Identifier: Apache-2.0 */
/* listens.h - is there anybody inside who listens at an address? */
#ifndef AW_SUPERVISOR_NET_LISTENS_H
#define AW_SUPERVISOR_NET_LISTENS_H

#include "supervisor/audit/address.h"
#include "supervisor/net/inner.h"

/*
 * The kernel says it (sock_diag(7)), for TCP and UDP; where it cannot, and for other
 * protocols, true.  Any thread may ask.
 */
bool aw_inner_listens(
	struct aw_inner *inner, int protocol, const union aw_any_address *at);

#endif
