/* SPDX-License-Identifier: Apache-2.0 */
/* test_http_host.c - the hosts that the requests on a connection ask for. */
#include <stdlib.h>
#include <string.h>

#include "supervisor/net/proto/http_host.h"
#include "tests/unit/tap.h"

/*
 * What is read of a text, as words: "host:port" of each place that is asked for, "-"
 * for a request without, "OTHER", "BROKEN", and "..." where it goes on.  pieces: told
 * so many bytes more at a time.
 */
static void read_all(const char *text, size_t len, size_t pieces, char *to, size_t size,
	const char **ret_mistake)
{
	struct aw_http_stream stream = {0};
	size_t from = 0, known = 0, n = 0;

	*to = '\0';
	*ret_mistake = "";
	while (known < len || from < known) {
		struct aw_http_asks asks;
		enum aw_http_said said;
		char *copy = malloc(known - from + 1);

		memcpy(copy, text + from, known - from);
		said = aw_http_stream_next(&stream, copy, known - from, 80, &asks);
		free(copy);
		from += said == AW_HTTP_ASKS || said == AW_HTTP_PASSES ? asks.len : 0;
		if (said == AW_HTTP_ASKS && !asks.count)
			n += (size_t)snprintf(to + n, size - n, "- ");
		for (unsigned i = 0; said == AW_HTTP_ASKS && i < asks.count; i++)
			n += (size_t)snprintf(to + n, size - n, "%s%s:%u ",
				asks.connect && i + 1 == asks.count ? "->" : "",
				asks.to[i].host, (unsigned)asks.to[i].port);
		if (said == AW_HTTP_OTHER || said == AW_HTTP_BROKEN) {
			snprintf(to + n, size - n,
				said == AW_HTTP_OTHER ? "OTHER " : "BROKEN ");
			*ret_mistake = asks.mistake ? asks.mistake : "";
			return;
		}
		if (said != AW_HTTP_MORE)
			continue;
		if (known == len) {
			snprintf(to + n, size - n, "... ");
			return;
		}
		known = len - known < pieces ? len : known + pieces;
	}
}

#define GET "GET / HTTP/1.1\r\n"

static const struct {
	const char *text, *read;
} cases[] = {
	{"", ""},
	{GET "Host: a.example\r\n\r\n", "a.example:80 "},
	{GET "hOSt:A.Example.:80\r\n\r\n", "a.example:80 "},
	{GET "Host: a.example:8080\r\n\r\n", "a.example:80 "},
	{GET "Host: 192.0.2.7\r\n\r\n", "192.0.2.7:80 "},
	{GET "Host: [2001:db8::7]:80\r\n\r\n", "2001:db8::7:80 "},
	{GET "\r\n", "- "},
	{GET "Host:\r\n\r\n", "- "},
	{"GET / HTTP/1.0\r\n\r\n", "- "},
	{"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "a:80 "},
	{"M-SEARCH /x HTTP/1.1\r\nHost: a\r\n\r\n", "a:80 "},
	{"\r\n\r\n" GET "Host: a\r\n\r\n", "a:80 "},
	{GET "X: y\r\nHost: a\r\nZ: \xff\t\r\n\r\n", "a:80 "},
	/* one after the other */
	{GET "Host: a\r\n\r\n" GET "Host: b\r\n\r\n", "a:80 b:80 "},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 16\r\n\r\n" GET GET
	 "Host: b\r\n\r\n",
		"a:80 b:80 "},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
	 "10;x=y\r\n" GET "\r\n0\r\nX: y\r\n\r\n" GET "Host: b\r\n\r\n",
		"a:80 b:80 "},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
	 "00\r\n\r\n\r\n" GET "Host: b\r\n\r\nG",
		"a:80 b:80 ... "},
	/* URLs and CONNECT */
	{"GET http://b.example/x HTTP/1.1\r\nHost: a\r\n\r\n", "a:80 b.example:80 "},
	{"GET http://A:8080?x HTTP/1.1\r\nHost: a:8080\r\n\r\n", "a:8080 "},
	{"GET HTTPS://b HTTP/1.1\r\n\r\n", "b:443 "},
	{"CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n", "->b:443 "},
	{"CONNECT b:443 HTTP/1.1\r\nHost: a\r\n\r\n\x16\3\1", "a:80 ->b:443 OTHER "},
	{"CONNECT b:22 HTTP/1.1\r\n\r\nSSH-2.0-x\r\n", "->b:22 OTHER "},
	{"CONNECT b:80 HTTP/1.1\r\n\r\n" GET "Host: c\r\n\r\n", "->b:80 c:80 "},
	{"CONNECT b:80 HTTP/1.1\r\n\r\nGET  / HTTP/1.1\r\n", "->b:80 BROKEN "},
	{"CONNECT b HTTP/1.1\r\n\r\n", "BROKEN "},
	{"CONNECT b:80 HTTP/1.1\r\nContent-Length: 1\r\n\r\n", "BROKEN "},
	{"GET http://u@b/ HTTP/1.1\r\n\r\n", "BROKEN "},
	{"GET http://a\\@b/ HTTP/1.1\r\n\r\n", "BROKEN "},
	{"GET http:b HTTP/1.1\r\n\r\n", "BROKEN "},
	{"GET x://b/ HTTP/1.1\r\n\r\n", "BROKEN "},
	{"GET b HTTP/1.1\r\n\r\n", "BROKEN "},
	/* other protocols */
	{"SSH-2.0-x\r\n", "OTHER "},
	{"SSH", "... "},
	{"EHLO me\r\n", "OTHER "},
	{"GET /\r\n", "OTHER "},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "OTHER "},
	{"RTSP rtsp://a/ RTSP/1.0\r\n", "OTHER "},
	{"\x16\3\1", "OTHER "},
	{"\n", "OTHER "},
	{" " GET, "OTHER "},
	{"GET  / HTTP/1.1\r\n", "OTHER "},
	{"GET\t/ HTTP/1.1\r\n", "OTHER "},
	{"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "OTHER "},
	/* an upgrade that may not have been understood */
	{GET "Host: a\r\nUpgrade: websocket\r\n\r\n\x81\x85", "a:80 OTHER "},
	{GET "Host: a\r\nUpgrade: x\r\n\r\n" GET "Host: b\r\n\r\n", "a:80 b:80 "},
	{GET "Host: a\r\nUpgrade: h2c\r\n\r\nPRI * HTTP/2.0\r\n", "a:80 BROKEN "},
	{GET "Host: a\r\nUpgrade: x\r\n\r\n\n" GET, "a:80 BROKEN "},
	{GET "Host: a\r\n\r\n\x81\x85", "a:80 BROKEN "},
	{GET "Host: a\r\n\r\nhello\r\n", "a:80 BROKEN "},
	/* what two could read in two ways */
	{GET "Host: a\r\nHost: b\r\n\r\n", "BROKEN "},
	{GET "Host : a\r\n\r\n", "BROKEN "},
	{GET "Host: a\r\n b\r\n\r\n", "BROKEN "},
	{GET " Host: a\r\n\r\n", "BROKEN "},
	{GET "Host: a\nHost: b\r\n\r\n", "BROKEN "},
	{GET "Host: a b\r\n\r\n", "BROKEN "},
	{GET "Host: a, b\r\n\r\n", "BROKEN "},
	{GET "Host: a:b\r\n\r\n", "BROKEN "},
	{GET "Host: a@b\r\n\r\n", "BROKEN "},
	{GET "Host: 127.1\r\n\r\n", "BROKEN "},
	{GET "X: \rHost: b\r\n\r\n", "BROKEN "},
	{GET "X\r\n\r\n", "BROKEN "},
	{"GET / HTTP/1.11\r\n\r\n", "BROKEN "},
	{"GET / x HTTP/1.1\r\n\r\n", "OTHER "},
	{GET "Host: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", "BROKEN "},
	{GET "Host: a\r\nContent-Length: 1, 1\r\n\r\n", "BROKEN "},
	{GET "Host: a\r\nContent-Length: -1\r\n\r\n", "BROKEN "},
	{GET "Host: a\r\nContent-Length: +1\r\n\r\n", "BROKEN "},
	{GET "Host: a\r\nContent-Length: 0x1\r\n\r\n", "BROKEN "},
	{GET "Host: a\r\nContent-Length: 9999999999999999999\r\n\r\n", "BROKEN "},
	{GET "Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"BROKEN "},
	{GET "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "BROKEN "},
	{GET "Host: a\r\nTransfer-Encoding: xchunked\r\n\r\n", "BROKEN "},
	{"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "BROKEN "},
	{GET "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n",
		"a:80 BROKEN "},
	{GET "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n",
		"a:80 BROKEN "},
	{GET "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n",
		"a:80 BROKEN "},
	{GET "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n",
		"a:80 BROKEN "},
	{GET "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", "a:80 BROKEN "},
	{GET "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n1234567890123456\r\n",
		"a:80 BROKEN "},
};

static void check_one(const char *text, size_t len, const char *wanted)
{
	char whole[256], bit[256], line[48];
	const char *mistake, *again;
	bool same = true;

	read_all(text, len, len, whole, sizeof(whole), &mistake);
	for (size_t pieces = 1; pieces < 8; pieces++) {
		read_all(text, len, pieces, bit, sizeof(bit), &again);
		same &= strcmp(bit, whole) == 0;
	}
	snprintf(line, sizeof(line), "%s", text);
	for (char *c = line; *c; c++)
		if (*c < ' ' || *c == '#')
			*c = '~';
	ok(strcmp(whole, wanted) == 0 && same, "%s: %s%s%s", line, whole, mistake,
		same ? "" : " (not so in pieces)");
}

static void long_ones_are_refused(void)
{
	enum { SIZE = 40000 };
	char *text = malloc(SIZE), words[64];
	const char *mistake;
	size_t n = (size_t)snprintf(text, SIZE, GET "Host: a\r\nX: ");

	memset(text + n, 'x', SIZE - n);
	read_all(text, SIZE, 1000, words, sizeof(words), &mistake);
	ok(strcmp(words, "BROKEN ") == 0, "a long head: %s", mistake);
	memcpy(text + AW_HTTP_HEAD - 100, "\r\n\r\n", 4);
	read_all(text, AW_HTTP_HEAD - 96, 1000, words, sizeof(words), &mistake);
	ok(strcmp(words, "a:80 ") == 0, "just not too long");
	n = (size_t)snprintf(
		text, SIZE, GET "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n5;");
	memset(text + n, 'x', SIZE - n);
	read_all(text, SIZE, 100, words, sizeof(words), &mistake);
	ok(strcmp(words, "a:80 BROKEN ") == 0, "a long line in a body: %s", mistake);
	free(text);
}

static void few_letters_are_not_waited_for(void)
{
	static const struct {
		const char *text;
		enum aw_http_said said;
	} usual[] = {{"x", AW_HTTP_OTHER}, {"PING", AW_HTTP_OTHER}, {"G", AW_HTTP_MORE},
		{"GET / HTTP/1.", AW_HTTP_MORE}, {"GETX / HTTP/1.1", AW_HTTP_MORE},
		{"POST\r", AW_HTTP_OTHER}, {"get /", AW_HTTP_OTHER},
		{"\n", AW_HTTP_MORE}, {"\nGET / HTTP/1.1", AW_HTTP_BROKEN},
		{"GET  / HTTP/1.1", AW_HTTP_BROKEN},
		{"GET\t/ HTTP/1.1", AW_HTTP_BROKEN},
		{"\r\rPOST / HTTP/1.1", AW_HTTP_BROKEN},
		{"GET / http/1.1\r\n", AW_HTTP_BROKEN},
		{"GET / HTTP/2.0\r\n", AW_HTTP_BROKEN}, {"\nPING", AW_HTTP_OTHER}};
	struct aw_http_asks asks;

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		struct aw_http_stream stream = {.usual = true};

		ok(aw_http_stream_next(&stream, usual[i].text, strlen(usual[i].text),
			   80, &asks) == usual[i].said,
			"of the usual ones case %zu", i);
	}
}

int main(void)
{
	static const char nul[] = GET "Host: a\0.b\r\n\r\n";

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_one(cases[i].text, strlen(cases[i].text), cases[i].read);
	check_one(nul, sizeof(nul) - 1, "BROKEN ");
	long_ones_are_refused();
	few_letters_are_not_waited_for();
	return done();
}
