/* SPDX-License-Identifier: Apache-2.0 */
/* hand_control.c - control messages, copied for a target and looked through. */
#include "supervisor/kernel/hand_control.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/region.h"
#include "supervisor/cleanup.h"
#include "supervisor/kernel/option.h"
#include "supervisor/pidfd.h"

enum { CONTROL_MAX = 64 * 1024 };

void aw_control_release(struct aw_control *control)
{
	free(control->bytes);
	for (size_t i = 0; i < control->right_count; i++)
		close(control->rights[i]);
	control->bytes = NULL;
	control->len = control->right_count = 0;
}

/* Descriptors that go along become ours first. */
static int take_rights(
	struct aw_notified *call, struct aw_control *control, struct cmsghdr *c)
{
	AW_CLOSE int pidfd = aw_pidfd_of_thread(call->target.tid, call->target.who.pid);
	size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int *numbers = (int *)(void *)CMSG_DATA(c);

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
static bool is_refused(struct aw_notified *call, const struct cmsghdr *c)
{
	const char *name = aw_option_of_message(c->cmsg_level, c->cmsg_type);
	char what[64];

	if (!name || aw_image_network_open(atomic_load(&call->watch->image),
			     call->target.who.role.profiles))
		return false;
	snprintf(what, sizeof(what), "a message with %s", name);
	aw_call_warn(call, "refused", what);
	return true;
}

/* Lengths as the kernel takes them (socket.h: CMSG_OK). */
static int look_through(
	struct aw_notified *call, bool addressed, struct aw_control *control)
{
	size_t at = 0, left, size;
	int err = 0;

	while (!err && (left = control->len - at) >= sizeof(struct cmsghdr)) {
		struct cmsghdr *c = (struct cmsghdr *)(void *)(control->bytes + at);

		if (c->cmsg_len < CMSG_LEN(0) || c->cmsg_len > left)
			return EINVAL;
		size = CMSG_ALIGN(c->cmsg_len) < left ? CMSG_ALIGN(c->cmsg_len) : left;
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			if (addressed)
				return EPERM;
			memmove(c, (char *)c + size, left - size);
			control->len -= size;
			continue;
		}
		if (is_refused(call, c))
			return EPERM;
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			err = take_rights(call, control, c);
		at += size;
	}
	return err;
}

/* 32-bit: headers of 12 bytes, and everything aligned to 4. */
static int widen(struct aw_control *control)
{
	size_t at = 0, n = 0;
	uint32_t head[3];
	char *wide = calloc(2, control->len);

	if (!wide)
		return ENOMEM;
	for (; control->len - at >= sizeof(head); at += (head[0] + 3) & ~3u) {
		struct cmsghdr *c = (struct cmsghdr *)(void *)(wide + n);

		memcpy(head, control->bytes + at, sizeof(head));
		if (head[0] < sizeof(head) || head[0] > control->len - at) {
			free(wide);
			return EINVAL;
		}
		c->cmsg_len = CMSG_LEN(head[0] - sizeof(head));
		c->cmsg_level = (int)head[1];
		c->cmsg_type = (int)head[2];
		memcpy(CMSG_DATA(c), control->bytes + at + sizeof(head),
			head[0] - sizeof(head));
		n += CMSG_SPACE(head[0] - sizeof(head));
		if (((head[0] + 3) & ~3u) > control->len - at)
			break;
	}
	free(control->bytes);
	control->bytes = wide;
	control->len = n;
	return 0;
}

int aw_control_read(struct aw_notified *call, uint64_t address, uint64_t len,
	bool addressed, struct aw_control *ret)
{
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
	err = call->word == 8 ? 0 : widen(ret);
	return err ? err : look_through(call, addressed, ret);
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
	struct aw_control *control, int fd, const union aw_any_address *to)
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
