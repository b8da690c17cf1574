/* SPDX-License-Identifier: Apache-2.0 */
/* test_hello.c - the server's name in what TLS clients say first. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/net/proto/tls_hello.h"
#include "tests/unit/tap.h"

enum { ROOM = 40000 };

/* A message that is built up. */
struct bytes {
	unsigned char at[ROOM];
	size_t len;
};

static void put(struct bytes *b, const void *bytes, size_t len)
{
	if (len > ROOM - b->len)
		abort();
	memcpy(b->at + b->len, bytes, len);
	b->len += len;
}

static void put_number(struct bytes *b, size_t number, size_t width)
{
	while (width--) {
		unsigned char byte = (unsigned char)(number >> (8 * width));

		put(b, &byte, 1);
	}
}

static void put_vector(struct bytes *b, const struct bytes *content, size_t width)
{
	put_number(b, content->len, width);
	put(b, content->at, content->len);
}

static void put_extension(struct bytes *b, size_t type, const void *bytes, size_t len)
{
	put_number(b, type, 2);
	put_number(b, len, 2);
	put(b, bytes, len);
}

static void put_server_name(struct bytes *b, const char *name, size_t len)
{
	struct bytes list = {.len = 0}, content = {.len = 0};

	put_number(&list, 0, 1);
	put_number(&list, len, 2);
	put(&list, name, len);
	put_vector(&content, &list, 2);
	put_extension(b, 0, content.at, content.len);
}

/* The message around extensions (NULL: none at all). */
static void put_message(struct bytes *b, const struct bytes *extensions)
{
	static const unsigned char suites[] = {0x1a, 0x1a, 0x13, 0x01, 0x13, 0x02},
				   zeroes[32];
	struct bytes body = {.len = 0};

	put_number(&body, 0x0303, 2);
	put(&body, zeroes, 32);
	put_number(&body, 32, 1);
	put(&body, zeroes, 32);
	put_number(&body, sizeof(suites), 2);
	put(&body, suites, sizeof(suites));
	put_number(&body, 1, 1);
	put_number(&body, 0, 1);
	if (extensions)
		put_vector(&body, extensions, 2);
	put_number(b, 1, 1);
	put_vector(b, &body, 3);
}

/* In records of so many bytes each. */
static void put_records(struct bytes *b, const struct bytes *message, size_t size)
{
	for (size_t at = 0; at < message->len; at += size) {
		size_t n = message->len - at < size ? message->len - at : size;

		put_number(b, 22, 1);
		put_number(b, 0x0301, 2);
		put_number(b, n, 2);
		put(b, message->at + at, n);
	}
}

static void hello_of(struct bytes *ret, const struct bytes *extensions, size_t size)
{
	struct bytes message = {.len = 0};

	ret->len = 0;
	put_message(&message, extensions);
	put_records(ret, &message, size);
}

static enum aw_tls_said read_all(const struct bytes *b, struct aw_tls_hello *ret)
{
	/* exactly as long as it is, so that a sanitizer sees what is read beyond */
	unsigned char *copy = malloc(b->len ? b->len : 1);
	enum aw_tls_said said;

	memcpy(copy, b->at, b->len);
	said = aw_tls_hello_read(copy, b->len, ret);
	free(copy);
	return said;
}

static void names_are_found(void)
{
	static const struct {
		const char *sent, *read;
		enum aw_tls_said said;
	} cases[] = {
		{"api.example.com", "api.example.com", AW_TLS_NAMED},
		{"API.Example.COM", "api.example.com", AW_TLS_NAMED},
		{"api.example.com.", "api.example.com", AW_TLS_NAMED},
		{"localhost", "localhost", AW_TLS_NAMED},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", AW_TLS_NAMED},
		{"_dns.resolver.arpa", "_dns.resolver.arpa", AW_TLS_NAMED},
		{"192.0.2.7", "192.0.2.7", AW_TLS_NAMED},
		{"2001:db8::7", "2001:db8::7", AW_TLS_NAMED},
		{"", NULL, AW_TLS_BROKEN},
		{".", NULL, AW_TLS_BROKEN},
		{"a..b", NULL, AW_TLS_BROKEN},
		{".example.com", NULL, AW_TLS_BROKEN},
		{"example.com..", NULL, AW_TLS_BROKEN},
		{"b\xc3\xbc"
		 "cher.example",
			NULL, AW_TLS_BROKEN},
		{"a b.example", NULL, AW_TLS_BROKEN},
		{"example.com:443", NULL, AW_TLS_BROKEN},
		{"user@example.com", NULL, AW_TLS_BROKEN},
		{"*.example.com", NULL, AW_TLS_BROKEN},
		{"0x7f000001", NULL, AW_TLS_BROKEN},
		{"127.1", NULL, AW_TLS_BROKEN},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b",
			NULL, AW_TLS_BROKEN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes extensions = {.len = 0}, hello;
		struct aw_tls_hello found;
		enum aw_tls_said said;

		put_extension(&extensions, 0x3a3a, "", 0); /* RFC 8701 */
		put_server_name(&extensions, cases[i].sent, strlen(cases[i].sent));
		put_extension(&extensions, 0x002b, "\4\x6a\x6a\3\4", 5);
		hello_of(&hello, &extensions, 1000);
		said = read_all(&hello, &found);
		ok(said == cases[i].said &&
				(said != AW_TLS_NAMED ||
					strcmp(found.to.host, cases[i].read) == 0) &&
				!found.encrypted,
			"'%s' is %s", cases[i].sent,
			said == AW_TLS_NAMED ? found.to.host : found.mistake);
	}
}

static void a_nul_in_a_name_is_refused(void)
{
	struct bytes extensions = {.len = 0}, hello;
	struct aw_tls_hello found;

	put_server_name(&extensions, "good.example\0.evil.example", 26);
	hello_of(&hello, &extensions, 1000);
	ok(read_all(&hello, &found) == AW_TLS_BROKEN, "a name with NUL is refused");
}

static void fragments_do_not_matter(void)
{
	static const size_t sizes[] = {1, 2, 3, 5, 7, 64, 16384};
	struct bytes extensions = {.len = 0}, hello;
	struct aw_tls_hello found;

	put_server_name(&extensions, "api.example.com", 15);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		bool patient = true;
		size_t whole;

		hello_of(&hello, &extensions, sizes[i]);
		whole = hello.len;
		for (hello.len = 0; hello.len < whole; hello.len++)
			patient &= read_all(&hello, &found) == AW_TLS_MORE;
		ok(patient && read_all(&hello, &found) == AW_TLS_NAMED &&
				strcmp(found.to.host, "api.example.com") == 0,
			"records of %zu bytes: every byte is waited for", sizes[i]);
	}
	put(&hello, "\x14\3\3\0\1\1", 6);
	ok(read_all(&hello, &found) == AW_TLS_NAMED, "what follows does not matter");
}

static void names_may_be_missing(void)
{
	struct bytes extensions = {.len = 0}, hello;
	struct aw_tls_hello found;

	hello_of(&hello, NULL, 1000);
	ok(read_all(&hello, &found) == AW_TLS_NAMELESS, "no extensions, no name");
	hello_of(&hello, &extensions, 1000);
	ok(read_all(&hello, &found) == AW_TLS_NAMELESS, "none among none");
	put_extension(&extensions, 0x0010, "\0\3\2h2", 5);
	hello_of(&hello, &extensions, 1000);
	ok(read_all(&hello, &found) == AW_TLS_NAMELESS, "none among others");
	put_extension(&extensions, 0xfe0d, "\0\0\1\0\1\0\0\0\0\0", 10);
	hello_of(&hello, &extensions, 1000);
	ok(read_all(&hello, &found) == AW_TLS_NAMELESS && found.encrypted,
		"an encrypted one, and none in front of it");
	put_server_name(&extensions, "public.example", 14);
	hello_of(&hello, &extensions, 1000);
	ok(read_all(&hello, &found) == AW_TLS_NAMED && found.encrypted &&
			strcmp(found.to.host, "public.example") == 0,
		"... and the outer name");
}

static void others_are_told_apart(void)
{
	static const struct {
		const char *what, *bytes;
		size_t len;
		enum aw_tls_said said;
	} cases[] = {
		{"nothing", "", 0, AW_TLS_MORE},
		{"one byte", "\x16", 1, AW_TLS_MORE},
		{"two", "\x16\3", 2, AW_TLS_MORE},
		{"SSH", "SSH-2.0-x\r\n", 11, AW_TLS_OTHER},
		{"HTTP", "GET / HTTP/1.1\r\n", 16, AW_TLS_OTHER},
		{"SSL 2", "\x80\x2e\1\3\1", 5, AW_TLS_OTHER},
		{"an old DTLS", "\x16\xfe\xff\0\0", 5, AW_TLS_OTHER},
		{"version 3.5", "\x16\3\5\0\5", 5, AW_TLS_MORE},
		{"an alert", "\x15\3\1\0\2\1\0", 7, AW_TLS_OTHER},
		{"an empty record", "\x16\3\1\0\0", 5, AW_TLS_BROKEN},
		{"a record too long", "\x16\3\1\x40\1", 5, AW_TLS_BROKEN},
		{"a ServerHello", "\x16\3\1\0\4\2\0\0\0", 9, AW_TLS_BROKEN},
		{"a message too long", "\x16\3\1\0\4\1\1\0\0", 9, AW_TLS_BROKEN},
		{"an empty message", "\x16\3\1\0\4\1\0\0\0", 9, AW_TLS_BROKEN},
		{"an alert in between", "\x16\3\1\0\4\1\0\0\x50\x15\3\1\0\2\1\0", 16,
			AW_TLS_BROKEN},
		{"HTTP in between", "\x16\3\1\0\4\1\0\0\x50GET /", 14, AW_TLS_BROKEN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes b = {.len = 0};
		struct aw_tls_hello found;
		enum aw_tls_said said;

		put(&b, cases[i].bytes, cases[i].len);
		said = read_all(&b, &found);
		ok(said == cases[i].said, "%s%s%s", cases[i].what,
			said == AW_TLS_BROKEN ? ": " : "",
			said == AW_TLS_BROKEN ? found.mistake : "");
	}
}

/* Every length in the message made wrong by one, and every end cut off. */
static void wrong_lengths_are_refused(void)
{
	struct bytes extensions = {.len = 0}, message = {.len = 0}, hello;
	struct aw_tls_hello found;
	/* session, suites, compression, extensions, the name's: two, list, name */
	static const size_t lengths[] = {38, 72, 79, 82, 86, 88, 91};
	bool refused = true, steady = true;
	enum aw_tls_said said;

	put_server_name(&extensions, "api.example.com", 15);
	put_message(&message, &extensions);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		for (int by = -1; by <= 1; by += 2) {
			hello.len = 0;
			message.at[lengths[i]] =
				(unsigned char)(message.at[lengths[i]] + by);
			put_records(&hello, &message, 1000);
			message.at[lengths[i]] =
				(unsigned char)(message.at[lengths[i]] - by);
			refused &= read_all(&hello, &found) == AW_TLS_BROKEN;
		}
	ok(refused, "lengths that do not fit are refused");
	hello.len = 0;
	put_records(&hello, &message, 1000);
	ok(read_all(&hello, &found) == AW_TLS_NAMED, "... the right ones are not");
	for (size_t i = 5; i < hello.len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			hello.at[i] ^= (unsigned char)(1u << bit);
			steady &= read_all(&hello, &found) <= AW_TLS_BROKEN;
			hello.at[i] ^= (unsigned char)(1u << bit);
		}
	ok(steady, "any bit may be wrong");
	put_server_name(&extensions, "api.example.com", 15);
	hello_of(&hello, &extensions, 1000);
	said = read_all(&hello, &found);
	ok(said == AW_TLS_BROKEN, "two names are refused: %s", found.mistake);
	extensions.len = 0;
	put_extension(&extensions, 0, "\0\x08\0\0\1a\0\0\1b", 10);
	hello_of(&hello, &extensions, 1000);
	said = read_all(&hello, &found);
	ok(said == AW_TLS_BROKEN, "two in one list: %s", found.mistake);
	extensions.len = 0;
	put_extension(&extensions, 0, "\0\4\1\0\1a", 6);
	hello_of(&hello, &extensions, 1000);
	said = read_all(&hello, &found);
	ok(said == AW_TLS_BROKEN, "names of another type: %s", found.mistake);
}

static void long_ones_are_read(void)
{
	struct bytes extensions = {.len = 0}, hello;
	static const char padding[15000];
	struct aw_tls_hello found;
	enum aw_tls_said said;

	put_extension(&extensions, 21, padding, sizeof(padding));
	put_server_name(&extensions, "api.example.com", 15);
	hello_of(&hello, &extensions, 1400);
	ok(read_all(&hello, &found) == AW_TLS_NAMED, "15 kB in front of the name");
	put_extension(&extensions, 22, padding, 3000);
	hello_of(&hello, &extensions, 1400);
	said = read_all(&hello, &found);
	ok(said == AW_TLS_BROKEN, "not 18: %s", found.mistake);
}

int main(void)
{
	names_are_found();
	a_nul_in_a_name_is_refused();
	fragments_do_not_matter();
	names_may_be_missing();
	others_are_told_apart();
	wrong_lengths_are_refused();
	long_ones_are_read();
	return done();
}
