/* SPDX-License-Identifier: Apache-2.0 */
/*
 * private.h - addresses that a name of the public must not lead to.
 *
 * Whoever owns a name may let it lead anywhere, also to a server at home that believes
 * its visitors (DNS rebinding).
 */
#ifndef AW_SUPERVISOR_NET_PRIVATE_H
#define AW_SUPERVISOR_NET_PRIVATE_H

#include <stdbool.h>

#include "policy/load.h"

/*
 * Private, loopback, link-local, shared, multicast and unspecified ones, and IPv4 ones
 * of these in IPv6.  bytes: IPv4 in its IPv6 clothing.
 */
bool aw_address_is_private(const unsigned char bytes[16]);

/* name: small letters, no dot at the end.  network: whose private_names are none. */
bool aw_name_is_public(const char *name, const struct aw_network *network);

#endif
