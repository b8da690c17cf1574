/* SPDX-License-Identifier: Apache-2.0 */
/* address.c - socket addresses in words. */
#include "supervisor/audit/address.h"

#include <arpa/inet.h>
#include <string.h>

#define UNIX_PATH offsetof(struct sockaddr_un, sun_path)

bool aw_address_is_unix_path(const union aw_any_address *any, size_t len)
{
	return any->family == AF_UNIX && len > UNIX_PATH && any->un.sun_path[0];
}

/* "@name": the leading NUL of an abstract name shown as @, others stay what they are. */
static struct aw_text abstract_name(
	const union aw_any_address *any, size_t len, char *text, size_t size)
{
	size_t n = len > UNIX_PATH ? len - UNIX_PATH : 0;

	if (n >= size)
		n = size - 1;
	if (n > sizeof(any->un.sun_path))
		n = sizeof(any->un.sun_path);
	memcpy(text, any->un.sun_path, n);
	if (n && !text[0])
		text[0] = '@';
	text[n] = '\0';
	return (struct aw_text){text, n};
}

void aw_address_of(const union aw_any_address *any, struct aw_address *ret)
{
	*ret = (struct aw_address){.family = any->family};
	if (any->family == AF_INET) {
		memcpy(ret->bytes, &any->in.sin_addr, 4);
		ret->port = ntohs(any->in.sin_port);
	} else if (any->family == AF_INET6) {
		memcpy(ret->bytes, &any->in6.sin6_addr, 16);
		ret->port = ntohs(any->in6.sin6_port);
	}
}

void aw_address_describe(const union aw_any_address *any, size_t len,
	struct aw_text path, char *text, size_t size, struct aw_address *ret,
	struct aw_event *event)
{
	aw_address_of(any, ret);
	event->family = any->family;
	event->port = -1;
	event->address = (struct aw_text){NULL, 0};
	if (any->family == AF_INET || any->family == AF_INET6) {
		inet_ntop(any->family, ret->bytes, text, (socklen_t)size);
		event->address = (struct aw_text){text, strlen(text)};
		event->port = ret->port;
	} else if (any->family == AF_UNIX) {
		event->address = aw_address_is_unix_path(any, len)
					 ? path
					 : abstract_name(any, len, text, size);
		ret->path = event->address.bytes;
		ret->path_len = event->address.len;
	}
}
