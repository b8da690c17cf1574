/* SPDX-License-Identifier: Apache-2.0 */
/* message.c - headers, vectors and control messages of sendmsg(2). */
#include "supervisor/linux/sockets/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct aw_message_header aw_message_header(const void *bytes, int word)
{
	uint32_t narrow[7];
	uint64_t wide[7];

	if (word == 8) {
		memcpy(wide, bytes, sizeof(wide));
		return (struct aw_message_header){
			wide[0], (uint32_t)wide[1], wide[2], wide[3], wide[4], wide[5]};
	}
	memcpy(narrow, bytes, sizeof(narrow));
	return (struct aw_message_header){
		narrow[0], narrow[1], narrow[2], narrow[3], narrow[4], narrow[5]};
}

void aw_message_part(const void *bytes, int word, uint64_t *ret_base, uint64_t *ret_len)
{
	uint32_t narrow[2];
	uint64_t wide[2];

	if (word == 8) {
		memcpy(wide, bytes, sizeof(wide));
		*ret_base = wide[0];
		*ret_len = wide[1];
		return;
	}
	memcpy(narrow, bytes, sizeof(narrow));
	*ret_base = narrow[0];
	*ret_len = narrow[1];
}

int aw_control_widen(char **control, size_t *len)
{
	size_t at = 0, n = 0;
	uint32_t head[3];
	char *wide = calloc(2, *len);

	if (!wide)
		return ENOMEM;
	for (; *len - at >= sizeof(head); at += (head[0] + 3) & ~3u) {
		struct cmsghdr *c = (struct cmsghdr *)(void *)(wide + n);

		memcpy(head, *control + at, sizeof(head));
		if (head[0] < sizeof(head) || head[0] > *len - at) {
			free(wide);
			return EINVAL;
		}
		c->cmsg_len = CMSG_LEN(head[0] - sizeof(head));
		c->cmsg_level = (int)head[1];
		c->cmsg_type = (int)head[2];
		memcpy(CMSG_DATA(c), *control + at + sizeof(head),
			head[0] - sizeof(head));
		n += CMSG_SPACE(head[0] - sizeof(head));
		if (((head[0] + 3) & ~3u) > *len - at)
			break;
	}
	free(*control);
	*control = wide;
	*len = n;
	return 0;
}

int aw_control_walk(
	char *control, size_t *len, bool addressed, aw_control_visit visit, void *data)
{
	size_t at = 0, left, size;
	int err = 0;

	while (!err && (left = *len - at) >= sizeof(struct cmsghdr)) {
		struct cmsghdr *c = (struct cmsghdr *)(void *)(control + at);

		if (c->cmsg_len < CMSG_LEN(0) || c->cmsg_len > left)
			return EINVAL;
		size = CMSG_ALIGN(c->cmsg_len) < left ? CMSG_ALIGN(c->cmsg_len) : left;
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			if (addressed)
				return EPERM;
			memmove(c, (char *)c + size, left - size);
			*len -= size;
			continue;
		}
		err = visit(data, c->cmsg_level, c->cmsg_type,
			(int *)(void *)CMSG_DATA(c),
			(c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		at += size;
	}
	return err;
}
