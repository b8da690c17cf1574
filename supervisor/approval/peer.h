/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - is who speaks on a socket outside of all sessions?
 *
 * What is watched must not answer its own questions, nor those of a session beside it.
 */
#ifndef AW_SUPERVISOR_APPROVAL_PEER_H
#define AW_SUPERVISOR_APPROVAL_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * True when pid, the peer of socket, is alive, and neither below the process self nor
 * below any other supervisor.  What cannot be seen is not outside.
 */
bool aw_peer_is_outside(int socket, pid_t pid, pid_t self);

#endif
