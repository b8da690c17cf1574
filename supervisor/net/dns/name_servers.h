/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_servers.h - whom programs here ask for names: /etc/resolv.conf.
 *
 * It is read again when it has changed; a server that was in it once counts for the
 * whole session, since programs read it at their start.  All functions may be called by
 * any thread at any time.
 */
#ifndef AW_SUPERVISOR_NET_DNS_NAME_SERVERS_H
#define AW_SUPERVISOR_NET_DNS_NAME_SERVERS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/image/image.h"
#include "supervisor/net/proto/dns.h"

enum { AW_NAME_SERVERS = 16, AW_NAME_PORT = 53 };

struct aw_name_servers;

/* NULL: no memory. */
struct aw_name_servers *aw_name_servers_new(const char *path);
void aw_name_servers_free(struct aw_name_servers *servers);

/*
 * All that there are or were, port 53; without one, 127.0.0.1, as resolvers have it.
 * ret_skipped: one that cannot be served, since its address has a scope (fe80::1%eth0);
 * "" without.
 */
size_t aw_name_servers_list(struct aw_name_servers *servers,
	struct aw_address ret[AW_NAME_SERVERS], char ret_skipped[64]);

/* Is address, whatever its port, one of them?  IPv4-mapped is IPv4. */
bool aw_name_servers_has(
	struct aw_name_servers *servers, const struct aw_address *address);

/*
 * What a program may have asked for before its resolver put a search domain behind it;
 * false: this ends with none.
 */
bool aw_name_servers_unsearched(struct aw_name_servers *servers, const char *name,
	size_t nth, char ret[AW_DNS_NAME]);

#endif
