/* SPDX-License-Identifier: Apache-2.0 */
/*
 * private.h - addresses that nobody outside may send us to, and names that nobody
 * outside has.
 *
 * A public name that leads to a private address is how a web page gets at what only its
 * visitor can reach (DNS rebinding).
 */
#ifndef AW_POLICY_PRIVATE_H
#define AW_POLICY_PRIVATE_H

#include <stdbool.h>

#include "policy/image/image.h"

/*
 * What kind of address it is ("loopback", "private", ...), NULL: a public one.  IPv4
 * within IPv6 (mapped, compatible, 6to4, NAT64) is what the IPv4 address is.
 */
const char *aw_private_kind(const struct aw_address *address);

/* 127.0.0.0/8 and ::1, also IPv4-mapped. */
bool aw_address_is_loopback(const struct aw_address *address);

/* All addresses of this machine: 0.0.0.0 and ::. */
bool aw_address_is_any(const struct aw_address *address);

/*
 * Can anybody at all have this plain name (supervisor/net/proto/dns.h)?  Not one
 * without a dot, nor below a domain that is reserved for local networks or usual there,
 * nor one that a pattern has ("db.corp.example", "*.corp.example":
 * network.private_names).
 */
bool aw_private_is_public(const char *name, char *const *patterns, size_t count);

#endif
