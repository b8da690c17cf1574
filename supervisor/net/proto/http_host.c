/* SPDX-License-Identifier: Apache-2.0 */
/* http_host.c - from request to request, and where each wants to go. */
#include "supervisor/net/proto/http_host.h"

#include <string.h>
#include <strings.h>

#include "policy/array.h"
#include "policy/port_text.h"

enum {
	METHOD = 32,
	CHUNK_LINE = 256,
	CHUNK_DIGITS = 15,
	LENGTH_DIGITS = 18,
	SPACES_MOST = 64
};

/* What the fields of a head say of its body. */
struct framing {
	unsigned hosts, lengths, encodings;
	bool old, upgrade;
	uint64_t length;
};

static enum aw_http_said broken(struct aw_http_asks *ret, const char *mistake)
{
	ret->mistake = mistake;
	return AW_HTTP_BROKEN;
}

static bool starts(struct aw_http_span span, const char *word)
{
	size_t len = strlen(word);

	return span.len >= len && strncasecmp(span.bytes, word, len) == 0;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A line without its CRLF; false: it has another end, or control characters. */
static bool cut_line(struct aw_http_span *rest, struct aw_http_span *ret)
{
	if (!aw_http_cut(rest, '\n', ret) || !ret->len ||
		ret->bytes[ret->len - 1] != '\r')
		return false;
	ret->len--;
	for (size_t i = 0; i < ret->len; i++) {
		unsigned char c = (unsigned char)ret->bytes[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static bool read_number(struct aw_http_span digits, uint64_t *ret)
{
	uint64_t number = 0;

	if (!digits.len || digits.len > LENGTH_DIGITS)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.bytes[i] < '0' || digits.bytes[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(digits.bytes[i] - '0');
	}
	*ret = number;
	return true;
}

/* --- is this a request? --- */

/* " HTTP/1.x" at the end of a line as far as it is there; 1: yes, 0: so far, -1: no. */
static int looks_like_version(struct aw_http_span version)
{
	static const char text[] = "HTTP/1.";
	size_t len = sizeof(text) - 1;

	if (version.len < len)
		return memcmp(version.bytes, text, version.len) == 0 ? 0 : -1;
	return memcmp(version.bytes, text, len) == 0 ? 1 : -1;
}

/* Does it begin as one of these, as far as it is there? */
static bool begins_as_usual(struct aw_http_span text)
{
	static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE",
		"OPTIONS", "TRACE", "PATCH", "CONNECT", "PROPFIND", "PROPPATCH",
		"MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH"};

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		size_t len = strlen(methods[i]);

		if (memcmp(text.bytes, methods[i], text.len < len ? text.len : len) ==
			0)
			return true;
	}
	return false;
}

/* "METHOD TARGET HTTP/1.x", before the line is whole, too. */
static int looks_like_request(struct aw_http_span text)
{
	struct aw_http_span method, target;
	size_t n = 0;

	while (n < text.len && n <= METHOD &&
		(is_letter(text.bytes[n]) || strchr("-_", text.bytes[n])) &&
		text.bytes[n])
		n++;
	if (n == text.len && n <= METHOD)
		return 0;
	if (!n || n > METHOD || !aw_http_cut(&text, ' ', &method) || method.len != n)
		return -1;
	for (n = 0; n < text.len && (unsigned char)text.bytes[n] > ' '; n++)
		;
	if (n == text.len)
		return 0;
	if (!n || text.bytes[n] != ' ' || !aw_http_cut(&text, ' ', &target))
		return -1;
	return looks_like_version(text);
}

/* --- the request line --- */

static bool add_place(
	struct aw_http_asks *ret, struct aw_http_span authority, uint16_t port)
{
	return aw_proxy_authority_read(
		authority.bytes, authority.len, port, &ret->to[ret->count++]);
}

static uint16_t port_of_scheme(struct aw_http_span scheme)
{
	if (aw_http_is(scheme, "http") || aw_http_is(scheme, "ws"))
		return 80;
	return aw_http_is(scheme, "https") || aw_http_is(scheme, "wss") ? 443 : 0;
}

static bool read_target(struct aw_http_span target, struct aw_http_asks *ret)
{
	struct aw_http_span scheme, authority;

	if (ret->connect)
		return add_place(ret, target, 0);
	if (target.bytes[0] == '/' || aw_http_is(target, "*"))
		return true;
	if (!aw_http_cut(&target, ':', &scheme) || !starts(target, "//"))
		return false;
	authority = (struct aw_http_span){target.bytes + 2, target.len - 2};
	for (size_t i = 0; i < authority.len; i++)
		if (strchr("/?#", authority.bytes[i]))
			authority.len = i;
	return add_place(ret, authority, port_of_scheme(scheme));
}

static enum aw_http_said read_request_line(
	struct aw_http_span line, struct framing *framing, struct aw_http_asks *ret)
{
	struct aw_http_span method, target;

	if (!aw_http_cut(&line, ' ', &method) || !aw_http_is_token(method) ||
		!aw_http_cut(&line, ' ', &target) || !target.len || line.len != 8 ||
		memcmp(line.bytes, "HTTP/1.", 7) != 0 ||
		(line.bytes[7] != '0' && line.bytes[7] != '1'))
		return broken(ret, "its first line is not one of HTTP/1");
	framing->old = line.bytes[7] == '0';
	ret->connect = aw_http_is(method, "CONNECT");
	if (memchr(target.bytes, '\\', target.len) || !read_target(target, ret))
		return broken(ret, "its URL has no host and port that can be judged");
	return AW_HTTP_ASKS;
}

/* --- the fields --- */

/* Without Host, or with an empty one, it asks for no name. */
static enum aw_http_said read_host(struct aw_http_span value, uint16_t port,
	struct framing *framing, struct aw_http_asks *ret)
{
	struct aw_proxy_to place;

	if (framing->hosts++)
		return broken(ret, "it has Host twice");
	if (!value.len)
		return AW_HTTP_ASKS;
	if (!aw_proxy_authority_read(value.bytes, value.len, port, &place))
		return broken(ret, "its Host is no name that a server can have");
	place.port = port;
	/* what a URL or CONNECT says of where it goes is enough said */
	if (ret->count && strcmp(ret->to[0].host, place.host) == 0)
		return AW_HTTP_ASKS;
	if (ret->count)
		ret->to[1] = ret->to[0];
	ret->to[0] = place;
	ret->count++;
	return AW_HTTP_ASKS;
}

static enum aw_http_said read_field(struct aw_http_span line, uint16_t port,
	struct framing *framing, struct aw_http_asks *ret)
{
	struct aw_http_span name, value;

	if (!aw_http_cut(&line, ':', &name) || !aw_http_is_token(name))
		return broken(ret, "a field of it is not 'NAME: VALUE' on one line");
	value = aw_http_trimmed(line);
	if (aw_http_is(name, "Host"))
		return read_host(value, port, framing, ret);
	if (aw_http_is(name, "Content-Length") &&
		(framing->lengths++ || !read_number(value, &framing->length)))
		return broken(ret, "its Content-Length is not one number");
	if (aw_http_is(name, "Transfer-Encoding") &&
		(framing->encodings++ || !aw_http_is(value, "chunked")))
		return broken(ret, "its Transfer-Encoding is not just 'chunked'");
	framing->upgrade |= aw_http_is(name, "Upgrade");
	return AW_HTTP_ASKS;
}

static enum aw_http_said enter_body(struct aw_http_stream *stream,
	const struct framing *framing, struct aw_http_asks *ret)
{
	if (framing->encodings && (framing->lengths || framing->old))
		return broken(ret, "its body has its length said twice");
	if (ret->connect && (framing->encodings || framing->length))
		return broken(ret, "it is a CONNECT with a body");
	stream->at = framing->encodings ? AW_HTTP_AT_CHUNK
		     : framing->length	? AW_HTTP_AT_BODY
					: AW_HTTP_AT_HEAD;
	stream->left = framing->length;
	stream->next =
		ret->connect || framing->upgrade ? AW_HTTP_SWITCHED : AW_HTTP_BOUND;
	return AW_HTTP_ASKS;
}

static enum aw_http_said read_head(struct aw_http_stream *stream,
	struct aw_http_span text, uint16_t port, struct aw_http_asks *ret)
{
	enum aw_http_said said = AW_HTTP_ASKS;
	struct framing framing = {0};
	struct aw_http_span line;

	ret->len = text.len;
	for (bool first = true; said == AW_HTTP_ASKS; first = false) {
		if (!cut_line(&text, &line))
			return broken(
				ret, "it has control characters or lines without CRLF");
		if (!line.len)
			return enter_body(stream, &framing, ret);
		said = first ? read_request_line(line, &framing, ret)
			     : read_field(line, port, &framing, ret);
	}
	return said;
}

/* Servers are lenient with what stands in front of a request. */
static struct aw_http_span behind_spaces(struct aw_http_span text)
{
	while (text.len && strchr("\r\n\t ", text.bytes[0]) && text.bytes[0]) {
		text.bytes++;
		text.len--;
	}
	return text;
}

/* A usual method, in whatever is no request as it should be written: not to be passed. */
static bool resembles_request(struct aw_http_span text)
{
	struct aw_http_span rest = behind_spaces(text);
	size_t letters = 0;

	while (letters < rest.len && is_letter(rest.bytes[letters]))
		letters++;
	return letters > 2 && letters < rest.len &&
	       begins_as_usual((struct aw_http_span){rest.bytes, letters}) &&
	       strchr("\t ", rest.bytes[letters]) && rest.bytes[letters];
}

/* Not a request: another protocol, where one may come. */
static enum aw_http_said at_other(const struct aw_http_stream *stream,
	struct aw_http_span text, struct aw_http_asks *ret)
{
	unsigned char first = (unsigned char)text.bytes[0];

	if (stream->next == AW_HTTP_FIRST)
		return AW_HTTP_OTHER;
	if (stream->next == AW_HTTP_SWITCHED &&
		(first > '~' || (first < ' ' && !strchr("\t\n\v\f\r", first)) ||
			!first || starts(text, "SSH-")))
		return AW_HTTP_OTHER;
	return broken(ret, "what follows it is no request of HTTP/1");
}

static enum aw_http_said at_head(struct aw_http_stream *stream,
	struct aw_http_span text, uint16_t port, struct aw_http_asks *ret)
{
	const char *end;
	int request;

	if (text.bytes[0] == '\r' && (text.len < 2 || text.bytes[1] == '\n')) {
		ret->len = 2; /* an empty line in front, RFC 9112, 2.2 */
		return text.len < 2 ? AW_HTTP_MORE : AW_HTTP_PASSES;
	}
	request =
		stream->usual && stream->next == AW_HTTP_FIRST && !begins_as_usual(text)
			? -1
			: looks_like_request(text);
	if (request < 0 && stream->usual && stream->next == AW_HTTP_FIRST) {
		if (!behind_spaces(text).len && text.len < SPACES_MOST)
			return AW_HTTP_MORE;
		if (!behind_spaces(text).len || resembles_request(text))
			return broken(ret, "it is not written as a request has to be");
	}
	if (request < 0)
		return at_other(stream, text, ret);
	end = memmem(text.bytes, text.len < AW_HTTP_HEAD ? text.len : AW_HTTP_HEAD,
		"\r\n\r\n", 4);
	if (end && request)
		return read_head(stream,
			(struct aw_http_span){
				text.bytes, (size_t)(end - text.bytes) + 4},
			port, ret);
	return end || text.len >= AW_HTTP_HEAD
		       ? broken(ret, "its head is longer than 16384 bytes")
		       : AW_HTTP_MORE;
}

/* --- the body --- */

static enum aw_http_said at_body(struct aw_http_stream *stream,
	struct aw_http_span text, int next, struct aw_http_asks *ret)
{
	ret->len = text.len < stream->left ? text.len : (size_t)stream->left;
	stream->left -= ret->len;
	if (!stream->left)
		stream->at = next;
	return AW_HTTP_PASSES;
}

/* A line of a chunked body; AW_HTTP_PASSES: *ret_line is whole. */
static enum aw_http_said body_line(struct aw_http_span text, size_t most,
	struct aw_http_span *ret_line, struct aw_http_asks *ret)
{
	/* however much of it is there: one that is too long is none */
	const char *end = memchr(text.bytes, '\n', text.len < most ? text.len : most);

	if (!end && text.len < most)
		return AW_HTTP_MORE;
	if (!end || !cut_line(&text, ret_line))
		return broken(ret, "its body has a line that is none of HTTP/1");
	ret->len = ret_line->len + 2;
	return AW_HTTP_PASSES;
}

static bool read_size(struct aw_http_span line, uint64_t *ret)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	size_t n;

	*ret = 0;
	for (n = 0; n < line.len && n <= CHUNK_DIGITS; n++) {
		char c = line.bytes[n];

		c = (char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
		digit = c ? strchr(digits, c) : NULL;
		if (!digit)
			break;
		*ret = *ret << 4 | (uint64_t)(digit - digits);
	}
	return n && n <= CHUNK_DIGITS && (n == line.len || line.bytes[n] == ';');
}

static enum aw_http_said at_chunk(struct aw_http_stream *stream,
	struct aw_http_span text, struct aw_http_asks *ret)
{
	struct aw_http_span line = {NULL, 0};
	enum aw_http_said said = body_line(text, CHUNK_LINE, &line, ret);

	if (said != AW_HTTP_PASSES)
		return said;
	if (!read_size(line, &stream->left))
		return broken(ret, "a chunk of its body has no size");
	stream->at = stream->left ? AW_HTTP_AT_DATA : AW_HTTP_AT_TRAILER;
	return AW_HTTP_PASSES;
}

static enum aw_http_said at_end(struct aw_http_stream *stream, struct aw_http_span text,
	struct aw_http_asks *ret)
{
	if (memcmp(text.bytes, "\r\n", text.len < 2 ? text.len : 2) != 0)
		return broken(ret, "a chunk of its body is longer than it says");
	if (text.len < 2)
		return AW_HTTP_MORE;
	ret->len = 2;
	stream->at = AW_HTTP_AT_CHUNK;
	return AW_HTTP_PASSES;
}

static enum aw_http_said at_trailer(struct aw_http_stream *stream,
	struct aw_http_span text, struct aw_http_asks *ret)
{
	struct aw_http_span line = {NULL, 0};
	enum aw_http_said said = body_line(text, AW_HTTP_HEAD, &line, ret);

	if (said == AW_HTTP_PASSES && !line.len)
		stream->at = AW_HTTP_AT_HEAD;
	return said;
}

enum aw_http_said aw_http_stream_next(struct aw_http_stream *stream, const char *bytes,
	size_t len, uint16_t port, struct aw_http_asks *ret)
{
	struct aw_http_span text = {bytes, len};

	ret->len = 0;
	ret->count = 0;
	ret->connect = false;
	ret->mistake = NULL;
	if (!len)
		return AW_HTTP_MORE;
	switch (stream->at) {
	case AW_HTTP_AT_HEAD:
		return at_head(stream, text, port, ret);
	case AW_HTTP_AT_BODY:
		return at_body(stream, text, AW_HTTP_AT_HEAD, ret);
	case AW_HTTP_AT_CHUNK:
		return at_chunk(stream, text, ret);
	case AW_HTTP_AT_DATA:
		return at_body(stream, text, AW_HTTP_AT_END, ret);
	case AW_HTTP_AT_END:
		return at_end(stream, text, ret);
	case AW_HTTP_AT_TRAILER:
		return at_trailer(stream, text, ret);
	}
	return AW_HTTP_BROKEN;
}
