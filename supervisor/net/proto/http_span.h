/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_span.h - parts of HTTP/1 heads as they lie in a buffer; nothing is copied.
 */
#ifndef AW_SUPERVISOR_NET_PROTO_HTTP_SPAN_H
#define AW_SUPERVISOR_NET_PROTO_HTTP_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct aw_http_span {
	const char *bytes;
	size_t len;
};

/* The same word, in either case? */
static inline bool aw_http_is(struct aw_http_span span, const char *word)
{
	return span.len == strlen(word) && strncasecmp(span.bytes, word, span.len) == 0;
}

/* A token: RFC 9110, 5.6.2. */
static inline bool aw_http_is_token(struct aw_http_span span)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < span.len; i++) {
		char c = span.bytes[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || (c && strchr(others, c))))
			return false;
	}
	return span.len > 0;
}

/* The bytes in front of a sign, and the rest behind it; false: it is not there. */
static inline bool aw_http_cut(
	struct aw_http_span *rest, char sign, struct aw_http_span *ret)
{
	const char *at = memchr(rest->bytes, sign, rest->len);

	if (!at)
		return false;
	*ret = (struct aw_http_span){rest->bytes, (size_t)(at - rest->bytes)};
	rest->len -= ret->len + 1;
	rest->bytes = at + 1;
	return true;
}

/* Without blanks at its ends. */
static inline struct aw_http_span aw_http_trimmed(struct aw_http_span span)
{
	while (span.len && strchr(" \t", span.bytes[span.len - 1]))
		span.len--;
	while (span.len && strchr(" \t", span.bytes[0])) {
		span.bytes++;
		span.len--;
	}
	return span;
}

#endif
