/* SPDX-License-Identifier: Apache-2.0 */
/* unix_listens.c - the bound Unix sockets, by sock_diag(7). */
#include "supervisor/linux/netns/unix_listens.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>

#include "supervisor/util/cleanup.h"

enum { ROOM = 32768, MAJOR_SHIFT = 20 /* of the kernel's own dev_t */ };

/* What is looked for, among all that there are. */
struct search {
	uint32_t show; /* UDIAG_SHOW_* */
	bool (*is_it)(const struct search *s, const struct nlmsghdr *header);
	const struct stat *file;
	const char *dir;
	size_t dir_len;
	aw_unix_seen *seen;
	void *arg;
};

static bool ask(int fd, const struct search *s)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req is;
	} request = {.header = {.nlmsg_len = sizeof(request),
			     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			     .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.is = {.sdiag_family = AF_UNIX,
			.udiag_states = ~0U,
			.udiag_show = s->show}};

	return send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request);
}

/* An attribute of the answer, or NULL. */
static const struct rtattr *find(const struct nlmsghdr *header, unsigned short type)
{
	const struct unix_diag_msg *about = NLMSG_DATA(header);
	const struct rtattr *attribute = (const void *)(about + 1);
	int left = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof(*about)));

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		if (attribute->rta_type == type)
			return attribute;
	return NULL;
}

static bool is_bound_to(const struct search *s, const struct nlmsghdr *header)
{
	uint32_t device = (uint32_t)major(s->file->st_dev) << MAJOR_SHIFT |
			  (uint32_t)minor(s->file->st_dev);
	const struct rtattr *attribute = find(header, UNIX_DIAG_VFS);
	struct unix_diag_vfs vfs;

	if (!attribute)
		return false;
	memcpy(&vfs, RTA_DATA(attribute), sizeof(vfs));
	return vfs.udiag_vfs_ino == (uint32_t)s->file->st_ino &&
	       vfs.udiag_vfs_dev == device;
}

static bool is_below(const struct search *s, const struct nlmsghdr *header)
{
	const struct unix_diag_msg *about = NLMSG_DATA(header);
	const struct rtattr *attribute = find(header, UNIX_DIAG_NAME);
	const char *name;
	size_t len;

	if (!attribute)
		return false;
	name = RTA_DATA(attribute);
	len = strnlen(name, RTA_PAYLOAD(attribute));
	return len > s->dir_len && memcmp(name, s->dir, s->dir_len) == 0 &&
	       name[s->dir_len] == '/' &&
	       s->seen(s->arg, about->udiag_ino, name + s->dir_len, len - s->dir_len);
}

enum answer { MORE, FOUND, NONE, UNKNOWN };

static enum answer look_at(char *bytes, ssize_t len, const struct search *s)
{
	const struct nlmsghdr *header = (const void *)bytes;

	for (; NLMSG_OK(header, len); header = NLMSG_NEXT(header, len)) {
		if (header->nlmsg_type == NLMSG_DONE)
			return NONE;
		if (header->nlmsg_type == NLMSG_ERROR)
			return UNKNOWN;
		if (s->is_it(s, header))
			return FOUND;
	}
	return MORE;
}

static enum answer look_for(const struct search *s)
{
	AW_CLOSE int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	_Alignas(struct nlmsghdr) char bytes[ROOM];
	enum answer answer = MORE;
	ssize_t len;

	if (fd < 0 || !ask(fd, s))
		return UNKNOWN;
	while (answer == MORE) {
		len = recv(fd, bytes, sizeof(bytes), 0);
		if (len < 0 && errno == EINTR)
			continue;
		answer = len <= 0 ? UNKNOWN : look_at(bytes, len, s);
	}
	return answer;
}

bool aw_unix_has_owner(const struct stat *file)
{
	return look_for(&(struct search){
		       .show = UDIAG_SHOW_VFS, .is_it = is_bound_to, .file = file}) !=
	       NONE;
}

bool aw_unix_any_below(const char *dir, size_t len, aw_unix_seen *seen, void *arg)
{
	return look_for(&(struct search){.show = UDIAG_SHOW_NAME,
		       .is_it = is_below,
		       .dir = dir,
		       .dir_len = len,
		       .seen = seen,
		       .arg = arg}) == FOUND;
}
