/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.h - what /etc/hosts says, in both directions.
 *
 * The host's own file, as hosts(5) has it; one that was written into the sandbox counts
 * for nothing.  It is read again when it has changed.  All functions may be called by
 * any thread at any time.
 */
#ifndef AW_SUPERVISOR_DECIDE_HOSTS_H
#define AW_SUPERVISOR_DECIDE_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/net/proto/dns.h"

struct aw_hosts;

/* A file that is not there is an empty one.  NULL: no memory. */
struct aw_hosts *aw_hosts_new(const char *path);
void aw_hosts_free(struct aw_hosts *hosts);

/* Up to max names of an address (IPv4-mapped), plain ones. */
size_t aw_hosts_names(struct aw_hosts *hosts, const unsigned char address[16],
	char (*ret)[AW_DNS_NAME], size_t max);

/* Up to max addresses of a plain name, of both families. */
size_t aw_hosts_addresses(
	struct aw_hosts *hosts, const char *name, unsigned char (*ret)[16], size_t max);

#endif
