/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_socks.c - SOCKS version 5, RFC 1928, without passwords. */
#include <string.h>

#include "policy/port_net.h"
#include "supervisor/net/proto/proxy_request.h"

enum { VERSION = 5, OPEN = 0, CONNECT = 1 };
enum { IPV4 = 1, NAME = 3, IPV6 = 4 };

enum aw_proxy_said aw_socks_greeting_read(
	const unsigned char *bytes, size_t len, size_t *ret_len, bool *ret_open)
{
	if (len && bytes[0] != VERSION)
		return AW_PROXY_BAD;
	if (len >= 2 && !bytes[1])
		return AW_PROXY_BAD;
	if (len < 2 || len < 2 + (size_t)bytes[1])
		return AW_PROXY_MORE;
	*ret_len = 2 + (size_t)bytes[1];
	*ret_open = memchr(bytes + 2, OPEN, bytes[1]) != NULL;
	return AW_PROXY_WHOLE;
}

/* Length of an address from its type on, without the port; 0: of no known type. */
static size_t address_length(const unsigned char *bytes)
{
	return bytes[0] == IPV4	  ? 5
	       : bytes[0] == IPV6 ? 17
	       : bytes[0] == NAME ? 2 + (size_t)bytes[1]
				  : 0;
}

static bool read_address(const unsigned char *bytes, struct aw_proxy_to *ret)
{
	char text[64];

	if (bytes[0] == NAME)
		return aw_proxy_host_read((const char *)bytes + 2, bytes[1], ret);
	ret->family = bytes[0] == IPV4 ? AF_INET : AF_INET6;
	memset(ret->bytes, 0, sizeof(ret->bytes));
	memcpy(ret->bytes, bytes + 1, bytes[0] == IPV4 ? 4 : 16);
	return inet_ntop(ret->family, ret->bytes, text, sizeof(text)) &&
	       aw_proxy_host_read(text, strlen(text), ret);
}

enum aw_proxy_said aw_socks_request_read(const unsigned char *bytes, size_t len,
	struct aw_proxy_to *ret, size_t *ret_len, enum aw_socks_reply *ret_reply)
{
	size_t address;

	*ret_reply = AW_SOCKS_FAILED;
	if ((len && bytes[0] != VERSION) || (len >= 3 && bytes[2]))
		return AW_PROXY_BAD;
	if (len >= 2 && bytes[1] != CONNECT) {
		*ret_reply = AW_SOCKS_NO_COMMAND;
		return AW_PROXY_BAD;
	}
	if (len < 5)
		return AW_PROXY_MORE;
	address = address_length(bytes + 3);
	if (!address) {
		*ret_reply = AW_SOCKS_NO_ADDRESS;
		return AW_PROXY_BAD;
	}
	if (len < 3 + address + 2)
		return AW_PROXY_MORE;
	ret->port = (uint16_t)(bytes[3 + address] << 8 | bytes[4 + address]);
	*ret_len = 3 + address + 2;
	return ret->port && read_address(bytes + 3, ret) ? AW_PROXY_WHOLE
							 : AW_PROXY_BAD;
}

size_t aw_socks_request_write(
	const struct aw_proxy_to *to, unsigned char bytes[AW_SOCKS_REQUEST])
{
	size_t len = to->family == AF_INET ? 4 : to->family ? 16 : strlen(to->host);
	size_t n = 4;

	memcpy(bytes, (const unsigned char[]){VERSION, CONNECT, 0, NAME}, 4);
	if (to->family)
		bytes[3] = to->family == AF_INET ? IPV4 : IPV6;
	else
		bytes[n++] = (unsigned char)len;
	memcpy(bytes + n, to->family ? (const void *)to->bytes : to->host, len);
	n += len;
	bytes[n++] = (unsigned char)(to->port >> 8);
	bytes[n++] = (unsigned char)to->port;
	return n;
}

enum aw_proxy_said aw_socks_answer_read(const unsigned char *bytes, size_t len,
	size_t *ret_len, unsigned char *ret_reply)
{
	size_t address;

	if ((len && bytes[0] != VERSION) || (len >= 3 && bytes[2]))
		return AW_PROXY_BAD;
	if (len < 5)
		return AW_PROXY_MORE;
	*ret_reply = bytes[1];
	address = address_length(bytes + 3);
	if (!address)
		return AW_PROXY_BAD;
	*ret_len = 3 + address + 2;
	return len < *ret_len ? AW_PROXY_MORE : AW_PROXY_WHOLE;
}
