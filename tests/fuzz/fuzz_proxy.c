/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_proxy.c - a request that is taken says the same when it is written and read
 * again, and says it the same way from then on; more bytes behind it change nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/net/proto/proxy_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same_place(const struct aw_proxy_to *a, const struct aw_proxy_to *b)
{
	return a->port == b->port && a->family == b->family &&
	       strcmp(a->host, b->host) == 0 && memcmp(a->bytes, b->bytes, 16) == 0;
}

static bool same_span(struct aw_http_span a, struct aw_http_span b)
{
	return a.len == b.len && memcmp(a.bytes, b.bytes, a.len) == 0;
}

static void check_place(const struct aw_proxy_to *to)
{
	struct aw_proxy_to again;

	if (!to->port || !aw_proxy_host_read(to->host, strlen(to->host), &again))
		abort();
	again.port = to->port;
	if (!same_place(to, &again))
		abort();
}

static void write_again(const struct aw_http_request *rq)
{
	static char once[AW_HTTP_WRITTEN(2 * AW_HTTP_HEAD)], twice[sizeof(once)];
	struct aw_http_request back;
	struct aw_http_mistake mistake;
	size_t n = aw_http_request_write(rq, true, "", once, sizeof(once)), m;

	if (!n || n > AW_HTTP_WRITTEN(rq->head))
		abort();
	/* what is added may take it over what we ourselves would read */
	if (n > AW_HTTP_HEAD || rq->fields + 2 > AW_HTTP_FIELDS)
		return;
	if (aw_http_request_read(once, n, &back, &mistake) != AW_PROXY_WHOLE ||
		back.head != n || back.connect != rq->connect ||
		!same_place(&back.to, &rq->to) || !same_span(back.method, rq->method) ||
		!same_span(back.path, rq->path) || back.length != rq->length ||
		back.chunked != rq->chunked)
		abort();
	m = aw_http_request_write(&back, true, "", twice, sizeof(twice));
	if (m != n || memcmp(once, twice, n) != 0)
		abort();
}

static void http(const uint8_t *data, size_t size)
{
	struct aw_http_request rq, less;
	struct aw_http_mistake mistake = {0, NULL};
	enum aw_proxy_said r =
		aw_http_request_read((const char *)data, size, &rq, &mistake);

	if (r == AW_PROXY_MORE && size >= AW_HTTP_HEAD)
		abort();
	if (r == AW_PROXY_BAD && (mistake.status < 400 || !mistake.reason))
		abort();
	if (r != AW_PROXY_WHOLE)
		return;
	check_place(&rq.to);
	if (aw_http_request_read((const char *)data, rq.head, &less, &mistake) !=
			AW_PROXY_WHOLE ||
		aw_http_request_read((const char *)data, rq.head - 1, &less,
			&mistake) != AW_PROXY_MORE)
		abort();
	if (!rq.connect)
		write_again(&rq);
}

static void socks(const uint8_t *data, size_t size)
{
	unsigned char back[AW_SOCKS_REQUEST], reply;
	struct aw_proxy_to to, again;
	enum aw_socks_reply bad;
	size_t len = 0, n, m;
	bool open;

	if (aw_socks_greeting_read(data, size, &len, &open) == AW_PROXY_WHOLE &&
		(len > size || len > AW_SOCKS_GREETING))
		abort();
	if (aw_socks_answer_read(data, size, &len, &reply) == AW_PROXY_WHOLE &&
		len > size)
		abort();
	if (aw_socks_request_read(data, size, &to, &len, &bad) != AW_PROXY_WHOLE)
		return;
	if (len > size || len > AW_SOCKS_REQUEST)
		abort();
	check_place(&to);
	n = aw_socks_request_write(&to, back);
	if (n > len + 16 ||
		aw_socks_request_read(back, n, &again, &m, &bad) != AW_PROXY_WHOLE ||
		m != n || !same_place(&to, &again))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	http(data, size);
	socks(data, size);
	return 0;
}
