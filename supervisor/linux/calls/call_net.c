/* SPDX-License-Identifier: Apache-2.0 */
/* call_net.c - notified calls that name an address. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "supervisor/audit/address.h"
#include "supervisor/linux/calls/call.h"
#include "supervisor/linux/sockets/route.h"
#include "supervisor/net/dns/name_servers.h"

static struct aw_name_servers *servers; /* of the host; NULL: no memory */

static void read_servers(void)
{
	servers = aw_name_servers_new("/etc/resolv.conf");
}

/* Enforce answers in the place of the name servers, and judges the names alone. */
static bool asks_for_names(const struct aw_notified *call, const struct aw_address *to)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (call->event.action == AW_BIND || to->port != 53 ||
		(to->family != AF_INET && to->family != AF_INET6))
		return false;
	pthread_once(&once, read_servers);
	return servers && aw_name_servers_has(servers, to);
}

/* One address of a call: judged and put into the event; false when it cannot be read. */
static bool judge(struct aw_notified *call, uint64_t address, uint64_t len)
{
	struct aw_event *event = &call->event;
	union aw_any_address any;
	struct aw_decision decision;
	struct aw_address to;
	int looked_up = 0;

	memset(&any, 0, sizeof(any));
	if (len < sizeof(any.family) || len > sizeof(any.storage)) {
		errno = EINVAL;
		return false;
	}
	if (!aw_target_read(&call->target, address, &any, len))
		return false;
	if (aw_address_is_unix_path(&any, len)) {
		memcpy(call->raw, any.un.sun_path, sizeof(any.un.sun_path));
		call->raw[sizeof(any.un.sun_path)] = '\0';
		event->path.len = aw_target_resolve(&call->target, AT_FDCWD, call->raw,
			true, call->path, sizeof(call->path), &looked_up);
		event->path.bytes = call->path;
	}
	aw_address_describe(
		&any, len, event->path, call->path2, sizeof(call->path2), &to, event);
	event->path = (struct aw_text){NULL, 0};
	aw_image_decide_address_in(atomic_load(&call->watch->image),
		call->target.who.role.profiles, event->action, &to, &decision);
	/* audit holds nobody up: what is not known yet is a denial */
	aw_names_decide(call->watch->names, atomic_load(&call->watch->image),
		call->target.who.role.profiles, event->action, &to, &decision);
	if (decision.verdict == AW_DENY && decision.rule == AW_NO_RULE &&
		!call->watch->enforce && asks_for_names(call, &to))
		decision.verdict = AW_ALLOW;
	aw_route_foresee(call, &any, &to, &decision);
	if (decision.verdict == AW_ALLOW && to.host)
		event->host = (struct aw_text){to.host, strlen(to.host)};
	aw_call_decide(call, &decision);
	if (looked_up && event->action != AW_BIND && !call->watch->enforce) {
		event->result_known = true;
		event->result = looked_up;
	}
	return true;
}

/* msg_name and msg_namelen of a struct msghdr in the target. */
static bool message_name(struct aw_notified *call, uint64_t message,
	uint64_t *ret_address, uint64_t *ret_len)
{
	struct {
		uint64_t name;
		uint32_t len;
	} wide;
	uint32_t narrow[2];

	if (call->word == 8) {
		if (!aw_target_read(&call->target, message, &wide, 12))
			return false;
		*ret_address = wide.name;
		*ret_len = wide.len;
	} else {
		if (!aw_target_read(&call->target, message, narrow, sizeof(narrow)))
			return false;
		*ret_address = narrow[0];
		*ret_len = narrow[1];
	}
	return true;
}

static void one_message(struct aw_notified *call, uint64_t message)
{
	uint64_t address, len;

	if (!message_name(call, message, &address, &len)) {
		call->silent = false;
		aw_call_unreadable(call, errno);
		return;
	}
	call->silent = !address;
	if (address && !judge(call, address, len))
		aw_call_unreadable(call, errno);
}

/* Each addressed message is a line of its own; the last one is logged by the caller. */
static void many_messages(struct aw_notified *call)
{
	uint64_t size = call->word == 8 ? 64 : 32, count = call->args[2];
	bool before = false;

	if (count > 1024) /* UIO_MAXIOV, as the kernel caps it */
		count = 1024;
	call->silent = true;
	for (uint64_t i = 0; i < count && call->reply != AW_REPLY_FAIL; i++) {
		struct aw_event event = call->event;

		if (before) {
			event.call = aw_call_name((unsigned)call->sys);
			aw_watch_sign(&event, &call->target.who);
			aw_watch_log(call->watch, &event);
		}
		one_message(call, call->args[1] + i * size);
		before = !call->silent;
	}
}

void aw_call_network(struct aw_notified *call)
{
	const struct aw_syscall *row = call->row;

	call->event.action = aw_action_of_effect((enum aw_effect)row->effect, 0);
	if (row->effect == AW_FX_SENDMSG)
		one_message(call, call->args[row->path]);
	else if (row->effect == AW_FX_SENDMMSG)
		many_messages(call);
	else if (row->effect == AW_FX_SENDTO && !call->args[row->path])
		call->silent = true;
	else if (!judge(call, call->args[row->path], (uint32_t)call->args[row->flags]))
		aw_call_unreadable(call, errno);
}
