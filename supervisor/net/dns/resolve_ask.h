/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_ask.h - one question to the host's name servers, in the asking thread. */
#ifndef AW_SUPERVISOR_NET_DNS_RESOLVE_ASK_H
#define AW_SUPERVISOR_NET_DNS_RESOLVE_ASK_H

#include "supervisor/net/dns/resolve.h"

struct aw_dns_client; /* what a thread needs for it */

/* NULL: no memory. */
struct aw_dns_client *aw_asking_new(void);
void aw_asking_free(struct aw_dns_client *asking);

/*
 * Waits for the answer, for as long as resolv.conf(5) has it.  One reference, its ttl
 * filled in; NULL: nobody has answered.
 */
struct aw_resolved *aw_asking_ask(
	struct aw_dns_client *asking, const char *name, unsigned type);

#endif
