/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_control.c - control messages, copied for a target and looked through. */
#include "supervisor/linux/sockets/emulate_control.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/image/region.h"
#include "supervisor/linux/pidfd.h"
#include "supervisor/linux/sockets/message.h"
#include "supervisor/linux/sockets/socket_option.h"
#include "supervisor/util/cleanup.h"

enum { CONTROL_MAX = 64 * 1024 };

void aw_control_release(struct aw_control_messages *control)
{
	free(control->bytes);
	for (size_t i = 0; i < control->right_count; i++)
		aw_close(control->rights[i]);
	control->bytes = NULL;
	control->len = control->right_count = 0;
}

/* What a walk over control messages is about. */
struct visit {
	struct aw_notified *call;
	struct aw_control_messages *control;
};

/* Descriptors that go along become ours first. */
static int take_rights(const struct visit *v, int *numbers, size_t count)
{
	const struct aw_target *target = &v->call->target;
	struct aw_control_messages *control = v->control;
	AW_CLOSE int pidfd = aw_pidfd_of_thread(target->tid, target->who.pid);

	if (control->right_count + count > AW_RIGHTS_MAX)
		return EINVAL;
	for (size_t i = 0; i < count; i++) {
		int fd = (int)syscall(SYS_pidfd_getfd, pidfd, numbers[i], 0);

		if (fd < 0)
			return errno;
		control->rights[control->right_count++] = numbers[i] = fd;
	}
	return 0;
}

/* A route of its own: the address would not be where it goes. */
static bool is_refused(struct aw_notified *call, int level, int type)
{
	const char *name = aw_socket_option_of_message(level, type);
	char what[64];

	if (!name || aw_image_network_open(atomic_load(&call->watch->image),
			     call->target.who.role.profiles))
		return false;
	snprintf(what, sizeof(what), "a message with %s", name);
	aw_call_warn(call, "refused", what);
	return true;
}

static int look_at(void *data, int level, int type, int *numbers, size_t count)
{
	const struct visit *v = data;

	if (is_refused(v->call, level, type))
		return EPERM;
	return level == SOL_SOCKET && type == SCM_RIGHTS
		       ? take_rights(v, numbers, count)
		       : 0;
}

int aw_control_read(struct aw_notified *call, uint64_t address, uint64_t len,
	bool addressed, struct aw_control_messages *ret)
{
	struct visit visit = {call, ret};
	int err;

	if (!len)
		return 0;
	if (len > CONTROL_MAX)
		return ENOBUFS;
	ret->bytes = malloc(len);
	if (!ret->bytes)
		return ENOMEM;
	if (!aw_target_read(&call->target, address, ret->bytes, len))
		return EFAULT;
	ret->len = len;
	err = call->word == 8 ? 0 : aw_control_widen(&ret->bytes, &ret->len);
	return err ? err
		   : aw_control_walk(ret->bytes, &ret->len, addressed, look_at, &visit);
}

/* --- by which interface --- */

/* Addresses that say nothing without one. */
static bool needs_interface(const union aw_any_address *to)
{
	const struct in6_addr *six = &to->in6.sin6_addr;
	uint32_t four = to->in.sin_addr.s_addr;

	if (to->family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(six))
		return IN6_IS_ADDR_LINKLOCAL(six) || IN6_IS_ADDR_MULTICAST(six);
	if (to->family == AF_INET6)
		memcpy(&four, &six->s6_addr[12], sizeof(four));
	four = ntohl(four);
	return IN_MULTICAST(four) || four == INADDR_BROADCAST;
}

/* IP_PKTINFO and its kin say from which address, and by which interface. */
static void clear_interface(struct cmsghdr *c)
{
	unsigned char *info = CMSG_DATA(c);

	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO &&
		c->cmsg_len >= CMSG_LEN(sizeof(struct in_pktinfo)))
		memset(info + offsetof(struct in_pktinfo, ipi_ifindex), 0, sizeof(int));
	if (c->cmsg_level == IPPROTO_IPV6 &&
		(c->cmsg_type == IPV6_PKTINFO || c->cmsg_type == IPV6_2292PKTINFO) &&
		c->cmsg_len >= CMSG_LEN(sizeof(struct in6_pktinfo)))
		memset(info + offsetof(struct in6_pktinfo, ipi6_ifindex), 0,
			sizeof(int));
}

void aw_control_route(
	struct aw_control_messages *control, int fd, const union aw_any_address *to)
{
	struct msghdr msg = {
		.msg_control = control->bytes, .msg_controllen = control->len};
	union aw_any_address peer;
	socklen_t len = sizeof(peer.storage);

	if (!control->len)
		return;
	if (!to) {
		memset(&peer, 0, sizeof(peer));
		if (getpeername(fd, (struct sockaddr *)&peer, &len) < 0)
			return;
		to = &peer;
	}
	if (needs_interface(to))
		return;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		clear_interface(c);
}
