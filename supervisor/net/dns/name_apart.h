/* SPDX-License-Identifier: Apache-2.0 */
/* name_apart.h - a network namespace of our own, for servers' addresses. */
#ifndef AW_SUPERVISOR_NET_DNS_NAME_APART_H
#define AW_SUPERVISOR_NET_DNS_NAME_APART_H

#include "supervisor/linux/netns/netns.h"

/* One with nobody in it but who makes its sockets. */
int aw_name_apart_start(struct aw_netns **ret, struct aw_error *err);

#endif
