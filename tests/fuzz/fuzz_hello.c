/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_hello.c - what a client asks for does not depend on how its bytes arrive: once
 * something is said of the beginning, what follows changes nothing; a TLS message says
 * the same in records of one byte each, and a stream of HTTP/1 in pieces.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/net/proto/http_host.h"
#include "supervisor/net/proto/tls_hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static bool same_hello(const struct aw_tls_hello *a, const struct aw_tls_hello *b)
{
	return strcmp(a->to.host, b->to.host) == 0 && a->encrypted == b->encrypted &&
	       a->to.family == b->to.family;
}

/* The message of these records, a byte in each. */
static size_t split(const uint8_t *data, size_t size, uint8_t *to, size_t room)
{
	size_t n = 0, at = 0;

	while (size - at > 5 && data[at] == 22) {
		size_t len = (size_t)data[at + 3] << 8 | data[at + 4];

		at += 5;
		for (; len && at < size; len--, at++) {
			check(room - n >= 6);
			memcpy(to + n, "\x16\3\1\0\1", 5);
			to[n + 5] = data[at];
			n += 6;
		}
	}
	return n;
}

static void check_tls(const uint8_t *data, size_t size)
{
	struct aw_tls_hello whole, part;
	enum aw_tls_said said = aw_tls_hello_read(data, size, &whole);
	size_t step = size / 64 + 1, room = 6 * size + 1;
	uint8_t *bytes = malloc(room);

	check(bytes != NULL);
	check(said != AW_TLS_BROKEN || whole.mistake);
	for (size_t n = 0; n < size; n += step) {
		enum aw_tls_said early = aw_tls_hello_read(data, n, &part);

		check(early == AW_TLS_MORE ||
			(early == said && same_hello(&part, &whole)));
	}
	if (said == AW_TLS_NAMED || said == AW_TLS_NAMELESS) {
		size_t n = split(data, size, bytes, room);

		check(aw_tls_hello_read(bytes, n, &part) == said &&
			same_hello(&part, &whole));
		check(aw_tls_hello_read(bytes, 6, &part) == AW_TLS_MORE);
	}
	free(bytes);
}

struct summary {
	uint64_t hash;
	enum aw_http_said last;
};

static void add(struct summary *sum, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum->hash = (sum->hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
}

/* All that is asked for, told so many bytes more at a time. */
static struct summary ask(const char *text, size_t size, size_t pieces)
{
	struct summary sum = {.hash = 1, .last = AW_HTTP_MORE};
	struct aw_http_stream stream = {0};
	size_t from = 0, known = 0;

	while (known < size || from < known) {
		struct aw_http_asks asks;

		sum.last = aw_http_stream_next(
			&stream, text + from, known - from, 80, &asks);
		if (sum.last == AW_HTTP_OTHER || sum.last == AW_HTTP_BROKEN) {
			check(sum.last == AW_HTTP_OTHER || asks.mistake);
			break;
		}
		if (sum.last == AW_HTTP_MORE) {
			check(known - from < AW_HTTP_HEAD);
			if (known == size)
				break;
			known = size - known < pieces ? size : known + pieces;
			continue;
		}
		check(asks.len && asks.len <= known - from && asks.count <= 2);
		from += asks.len;
		if (sum.last == AW_HTTP_PASSES)
			continue;
		add(&sum, &asks.connect, sizeof(asks.connect));
		for (unsigned i = 0; i < asks.count; i++) {
			add(&sum, asks.to[i].host, strlen(asks.to[i].host) + 1);
			add(&sum, &asks.to[i].port, sizeof(asks.to[i].port));
		}
	}
	if (sum.last == AW_HTTP_PASSES || sum.last == AW_HTTP_ASKS)
		sum.last = AW_HTTP_MORE;
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct summary whole, pieces;

	if (size > 40000)
		return 0;
	check_tls(data, size);
	whole = ask(text, size, size);
	for (size_t n = 1; n < 4; n++) {
		pieces = ask(text, size < 2000 ? size : 2000, n);
		if (size <= 2000)
			check(pieces.hash == whole.hash && pieces.last == whole.last);
	}
	return 0;
}
