/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_option.c - listen, options and pairs of sockets for a target. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/image/region.h"
#include "supervisor/linux/sockets/emulate_net.h"
#include "supervisor/linux/sockets/socket_option.h"
#include "supervisor/linux/sockets/socket_replace.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

/* Longer values are of options that we do not make for anybody. */
enum { VALUE_MAX = 4096 };

/* --- listen --- */

static bool local_address(int fd, struct aw_emulate_address *ret)
{
	socklen_t len = sizeof(ret->any.storage), size = sizeof(int);

	memset(ret, 0, sizeof(*ret));
	ret->place.parent = ret->place.object = -1;
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &ret->domain, &size) < 0 ||
		getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &ret->protocol, &size) < 0 ||
		getsockname(fd, (struct sockaddr *)&ret->any, &len) < 0)
		return false;
	ret->len = len;
	ret->judged = ret->any;
	return true;
}

static bool is_internet(const struct aw_emulate_address *address)
{
	return address->domain == AF_INET || address->domain == AF_INET6;
}

/* Of the kind that a port is found for when it listens. */
static bool listens(int fd, const struct aw_emulate_address *address)
{
	socklen_t len = sizeof(int);
	int type = 0;

	return is_internet(address) &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       type == SOCK_STREAM;
}

/* The port is at the same place in both families. */
static unsigned port_of(const struct aw_emulate_address *address)
{
	return is_internet(address) ? ntohs(address->any.in.sin_port) : 0;
}

static bool is_same(
	const struct aw_emulate_address *a, const struct aw_emulate_address *b)
{
	return a->len == b->len && memcmp(&a->any, &b->any, a->len) == 0;
}

/* Nobody outside is listened to by what a sandbox shuts in. */
static int listen_as(struct aw_notified *call, int *fd_at, enum aw_route route)
{
	int err = aw_replace_turn_inside(call, fd_at, route), fd = *fd_at;

	if (!err)
		err = aw_creds_assume(call->watch, &call->target);
	if (err)
		return -err;
	err = listen(fd, (int)call->args[1]) < 0 ? errno : 0;
	aw_creds_restore();
	return -err;
}

/*
 * A socket that is not bound is bound to a port of any address by listening (tcp(7)).
 * What it says of itself may be old, or come from a connect that is under way, whose
 * port is lost when that fails; so whatever it says is judged, and it is looked at once
 * more.
 */
static void on_listen(struct aw_notified *call)
{
	AW_CLOSE int fd = aw_emulate_socket(call, (int)call->args[0]);
	struct aw_emulate_address before, after;
	int result;

	call->silent = true;
	if (fd < 0)
		return;
	if (!local_address(fd, &before)) {
		aw_emulate_answer(call, -errno);
		return;
	}
	if (listens(fd, &before)) {
		call->silent = false;
		if (!aw_emulate_may_address(call, &before))
			return;
		call->silent =
			port_of(&before) != 0; /* it was told when it was bound */
	} else if (!aw_emulate_waits(call)) {
		return;
	}
	result = listen_as(call, &fd, before.route);
	if (!result && port_of(&before) && local_address(fd, &after) &&
		!is_same(&before, &after)) {
		call->silent = false;
		if (!aw_emulate_may_address(call, &after)) {
			shutdown(fd, SHUT_RDWR);
			return;
		}
	}
	aw_emulate_answer(call, result);
}

/* --- options --- */

/* A value that was copied out of the target. */
struct value {
	int level, name;
	socklen_t len;
	union {
		unsigned char bytes[VALUE_MAX];
		struct ip_mreq group; /* ip_mreqn and ip_mreq_source begin so */
		struct ipv6_mreq group6;
		struct group_req any;
	} is;
};

static int set_it(struct aw_notified *call, int fd, const struct value *value)
{
	int err = aw_creds_assume(call->watch, &call->target);

	if (err)
		return -err;
	err = setsockopt(fd, value->level, value->name, value->is.bytes, value->len) < 0
		      ? errno
		      : 0;
	aw_creds_restore();
	return -err;
}

/*
 * 32-bit programs: addresses of any kind start at 4, not at 8 (linux/in.h:
 * compat_group_req), and times are half as wide.  Pointers could not be followed.
 */
static int widen(struct value *value)
{
	enum { NARROW = 4, STORAGE = sizeof(struct sockaddr_storage) };
	unsigned char *bytes = value->is.bytes;
	int32_t narrow[2];
	int64_t wide[2];

	if (value->level == SOL_SOCKET &&
		(value->name == SO_ATTACH_FILTER ||
			value->name == SO_ATTACH_REUSEPORT_CBPF))
		return EPERM;
	if (value->level == SOL_SOCKET && value->len == sizeof(narrow) &&
		(value->name == SO_RCVTIMEO || value->name == SO_SNDTIMEO)) {
		memcpy(narrow, bytes, sizeof(narrow));
		wide[0] = narrow[0];
		wide[1] = narrow[1];
		memcpy(bytes, wide, sizeof(wide));
		value->len = sizeof(wide);
	}
	if ((value->level == IPPROTO_IP || value->level == IPPROTO_IPV6) &&
		(value->name == MCAST_JOIN_GROUP ||
			value->name == MCAST_JOIN_SOURCE_GROUP) &&
		value->len >= NARROW + STORAGE) {
		memmove(bytes + 2 * NARROW, bytes + NARROW, value->len - NARROW);
		memset(bytes + NARROW, 0, NARROW);
		value->len += NARROW;
	}
	return 0;
}

static int copy_value(struct aw_notified *call, struct value *ret)
{
	uint64_t len = (uint32_t)call->args[4];

	memset(ret, 0, sizeof(*ret));
	ret->level = (int)call->args[1];
	ret->name = (int)call->args[2];
	if (len > VALUE_MAX - 8)
		return EINVAL;
	if (len && !aw_target_read(&call->target, call->args[3], ret->is.bytes, len))
		return EFAULT;
	ret->len = (socklen_t)len;
	return call->word == 4 ? widen(ret) : 0;
}

/* The group as an address to listen on, at the port of the socket. */
static bool group_of(const struct value *value, const struct aw_emulate_address *local,
	struct aw_emulate_address *ret)
{
	union aw_any_address *any = &ret->any;

	*ret = *local;
	memset(any, 0, sizeof(*any));
	ret->len = sizeof(struct sockaddr_in6);
	if (value->name == MCAST_JOIN_GROUP || value->name == MCAST_JOIN_SOURCE_GROUP) {
		if (value->len < sizeof(value->is.any))
			return false;
		memcpy(&any->storage, &value->is.any.gr_group, sizeof(any->storage));
	} else if (value->level == IPPROTO_IP) {
		if (value->len < sizeof(value->is.group))
			return false;
		any->in.sin_family = AF_INET;
		any->in.sin_addr = value->is.group.imr_multiaddr;
	} else {
		if (value->len < sizeof(value->is.group6))
			return false;
		any->in6.sin6_family = AF_INET6;
		any->in6.sin6_addr = value->is.group6.ipv6mr_multiaddr;
	}
	any->in.sin_port = local->any.in.sin_port;
	ret->judged = ret->any;
	return true;
}

static bool may_join(struct aw_notified *call, int fd, const struct value *value)
{
	struct aw_emulate_address local, group;

	if (!local_address(fd, &local) || !is_internet(&local)) {
		aw_emulate_answer(call, -ENOPROTOOPT);
		return false;
	}
	if (!group_of(value, &local, &group)) {
		aw_emulate_answer(call, -EINVAL);
		return false;
	}
	call->silent = false;
	return aw_emulate_may_address(call, &group);
}

static void set_on_behalf(struct aw_notified *call, bool joins)
{
	AW_CLOSE int fd = aw_emulate_socket(call, (int)call->args[0]);
	struct value value;
	int err;

	if (fd < 0)
		return;
	err = copy_value(call, &value);
	if (err)
		aw_emulate_answer(call, -err);
	else if (joins ? may_join(call, fd, &value) : aw_emulate_waits(call))
		aw_emulate_answer(call, set_it(call, fd, &value));
}

static void refuse(struct aw_notified *call, const struct aw_socket_option *option)
{
	char what[64];

	snprintf(what, sizeof(what), "setsockopt(%s)", option->text);
	aw_call_warn(call, "refused", what);
}

/* Where the network is all open there is nothing to get round. */
static enum aw_socket_option_kind kind_of(
	const struct aw_notified *call, const struct aw_socket_option *option)
{
	bool off = !(uint32_t)call->args[4]; /* no value: the option is taken away */

	if (!option || (off && option->kind == AW_OPTION_REDIRECTS) ||
		aw_image_network_open(atomic_load(&call->watch->image),
			call->target.who.role.profiles))
		return AW_OPTION_PLAIN;
	return (enum aw_socket_option_kind)option->kind;
}

/*
 * Level and name are in registers, so a plain option may go on; where they come from
 * memory (socketcall) they could be others by then.
 */
static void on_option(struct aw_notified *call)
{
	const struct aw_socket_option *option =
		aw_socket_option_find((int)call->args[1], (int)call->args[2]);
	enum aw_socket_option_kind kind = kind_of(call, option);

	call->silent = true;
	if (kind == AW_OPTION_REDIRECTS)
		refuse(call, option);
	else if (kind == AW_OPTION_JOINS || call->by_memory)
		set_on_behalf(call, kind == AW_OPTION_JOINS);
}

void aw_emulate_option(struct aw_notified *call)
{
	if (call->row->effect == AW_FX_LISTEN)
		on_listen(call);
	else
		on_option(call);
}

/* --- socketcall(SYS_SOCKETPAIR) --- */

static int give(struct aw_notified *call, int fd, int type)
{
	struct seccomp_notif_addfd add = {.id = call->id,
		.srcfd = (uint32_t)fd,
		.newfd_flags = type & SOCK_CLOEXEC ? O_CLOEXEC : 0};
	int number = ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);

	return number < 0 ? -errno : number;
}

void aw_emulate_pair(struct aw_notified *call)
{
	int type = (int)call->args[1], pair[2], numbers[2], err;

	err = aw_creds_assume(call->watch, &call->target);
	if (!err) {
		err = socketpair((int)call->args[0], type | SOCK_CLOEXEC,
			      (int)call->args[2], pair) < 0
			      ? errno
			      : 0;
		aw_creds_restore();
	}
	if (err) {
		aw_emulate_answer(call, -err);
		return;
	}
	numbers[0] = give(call, pair[0], type);
	numbers[1] = numbers[0] < 0 ? numbers[0] : give(call, pair[1], type);
	close(pair[0]);
	close(pair[1]);
	if (numbers[1] >= 0 && !aw_target_write(&call->target, call->args[3], numbers,
				       sizeof(numbers)))
		numbers[1] = -EFAULT;
	aw_emulate_answer(call, numbers[1] < 0 ? numbers[1] : 0);
}
