/* SPDX-License-Identifier: Apache-2.0 */
/* unix_listens.c - the bound Unix sockets, by sock_diag(7). */
#include "supervisor/net/unix_listens.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "supervisor/cleanup.h"

enum { ROOM = 32768, MAJOR_SHIFT = 20 /* of the kernel's own dev_t */ };

static bool ask(int fd)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req is;
	} request = {.header = {.nlmsg_len = sizeof(request),
			     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			     .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.is = {.sdiag_family = AF_UNIX,
			.udiag_states = ~0U,
			.udiag_show = UDIAG_SHOW_VFS}};

	return send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request);
}

static bool is_bound_to(const struct nlmsghdr *header, const struct stat *file)
{
	uint32_t device = (uint32_t)major(file->st_dev) << MAJOR_SHIFT |
			  (uint32_t)minor(file->st_dev);
	const struct unix_diag_msg *about = NLMSG_DATA(header);
	const struct rtattr *attribute = (const void *)(about + 1);
	int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof(*about)));
	struct unix_diag_vfs vfs;

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		if (attribute->rta_type != UNIX_DIAG_VFS)
			continue;
		memcpy(&vfs, RTA_DATA(attribute), sizeof(vfs));
		return vfs.udiag_vfs_ino == (uint32_t)file->st_ino &&
		       vfs.udiag_vfs_dev == device;
	}
	return false;
}

/* 1: it is among these; 0: more are to come; -1: that was the last. */
static int look_at(char *bytes, ssize_t len, const struct stat *file)
{
	const struct nlmsghdr *header = (const void *)bytes;

	for (; NLMSG_OK(header, len); header = NLMSG_NEXT(header, len)) {
		if (header->nlmsg_type == NLMSG_DONE)
			return -1;
		if (header->nlmsg_type == NLMSG_ERROR ||
			is_bound_to(header, file)) /* unknown counts as there */
			return 1;
	}
	return 0;
}

bool aw_unix_has_owner(const struct stat *file)
{
	AW_CLOSE int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	_Alignas(struct nlmsghdr) char bytes[ROOM];
	ssize_t len = 1;
	int found = 0;

	if (fd < 0 || !ask(fd))
		return true;
	while (!found && len > 0) {
		len = recv(fd, bytes, sizeof(bytes), 0);
		if (len < 0 && errno == EINTR)
			len = 1;
		else
			found = len <= 0 ? 1 : look_at(bytes, len, file);
	}
	return found > 0;
}
