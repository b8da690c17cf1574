/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_net.c - a target's sockets: made, bound and connected. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/git/git.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/emulate/path_act.h"
#include "supervisor/linux/netns/netns.h"
#include "supervisor/linux/sockets/bound.h"
#include "supervisor/linux/sockets/connecting.h"
#include "supervisor/linux/sockets/emulate_net.h"
#include "supervisor/linux/sockets/emulate_relay.h"
#include "supervisor/linux/sockets/socket_option.h"
#include "supervisor/linux/sockets/socket_replace.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

/* A name that git minds may come only where it was looked at. */
static int bind_file(
	struct aw_notified *call, int fd, const struct aw_emulate_address *address)
{
	const struct aw_location *place = &address->place;

	if (aw_location_bind(call->watch, &call->target, place, fd,
		    call->in_git ? NULL : call->raw) < 0)
		return -errno;
	aw_bound_add_file(call->watch, fd, place->parent);
	return 0;
}

static void bind_it(
	struct aw_notified *call, int *fd, struct aw_emulate_address *address)
{
	int result = -aw_replace_turn_inside(call, fd, address->route);

	if (!result)
		result = -aw_creds_assume(call->watch, &call->target);
	if (result) {
		aw_emulate_answer(call, result);
		return;
	}
	if (address->place.parent >= 0) {
		if (!aw_git_enter(call, &address->place, true)) {
			aw_creds_restore();
			return;
		}
		result = bind_file(call, *fd, address);
		aw_git_leave(call);
	} else {
		result = bind(*fd, (const struct sockaddr *)&address->any,
				 (socklen_t)address->len) < 0
				 ? -errno
				 : 0;
		if (!result && aw_emulate_abstract_len(address))
			aw_bound_add_name(call->watch, *fd, address->any.un.sun_path,
				aw_emulate_abstract_len(address));
	}
	aw_creds_restore();
	aw_emulate_answer(call, result);
}

static void connect_it(
	struct aw_notified *call, int *fd, struct aw_emulate_address *address)
{
	/* without a family it is disconnected, wherever it is */
	if (address->any.family && aw_connecting_in_use(call, fd))
		return;
	if (aw_relay_may_begin(call, *fd, address) &&
		!aw_relay_connect(call, fd, address))
		aw_emulate_connect(call, fd, address);
}

static void to_address(struct aw_notified *call)
{
	AW_CLOSE int fd = aw_emulate_socket(call, (int)call->args[0]);
	struct aw_emulate_address address;
	int err;

	if (fd < 0)
		return;
	err = aw_emulate_address(
		call, fd, call->args[1], (uint32_t)call->args[2], &address);
	if (err) {
		aw_emulate_answer(call, -err);
		return;
	}
	if (aw_emulate_may_address(call, &address)) {
		if (call->row->effect == AW_FX_BIND)
			bind_it(call, &fd, &address);
		else
			connect_it(call, &fd, &address);
	}
	aw_location_release(&address.place);
}

static int socket_for(struct aw_notified *call)
{
	int family = (int)call->args[0], type = (int)call->args[1] | SOCK_CLOEXEC;
	int fd;

	if (call->watch->netns)
		return aw_netns_socket(
			call->watch->netns, family, type, (int)call->args[2], NULL, 0);
	fd = socket(family, type, (int)call->args[2]);
	return fd < 0 ? -errno : fd;
}

/*
 * socketcall(2) has its arguments in memory, so the socket is made here: in the
 * target's network namespace, where we can.
 */
static void make_socket(struct aw_notified *call)
{
	int type = (int)call->args[1], fd, err;

	if (call->watch->own_network && !call->watch->netns &&
		call->args[0] != AF_UNIX) {
		aw_emulate_answer(call, -ENOSYS);
		return;
	}
	err = aw_creds_assume(call->watch, &call->target);
	if (err) {
		aw_emulate_answer(call, -err);
		return;
	}
	fd = socket_for(call);
	aw_creds_restore();
	if (fd < 0)
		aw_emulate_answer(call, fd);
	else if (!aw_emulate_give(call, &fd, O_RDWR | (type & SOCK_CLOEXEC)))
		aw_cleanup_close(&fd);
}

static void make(struct aw_notified *call)
{
	(call->sys == AW_SYS_socketpair ? aw_emulate_pair : make_socket)(call);
}

/*
 * What no rule can name would be a way around those it can: other families, and
 * protocols whose sockets speak to more than the address in a call.  Netlink speaks to
 * the kernel, but for messages between users.
 */
static void on_socket(struct aw_notified *call)
{
	int family = (int)call->args[0], protocol = (int)call->args[2];
	bool kernel = family == AF_NETLINK && protocol != NETLINK_USERSOCK;
	struct aw_address to = {.family = AF_PACKET};
	struct aw_decision decision;

	call->event.family = family;
	if (kernel ||
		aw_socket_option_is_common(family, (int)call->args[1], protocol)) {
		call->silent = true;
		if (call->by_memory)
			make(call);
		return;
	}
	aw_image_decide_address_in(atomic_load(&call->watch->image),
		call->target.who.role.profiles, AW_CONNECT, &to, &decision);
	aw_call_decide(call, &decision);
	call->silent = decision.verdict == AW_ALLOW;
	if (call->reply == AW_REPLY_CONTINUE && call->by_memory)
		make(call);
}

void aw_emulate_network(struct aw_notified *call)
{
	call->event.action = aw_action_of_effect((enum aw_effect)call->row->effect, 0);
	switch (call->row->effect) {
	case AW_FX_SOCKET:
		on_socket(call);
		break;
	case AW_FX_CONNECT:
	case AW_FX_BIND:
		to_address(call);
		break;
	case AW_FX_LISTEN:
	case AW_FX_OPTION:
		aw_emulate_option(call);
		break;
	default:
		aw_emulate_send(call);
		break;
	}
}
