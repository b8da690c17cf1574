/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard_socket.h - a server's socket that would get a name under which it may be
 * reached.
 *
 * Rules about Unix sockets are about names.  Who may not speak to a server of outside,
 * and may link or move its socket, or a directory with it, could give it a name that a
 * rule allows.  Such a link or rename is refused as the connection would be.
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_GUARD_SOCKET_H
#define AW_SUPERVISOR_LINUX_SOCKETS_GUARD_SOCKET_H

#include "supervisor/linux/calls/call.h"
#include "supervisor/linux/target/path_walk.h"

/*
 * What is at the place `from` gets the name of `to`.  True: some socket could be
 * reached then that may not be now; the verdict on reaching it now is in *ret.  Sockets
 * in a directory are known by the names that their servers gave them.
 */
bool aw_guard_sockets(const struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to, struct aw_decision *ret);

#endif
