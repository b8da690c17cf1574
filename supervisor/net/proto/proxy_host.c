/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_host.c - where a client wants to go: a name or an address, and a port. */
#include <string.h>

#include "policy/port_net.h"
#include "supervisor/net/proto/proxy_request.h"

enum { LABEL = 63 };

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Small letters, labels of 1 to 63 bytes; *ret_last is where the last one begins. */
static bool good_labels(const char *name, size_t len, size_t *ret_last)
{
	size_t start = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && name[i] != '.') {
			if (!is_name_byte(name[i]))
				return false;
			continue;
		}
		if (i == start || i - start > LABEL)
			return false;
		*ret_last = start;
		start = i + 1;
	}
	return true;
}

/* inet_aton(3) takes such a name for a number: 1, 127.1, 0x7f.0.0.1 */
static bool ends_in_number(const char *label)
{
	if (label[0] == '0' && label[1] == 'x')
		return label[2 + strspn(label + 2, "0123456789abcdef")] == '\0';
	return label[strspn(label, "0123456789")] == '\0';
}

static bool read_address(
	const char *text, size_t len, int family, struct aw_proxy_to *ret)
{
	char address[INET6_ADDRSTRLEN];

	if (len >= sizeof(address) || memchr(text, '\0', len))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(family, address, ret->bytes) != 1)
		return false;
	ret->family = family;
	return inet_ntop(family, ret->bytes, ret->host, sizeof(ret->host)) != NULL;
}

bool aw_proxy_host_read(const char *text, size_t len, struct aw_proxy_to *ret)
{
	size_t last = 0;

	ret->family = 0;
	memset(ret->bytes, 0, sizeof(ret->bytes));
	if (len > 2 && text[0] == '[' && text[len - 1] == ']')
		return read_address(text + 1, len - 2, AF_INET6, ret);
	if (len && memchr(text, ':', len))
		return read_address(text, len, AF_INET6, ret);
	if (len > 1 && text[len - 1] == '.')
		len--;
	if (!len || len > AW_PROXY_HOST)
		return false;
	for (size_t i = 0; i < len; i++)
		ret->host[i] =
			(char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a'
								: text[i]);
	ret->host[len] = '\0';
	if (!good_labels(ret->host, len, &last))
		return false;
	return !ends_in_number(ret->host + last) ||
	       read_address(text, len, AF_INET, ret);
}

static bool read_port(const char *text, size_t len, uint16_t *ret)
{
	unsigned port = 0;

	if (!len || len > 5)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		port = port * 10 + (unsigned)(text[i] - '0');
	}
	if (!port || port > UINT16_MAX)
		return false;
	*ret = (uint16_t)port;
	return true;
}

bool aw_proxy_authority_read(
	const char *text, size_t len, uint16_t fallback, struct aw_proxy_to *ret)
{
	size_t host = len;

	for (size_t i = 0; i < len && host == len; i++)
		if (text[i] == ':' && text[0] != '[')
			host = i;
		else if (text[i] == ']' && text[0] == '[')
			host = i + 1;
	ret->port = fallback;
	if (host == len && !fallback)
		return false;
	if (host < len && (text[host] != ':' || !read_port(text + host + 1,
							len - host - 1, &ret->port)))
		return false;
	return aw_proxy_host_read(text, host, ret);
}
