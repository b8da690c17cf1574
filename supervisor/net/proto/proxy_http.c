/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_http.c - the head of a request to a proxy, RFC 9112, by the letter.
 *
 * Lines end in CRLF, fields are not folded, nothing that decides where a request ends
 * or goes is said twice.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policy/array.h"
#include "policy/port_text.h"
#include "supervisor/net/proto/proxy_request.h"

enum { METHOD = 32 };

static enum aw_proxy_said bad(
	struct aw_http_mistake *mistake, int status, const char *reason)
{
	*mistake = (struct aw_http_mistake){status, reason};
	return AW_PROXY_BAD;
}

/* Length of the head with its empty line; 0: it goes on. */
static size_t head_length(const char *bytes, size_t len)
{
	const char *end = memmem(bytes, len, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

/* No control characters but CRLF at the end of a line and tabs. */
static bool clean_bytes(const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\r' && i + 1 < len && bytes[i + 1] == '\n')
			i++;
		else if (c == '\r' && i + 1 == len)
			return true;
		else if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* --- the request line --- */

static enum aw_proxy_said read_absolute(struct aw_http_span target,
	struct aw_http_request *ret, struct aw_http_mistake *mistake)
{
	static const char scheme[] = "http://";
	size_t skip = sizeof(scheme) - 1, host;

	if (target.len < skip || strncasecmp(target.bytes, scheme, skip) != 0)
		return bad(mistake, 400,
			"a proxy takes http:// URLs, and CONNECT for all else");
	target.bytes += skip;
	target.len -= skip;
	for (host = 0; host < target.len; host++)
		if (strchr("/?#", target.bytes[host]))
			break;
	if (!aw_proxy_authority_read(target.bytes, host, 80, &ret->to))
		return bad(mistake, 400,
			"the URL has no host and port that can be judged");
	ret->path = (struct aw_http_span){target.bytes + host, target.len - host};
	if (ret->path.len && ret->path.bytes[0] == '?')
		return bad(mistake, 400, "the URL has no path in front of its query");
	if (memchr(ret->path.bytes, '#', ret->path.len))
		return bad(mistake, 400, "the URL has a fragment");
	if (!ret->path.len)
		ret->path = (struct aw_http_span){"/", 1};
	return AW_PROXY_WHOLE;
}

static enum aw_proxy_said read_request_line(struct aw_http_span line,
	struct aw_http_request *ret, struct aw_http_mistake *mistake)
{
	struct aw_http_span target;

	if (!aw_http_cut(&line, ' ', &ret->method) || !aw_http_is_token(ret->method) ||
		ret->method.len > METHOD || !aw_http_cut(&line, ' ', &target) ||
		!target.len)
		return bad(mistake, 400, "the request line is not one of HTTP/1");
	if (line.len != 8 || memcmp(line.bytes, "HTTP/1.", 7) != 0 ||
		(line.bytes[7] != '0' && line.bytes[7] != '1'))
		return bad(mistake, 505, "a proxy speaks HTTP/1.0 and HTTP/1.1");
	ret->old = line.bytes[7] == '0';
	for (size_t i = 0; i < target.len; i++)
		if (target.bytes[i] <= ' ' || target.bytes[i] == '\\' ||
			target.bytes[i] == 0x7f)
			return bad(mistake, 400,
				"the URL has bytes that no URL has unescaped");
	ret->connect =
		ret->method.len == 7 && memcmp(ret->method.bytes, "CONNECT", 7) == 0;
	if (!ret->connect)
		return read_absolute(target, ret, mistake);
	if (!aw_proxy_authority_read(target.bytes, target.len, 0, &ret->to))
		return bad(mistake, 400, "CONNECT takes HOST:PORT and nothing else");
	return AW_PROXY_WHOLE;
}

/* --- the fields --- */

static enum aw_proxy_said read_field(struct aw_http_span line,
	struct aw_http_request *ret, struct aw_http_mistake *mistake)
{
	struct aw_http_span name;

	if (!aw_http_cut(&line, ':', &name) || !aw_http_is_token(name))
		return bad(mistake, 400, "a field is not 'NAME: VALUE' on one line");
	if (ret->fields == AW_HTTP_FIELDS)
		return bad(mistake, 431, "the request has more than 100 fields");
	ret->names[ret->fields] = name;
	ret->values[ret->fields++] = aw_http_trimmed(line);
	return AW_PROXY_WHOLE;
}

static bool same_place(const struct aw_proxy_to *a, const struct aw_proxy_to *b)
{
	return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* What Host says must be where the request goes; CONNECT's may be without the port. */
static bool host_fits(const struct aw_http_request *rq, struct aw_http_span value)
{
	struct aw_proxy_to said;
	uint16_t port = rq->connect ? rq->to.port : 80;

	return aw_proxy_authority_read(value.bytes, value.len, port, &said) &&
	       same_place(&said, &rq->to);
}

static bool read_length(struct aw_http_span value, uint64_t *ret)
{
	uint64_t length = 0;

	if (!value.len || value.len > 18)
		return false;
	for (size_t i = 0; i < value.len; i++) {
		if (value.bytes[i] < '0' || value.bytes[i] > '9')
			return false;
		length = length * 10 + (uint64_t)(value.bytes[i] - '0');
	}
	*ret = length;
	return true;
}

/* Does a list of words, such as Connection has, hold this one? */
static bool lists(struct aw_http_span list, struct aw_http_span word)
{
	struct aw_http_span one;

	while (aw_http_cut(&list, ',', &one) || (one = list, list.len = 0, one.len)) {
		one = aw_http_trimmed(one);
		if (one.len == word.len &&
			strncasecmp(one.bytes, word.bytes, word.len) == 0)
			return true;
	}
	return false;
}

/* Would the field be left out because Connection names it? */
static bool connection_lists(const struct aw_http_request *rq, struct aw_http_span name)
{
	for (size_t i = 0; i < rq->fields; i++)
		if (aw_http_is(rq->names[i], "Connection") &&
			lists(rq->values[i], name))
			return true;
	return false;
}

struct framing {
	unsigned hosts, lengths, encodings;
};

static enum aw_proxy_said look_at_field(struct aw_http_request *ret, size_t i,
	struct framing *seen, struct aw_http_mistake *mistake)
{
	struct aw_http_span name = ret->names[i], value = ret->values[i];

	if (aw_http_is(name, "Host")) {
		if (seen->hosts++ || !host_fits(ret, value))
			return bad(mistake, 400,
				"Host is not the host of the request, or is there twice");
	} else if (aw_http_is(name, "Content-Length")) {
		if (seen->lengths++ || !read_length(value, &ret->length))
			return bad(mistake, 400, "Content-Length is not one number");
	} else if (aw_http_is(name, "Transfer-Encoding")) {
		if (seen->encodings++ || !aw_http_is(value, "chunked"))
			return bad(mistake, 501,
				"Transfer-Encoding is not just 'chunked'");
		ret->chunked = true;
	} else {
		return AW_PROXY_WHOLE;
	}
	if (connection_lists(ret, name))
		return bad(mistake, 400, "Connection names a field that is needed");
	return AW_PROXY_WHOLE;
}

static enum aw_proxy_said look_at_fields(
	struct aw_http_request *ret, struct aw_http_mistake *mistake)
{
	struct framing seen = {0};

	for (size_t i = 0; i < ret->fields; i++)
		if (look_at_field(ret, i, &seen, mistake) == AW_PROXY_BAD)
			return AW_PROXY_BAD;
	if (seen.encodings && (seen.lengths || ret->old))
		return bad(mistake, 400,
			"the body has a length besides Transfer-Encoding, or is of HTTP/1.0");
	if (ret->connect && (ret->length || seen.encodings))
		return bad(mistake, 400, "CONNECT has no body");
	return AW_PROXY_WHOLE;
}

enum aw_proxy_said aw_http_request_read(const char *bytes, size_t len,
	struct aw_http_request *ret, struct aw_http_mistake *ret_mistake)
{
	struct aw_http_span rest = {bytes, len}, line;

	if (len > AW_HTTP_HEAD)
		rest.len = len = AW_HTTP_HEAD;
	ret->head = head_length(bytes, len);
	if (!clean_bytes(bytes, ret->head ? ret->head : len))
		return bad(ret_mistake, 400,
			"the request has control characters or lines without CRLF");
	if (!ret->head)
		return len == AW_HTTP_HEAD
			       ? bad(ret_mistake, 431,
					 "the head of the request is longer than 16384 bytes")
			       : AW_PROXY_MORE;
	ret->fields = 0;
	ret->chunked = false;
	ret->length = 0;
	rest.len = ret->head - 2;
	for (bool first = true; aw_http_cut(&rest, '\n', &line); first = false) {
		line.len--; /* its CR */
		if ((first ? read_request_line(line, ret, ret_mistake)
			   : read_field(line, ret, ret_mistake)) == AW_PROXY_BAD)
			return AW_PROXY_BAD;
	}
	return look_at_fields(ret, ret_mistake);
}

/* --- for the next one on the way --- */

struct text {
	char *to;
	size_t size, len;
	bool full;
};

static void put(struct text *text, const char *bytes, size_t len)
{
	if (text->full || text->size - text->len < len) {
		text->full = true;
		return;
	}
	memcpy(text->to + text->len, bytes, len);
	text->len += len;
}

static void put_text(struct text *text, const char *words)
{
	put(text, words, strlen(words));
}

static void put_span(struct text *text, struct aw_http_span span)
{
	put(text, span.bytes, span.len);
}

/* "host" or "host:port", an IPv6 address in brackets. */
static void put_place(struct text *text, const struct aw_proxy_to *to)
{
	bool brackets = strchr(to->host, ':') != NULL;
	char port[16] = "";

	if (to->port != 80)
		snprintf(port, sizeof(port), ":%u", (unsigned)to->port);
	put_text(text, brackets ? "[" : "");
	put_text(text, to->host);
	put_text(text, brackets ? "]" : "");
	put_text(text, port);
}

/* Between two on the way alone: RFC 9110, 7.6.1, and ours. */
static bool is_between(const struct aw_http_request *rq, struct aw_http_span name)
{
	static const char *const names[] = {"Connection", "Keep-Alive", "Close", "TE",
		"Upgrade", "Host", "Proxy-Connection", "Proxy-Authorization",
		"Proxy-Authenticate"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (aw_http_is(name, names[i]))
			return true;
	return connection_lists(rq, name);
}

size_t aw_http_request_write(const struct aw_http_request *request, bool absolute,
	const char *extra, char *to, size_t size)
{
	struct text text = {to, size, 0, false};

	put_span(&text, request->method);
	put_text(&text, " ");
	if (absolute) {
		put_text(&text, "http://");
		put_place(&text, &request->to);
	}
	put_span(&text, request->path);
	put_text(&text, " HTTP/1.1\r\nHost: ");
	put_place(&text, &request->to);
	put_text(&text, "\r\n");
	for (size_t i = 0; i < request->fields; i++) {
		if (is_between(request, request->names[i]))
			continue;
		put_span(&text, request->names[i]);
		put_text(&text, ": ");
		put_span(&text, request->values[i]);
		put_text(&text, "\r\n");
	}
	put_text(&text, extra);
	put_text(&text, "Connection: close\r\n\r\n");
	return text.full ? 0 : text.len;
}
