/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulate_control.h - what goes along with a message that is sent for a target:
 * cmsg(3).
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_EMULATE_CONTROL_H
#define AW_SUPERVISOR_LINUX_SOCKETS_EMULATE_CONTROL_H

#include "supervisor/audit/address.h"
#include "supervisor/linux/emulate/emulate.h"

enum { AW_RIGHTS_MAX = 253 /* SCM_MAX_FD */ };

struct aw_control_messages {
	char *bytes; /* owned; laid out for us, also from a 32-bit target */
	size_t len;
	int rights[AW_RIGHTS_MAX]; /* owned: descriptors that are passed on */
	size_t right_count;
};

/*
 * Copy len bytes at address; 0 or an errno.  addressed: over a connection the kernel
 * says itself who we are; elsewhere credentials would speak of us and are refused.  So
 * is what would lead the message elsewhere (option.h); then the call is answered.
 */
int aw_control_read(struct aw_notified *call, uint64_t address, uint64_t len,
	bool addressed, struct aw_control_messages *ret);

/*
 * Leave it to the routes by which interface it goes, unless its address (NULL: that of
 * the connection) means nothing without one.
 */
void aw_control_route(
	struct aw_control_messages *control, int fd, const union aw_any_address *to);

/* Free the contents, not the struct itself. */
void aw_control_release(struct aw_control_messages *control);

#endif
