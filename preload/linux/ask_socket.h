/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask_socket.h - talking to the supervisor without the kernel layer (preload engine).
 *
 * Each question is one connection to the session's Unix socket, whose path comes in
 * AGENTWATCH_SOCKET; docs/WIRE.md has the messages.  All calls are raw and leave no
 * descriptor open.
 */
#ifndef AW_PRELOAD_LINUX_ASK_SOCKET_H
#define AW_PRELOAD_LINUX_ASK_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/shared/wire.h"

struct aw_registration {
	int ring_fd, session_fd; /* -1: not there */
};

/* True and both descriptors when the supervisor answered. name: which hello. */
bool aw_socket_register(const char *name, struct aw_registration *ret);

/* The new session memfd, or -1. */
int aw_socket_again(void);

/*
 * Send one message with len bytes behind its header and wait for the answer; false when
 * there is nobody.  Without restart a signal handler that was installed without
 * SA_RESTART ends the waiting, and the answer is EINTR: a human may take long.
 */
bool aw_socket_ask(struct aw_wire_head *head, const void *const parts[5],
	struct aw_wire_answer *ret, bool restart);

#endif
