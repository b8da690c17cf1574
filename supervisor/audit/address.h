/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - a socket address for the policy and for the log.
 */
#ifndef AW_SUPERVISOR_AUDIT_ADDRESS_H
#define AW_SUPERVISOR_AUDIT_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "policy/image/image.h"
#include "supervisor/audit/event.h"

union aw_any_address {
	sa_family_t family;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_storage storage;
	char room[sizeof(struct sockaddr_storage) + 8]; /* a NUL behind every path */
};

/* A Unix socket with a name in the file system (not abstract, not unnamed). */
bool aw_address_is_unix_path(const union aw_any_address *any, size_t len);

/* Family, and of an Internet address its bytes and port. */
void aw_address_of(const union aw_any_address *any, struct aw_address *ret);

/*
 * any of len bytes into ret (for aw_image_decide_address) and into the event's family,
 * address and port.  path is the resolved path of a Unix socket; text holds what the
 * event points to.
 */
void aw_address_describe(const union aw_any_address *any, size_t len,
	struct aw_text path, char *text, size_t size, struct aw_address *ret,
	struct aw_event *event);

#endif
