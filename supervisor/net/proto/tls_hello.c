/* SPDX-License-Identifier: Apache-2.0 */
/* tls_hello.c - the server's name in the first message of a TLS client. */
#include "supervisor/net/proto/tls_hello.h"

#include <string.h>

enum {
	RECORD_HEAD = 5,
	RECORD_MAX = 16384,
	HANDSHAKE = 22,
	CLIENT_HELLO = 1,
	MESSAGE_HEAD = 4,
	RANDOM = 32,
	SESSION_MAX = 32,
	SERVER_NAME = 0,
	HOST_NAME = 0,
	ENCRYPTED_HELLO = 0xfe0d, /* RFC 9849 */
};

/* What is left of a vector; bad once something was longer than that. */
struct part {
	const unsigned char *at;
	size_t len;
	bool bad;
};

static struct part take(struct part *from, size_t len)
{
	struct part taken = {from->at, len, from->bad || from->len < len};

	if (taken.bad) {
		from->bad = true;
		taken.len = 0;
		return taken;
	}
	from->at += len;
	from->len -= len;
	return taken;
}

static size_t take_number(struct part *from, size_t bytes)
{
	struct part number = take(from, bytes);
	size_t value = 0;

	for (size_t i = 0; i < number.len; i++)
		value = value << 8 | number.at[i];
	return value;
}

/* A vector with its length in front of it. */
static struct part take_vector(struct part *from, size_t bytes)
{
	return take(from, take_number(from, bytes));
}

static enum aw_tls_said broken(struct aw_tls_hello *ret, const char *mistake)
{
	ret->mistake = mistake;
	return AW_TLS_BROKEN;
}

/* One list of one name. */
static enum aw_tls_said read_name(struct part extension, struct aw_tls_hello *ret)
{
	struct part list = take_vector(&extension, 2);
	size_t type = take_number(&list, 1);
	struct part name = take_vector(&list, 2);

	if (extension.bad || list.bad || name.bad || extension.len || list.len ||
		type != HOST_NAME)
		return broken(ret, "its server_name is not one host name");
	if (!aw_proxy_host_read((const char *)name.at, name.len, &ret->to))
		return broken(ret, "its server_name is no name that a server can have");
	return AW_TLS_NAMED;
}

static enum aw_tls_said read_extensions(struct part all, struct aw_tls_hello *ret)
{
	enum aw_tls_said said = AW_TLS_NAMELESS;

	while (all.len && !all.bad) {
		size_t type = take_number(&all, 2);
		struct part extension = take_vector(&all, 2);

		if (all.bad || extension.bad)
			break;
		if (type == ENCRYPTED_HELLO)
			ret->encrypted = true;
		if (type != SERVER_NAME)
			continue;
		if (said != AW_TLS_NAMELESS)
			return broken(ret, "it has server_name twice");
		said = read_name(extension, ret);
		if (said == AW_TLS_BROKEN)
			return said;
	}
	return all.bad ? broken(ret, "its extensions are cut short") : said;
}

static enum aw_tls_said read_message(
	const unsigned char *bytes, size_t len, struct aw_tls_hello *ret)
{
	struct part all = {bytes, len, false}, session, ciphers, compression,
		    extensions;

	take(&all, 2 + RANDOM);
	session = take_vector(&all, 1);
	ciphers = take_vector(&all, 2);
	compression = take_vector(&all, 1);
	if (all.bad || session.bad || ciphers.bad || compression.bad ||
		session.len > SESSION_MAX || ciphers.len % 2 || !ciphers.len ||
		!compression.len)
		return broken(ret, "it is not as RFC 8446 has it");
	if (!all.len) /* TLS 1.2 and older do without any */
		return AW_TLS_NAMELESS;
	extensions = take_vector(&all, 2);
	if (extensions.bad || all.len)
		return broken(ret, "its extensions are not as long as it says");
	return read_extensions(extensions, ret);
}

/*
 * The message out of its records: how much of it is there, or -1, broken.  A record
 * holds at least a byte of it, and one that begins it must not be followed by another
 * kind.
 */
static long gather(const unsigned char *bytes, size_t len, unsigned char *to,
	size_t size, struct aw_tls_hello *ret)
{
	size_t have = 0, at = 0, want = MESSAGE_HEAD;

	while (have < want && at < len) {
		const unsigned char *record = bytes + at;
		size_t left = len - at, whole, some;

		if (record[0] != HANDSHAKE || (left > 1 && record[1] != 3))
			return broken(ret, "another record comes in between"), -1;
		if (left < RECORD_HEAD)
			break;
		whole = (size_t)record[3] << 8 | record[4];
		if (!whole || whole > RECORD_MAX)
			return broken(ret, "a record is empty or too long"), -1;
		left -= RECORD_HEAD;
		some = whole < left ? whole : left;
		if (some > size - have)
			some = size - have;
		memcpy(to + have, record + RECORD_HEAD, some);
		have += some;
		at += RECORD_HEAD + whole;
		if (have >= MESSAGE_HEAD)
			want = MESSAGE_HEAD +
			       ((size_t)to[1] << 16 | (size_t)to[2] << 8 | to[3]);
		if (have && to[0] != CLIENT_HELLO)
			return broken(ret, "it is no ClientHello"), -1;
		if (want > size)
			return broken(ret, "it is longer than 16384 bytes"), -1;
	}
	return have < want ? 0 : (long)want;
}

enum aw_tls_said aw_tls_hello_read(
	const unsigned char *bytes, size_t len, struct aw_tls_hello *ret)
{
	unsigned char message[AW_TLS_HELLO];
	long whole;

	memset(ret, 0, sizeof(*ret));
	if (!len)
		return AW_TLS_MORE;
	/* servers do not look at the rest of the version (RFC 8446, 5.1) */
	if (bytes[0] != HANDSHAKE || (len > 1 && bytes[1] != 3))
		return AW_TLS_OTHER;
	whole = gather(bytes, len, message, sizeof(message), ret);
	if (whole < 0)
		return AW_TLS_BROKEN;
	if (!whole)
		return AW_TLS_MORE;
	return read_message(message + MESSAGE_HEAD, (size_t)whole - MESSAGE_HEAD, ret);
}
