/* SPDX-License-Identifier: Apache-2.0 */
/* test_proxy.c - what clients say to a proxy is read one way or not at all. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/net/proto/proxy_request.h"
#include "tests/unit/tap.h"

#define LINE "\r\n"
#define END "\r\n\r\n"
#define GET "GET http://a.test/x HTTP/1.1\r\n"
#define LONG63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void hosts_are_names_or_addresses(void)
{
	static const struct {
		const char *text, *host; /* NULL: refused */
		int family;
	} cases[] = {
		{"example.com", "example.com", 0},
		{"EXAMPLE.Com.", "example.com", 0},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", 0},
		{"a_b-c.test", "a_b-c.test", 0},
		{"localhost", "localhost", 0},
		{"192.0.2.1", "192.0.2.1", AF_INET},
		{"[2001:db8:0::1]", "2001:db8::1", AF_INET6},
		{"::1", "::1", AF_INET6},
		{"[::ffff:127.0.0.1]", "::ffff:127.0.0.1", AF_INET6},
		{LONG63 ".test", LONG63 ".test", 0},
		{"a" LONG63 ".test", NULL, 0},
		{LONG63 "." LONG63 "." LONG63 "." LONG63, NULL, 0},
		{"", NULL, 0},
		{".", NULL, 0},
		{"a..b", NULL, 0},
		{".a", NULL, 0},
		{"a.test..", NULL, 0},
		{"a b", NULL, 0},
		{"a/b", NULL, 0},
		{"a%00b", NULL, 0},
		{"user@host", NULL, 0},
		{"b\xc3\xbc"
		 "cher.example",
			NULL, 0},
		{"127.1", NULL, 0},
		{"2130706433", NULL, 0},
		{"0x7f000001", NULL, 0},
		{"0x7f.0.0.1", NULL, 0},
		{"0177.0.0.1", NULL, 0},
		{"1.2.3.4.5", NULL, 0},
		{"256.0.0.1", NULL, 0},
		{"[127.0.0.1]", NULL, 0},
		{"[::1", NULL, 0},
		{"fe80::1%lo", NULL, 0},
	};
	struct aw_proxy_to to;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = cases[i].text, *host = cases[i].host;
		bool good = aw_proxy_host_read(text, strlen(text), &to);

		ok(good == (host != NULL) &&
				(!good || (strcmp(to.host, host) == 0 &&
						  to.family == cases[i].family)),
			"%s host '%s'", host ? "takes" : "refuses", text);
	}
	ok(!aw_proxy_host_read("a\0b", 3, &to), "refuses a NUL in a name");
	ok(!aw_proxy_host_read("::1\0", 4, &to), "refuses a NUL behind an address");
}

static void authorities_have_ports(void)
{
	static const struct {
		const char *text;
		uint16_t fallback, port; /* 0: refused */
	} cases[] = {
		{"a.test:443", 0, 443},
		{"a.test", 80, 80},
		{"[::1]:8080", 0, 8080},
		{"[::1]", 80, 80},
		{"a.test:65535", 0, 65535},
		{"a.test", 0, 0},
		{"a.test:", 0, 0},
		{"a.test:", 80, 0},
		{"a.test:0", 0, 0},
		{"a.test:65536", 0, 0},
		{"a.test:+1", 0, 0},
		{"a.test: 1", 0, 0},
		{"a.test:443/x", 0, 0},
		{"a.test:443:1", 0, 0},
		{"::1:80", 0, 0},
		{"[::1]80", 80, 0},
		{":80", 0, 0},
		{"[::1]:", 0, 0},
		{"u@a.test:1", 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct aw_proxy_to to;
		bool good = aw_proxy_authority_read(
			cases[i].text, strlen(cases[i].text), cases[i].fallback, &to);

		ok(good == (cases[i].port != 0) && (!good || to.port == cases[i].port),
			"%s '%s' (%u)", cases[i].port ? "takes" : "refuses",
			cases[i].text, cases[i].fallback);
	}
}

struct http_case {
	const char *what, *bytes;
	int status;	  /* 0: good */
	const char *host; /* of a good one */
	uint16_t port;
	const char *path;
};

static const struct http_case requests[] = {
	{"CONNECT", "CONNECT a.test:443 HTTP/1.1" LINE "Host: a.test:443" END, 0,
		"a.test", 443, NULL},
	{"CONNECT of HTTP/1.0 without Host", "CONNECT a.test:443 HTTP/1.0" END, 0,
		"a.test", 443, NULL},
	{"CONNECT whose Host has no port",
		"CONNECT A.test.:8443 HTTP/1.1" LINE "host:a.test" END, 0, "a.test",
		8443, NULL},
	{"a URL", GET "Host: a.test" END, 0, "a.test", 80, "/x"},
	{"a URL without a path", "GET HTTP://[::1]:81 HTTP/1.0" END, 0, "::1", 81, "/"},
	{"a URL with a query", "GET http://a.test/?q=http://b/ HTTP/1.1" END, 0,
		"a.test", 80, "/?q=http://b/"},
	{"a body", "POST http://a.test/ HTTP/1.1" LINE "Content-Length: 12" END, 0,
		"a.test", 80, "/"},
	{"a chunked body",
		"POST http://a.test/ HTTP/1.1" LINE "Transfer-Encoding: Chunked" END, 0,
		"a.test", 80, "/"},
	{"a path alone", "GET /x HTTP/1.1" LINE "Host: a.test" END, 400, NULL, 0, NULL},
	{"https", "GET https://a.test/ HTTP/1.1" END, 400, NULL, 0, NULL},
	{"a password in a URL", "GET http://u:p@a.test/ HTTP/1.1" END, 400, NULL, 0,
		NULL},
	{"a URL that hides its host", "GET http://b.test\\@a.test/ HTTP/1.1" END, 400,
		NULL, 0, NULL},
	{"a fragment", "GET http://a.test/#x HTTP/1.1" END, 400, NULL, 0, NULL},
	{"a query without a path", "GET http://a.test?x HTTP/1.1" END, 400, NULL, 0,
		NULL},
	{"CONNECT with a path", "CONNECT a.test:443/x HTTP/1.1" END, 400, NULL, 0,
		NULL},
	{"CONNECT with a URL", "CONNECT http://a.test:443 HTTP/1.1" END, 400, NULL, 0,
		NULL},
	{"CONNECT without a port", "CONNECT a.test HTTP/1.1" END, 400, NULL, 0, NULL},
	{"CONNECT with a body",
		"CONNECT a.test:443 HTTP/1.1" LINE "Content-Length: 1" END, 400, NULL,
		0, NULL},
	{"CONNECT for another Host",
		"CONNECT a.test:443 HTTP/1.1" LINE "Host: b.test:443" END, 400, NULL, 0,
		NULL},
	{"a URL for another Host", GET "Host: b.test" END, 400, NULL, 0, NULL},
	{"a Host of another port", GET "Host: a.test:81" END, 400, NULL, 0, NULL},
	{"two Hosts", GET "Host: a.test" LINE "Host: a.test" END, 400, NULL, 0, NULL},
	{"an empty Host", GET "Host:" END, 400, NULL, 0, NULL},
	{"two lengths", GET "Content-Length: 1" LINE "Content-Length: 1" END, 400, NULL,
		0, NULL},
	{"a list of lengths", GET "Content-Length: 1, 1" END, 400, NULL, 0, NULL},
	{"a length with a sign", GET "Content-Length: +1" END, 400, NULL, 0, NULL},
	{"an endless length", GET "Content-Length: 99999999999999999999" END, 400, NULL,
		0, NULL},
	{"a length besides chunks",
		GET "Content-Length: 1" LINE "Transfer-Encoding: chunked" END, 400,
		NULL, 0, NULL},
	{"chunks of HTTP/1.0",
		"GET http://a.test/ HTTP/1.0" LINE "Transfer-Encoding: chunked" END,
		400, NULL, 0, NULL},
	{"another encoding", GET "Transfer-Encoding: gzip, chunked" END, 501, NULL, 0,
		NULL},
	{"an encoding in disguise", GET "Transfer-Encoding: xchunked" END, 501, NULL, 0,
		NULL},
	{"a length that Connection takes away",
		GET "Content-Length: 1" LINE "Connection: x, content-length" END, 400,
		NULL, 0, NULL},
	{"a blank in front of the colon", GET "Host : a.test" END, 400, NULL, 0, NULL},
	{"a folded field", GET "X: a" LINE " b" END, 400, NULL, 0, NULL},
	{"a field without a colon", GET "X" END, 400, NULL, 0, NULL},
	{"a lone LF", "GET http://a.test/ HTTP/1.1\nHost: a.test" END, 400, NULL, 0,
		NULL},
	{"a lone CR", GET "X: a\rb" END, 400, NULL, 0, NULL},
	{"a control character", GET "X: \x01" END, 400, NULL, 0, NULL},
	{"two blanks", "GET  http://a.test/ HTTP/1.1" END, 400, NULL, 0, NULL},
	{"HTTP/0.9", "GET http://a.test/" END, 400, NULL, 0, NULL},
	{"HTTP/2.0", "GET http://a.test/ HTTP/2.0" END, 505, NULL, 0, NULL},
	{"HTTP/1.10", "GET http://a.test/ HTTP/1.10" END, 505, NULL, 0, NULL},
	{"an empty line in front", LINE GET END, 400, NULL, 0, NULL},
	{"a TLS ClientHello", "\x16\x03\x01", 400, NULL, 0, NULL},
};

static void requests_are_read(void)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		const struct http_case *c = &requests[i];
		struct aw_http_request rq;
		struct aw_http_mistake mistake = {0, ""};
		enum aw_proxy_said r =
			aw_http_request_read(c->bytes, strlen(c->bytes), &rq, &mistake);

		if (c->status) {
			ok(r == AW_PROXY_BAD && mistake.status == c->status,
				"refuses %s (%d %s)", c->what, mistake.status,
				mistake.reason);
			continue;
		}
		ok(r == AW_PROXY_WHOLE && strcmp(rq.to.host, c->host) == 0 &&
				rq.to.port == c->port && rq.connect == !c->path &&
				(!c->path || (rq.path.len == strlen(c->path) &&
						     memcmp(rq.path.bytes, c->path,
							     rq.path.len) == 0)),
			"reads %s (%s)", c->what, mistake.reason);
	}
}

static void a_request_that_goes_on_is_waited_for(void)
{
	static const char whole[] = GET "Host: a.test" END "more";
	size_t head = sizeof(whole) - 1 - 4, early = 0;
	struct aw_http_request rq;
	struct aw_http_mistake mistake;

	for (size_t n = 0; n < head; n++)
		early += aw_http_request_read(whole, n, &rq, &mistake) != AW_PROXY_MORE;
	ok(!early, "each beginning of a good request waits for more");
	ok(aw_http_request_read(whole, sizeof(whole) - 1, &rq, &mistake) ==
				AW_PROXY_WHOLE &&
			rq.head == head,
		"what comes behind the head is left alone");
	ok(aw_http_request_read("GET \0", 5, &rq, &mistake) == AW_PROXY_BAD,
		"a NUL is refused at once");
}

static void much_is_refused(void)
{
	static char big[AW_HTTP_HEAD + 100];
	struct aw_http_request rq;
	struct aw_http_mistake mistake = {0};
	size_t n = (size_t)sprintf(big, "%s", GET);

	for (int i = 0; i <= AW_HTTP_FIELDS; i++)
		n += (size_t)sprintf(big + n, "X: 1" LINE);
	n += (size_t)sprintf(big + n, LINE);
	ok(aw_http_request_read(big, n, &rq, &mistake) == AW_PROXY_BAD &&
			mistake.status == 431,
		"refuses 101 fields");
	memset(big, 'x', sizeof(big));
	memcpy(big, GET "X: ", sizeof(GET "X: ") - 1);
	ok(aw_http_request_read(big, AW_HTTP_HEAD - 1, &rq, &mistake) == AW_PROXY_MORE,
		"a head of 16383 bytes may go on");
	mistake.status = 0;
	ok(aw_http_request_read(big, AW_HTTP_HEAD, &rq, &mistake) == AW_PROXY_BAD &&
			mistake.status == 431,
		"one of 16384 may not");
}

static void requests_are_written(void)
{
	static const char rude[] =
		"POST http://A.test:81/x?y HTTP/1.0" LINE "Host: a.test:81" LINE
		"Connection: x-mine, keep-alive" LINE "X-Mine: 1" LINE
		"Proxy-Authorization: Basic eA==" LINE "Proxy-Connection: close" LINE
		"Upgrade: h2c" LINE "X-Else:  2 " LINE "Content-Length: 3" END;
	static const char origin[] =
		"POST /x?y HTTP/1.1" LINE "Host: a.test:81" LINE "X-Else: 2" LINE
		"Content-Length: 3" LINE "Connection: close" END;
	static const char proxied[] =
		"POST http://a.test:81/x?y HTTP/1.1" LINE "Host: a.test:81" LINE
		"X-Else: 2" LINE "Content-Length: 3" LINE "P: 1" LINE
		"Connection: close" END;
	struct aw_http_request rq;
	struct aw_http_mistake mistake;
	char out[512];
	size_t n;

	aw_http_request_read(rude, sizeof(rude) - 1, &rq, &mistake);
	n = aw_http_request_write(&rq, false, "", out, sizeof(out));
	ok(n == sizeof(origin) - 1 && memcmp(out, origin, n) == 0,
		"an origin gets the path, and nothing that was for the proxy");
	n = aw_http_request_write(&rq, true, "P: 1" LINE, out, sizeof(out));
	ok(n == sizeof(proxied) - 1 && memcmp(out, proxied, n) == 0,
		"another proxy gets the URL");
	ok(!aw_http_request_write(&rq, false, "", out, sizeof(origin) - 2),
		"too little room is told");
}

static void socks_is_read(void)
{
	static const struct {
		const char *what, *bytes;
		size_t len;
		enum aw_proxy_said read;
		int reply;
		const char *host;
	} cases[] = {
		{"an address", "\5\1\0\1\xc0\0\2\1\1\xbb", 10, AW_PROXY_WHOLE, 0,
			"192.0.2.1"},
		{"a name", "\5\1\0\3\6A.test\1\xbb", 13, AW_PROXY_WHOLE, 0, "a.test"},
		{"an IPv6 address", "\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\xbb",
			22, AW_PROXY_WHOLE, 0, "::1"},
		{"a name that is an address",
			"\5\1\0\3\x09"
			"127.0.0.1\1\xbb",
			16, AW_PROXY_WHOLE, 0, "127.0.0.1"},
		{"part of a name", "\5\1\0\3\6A.tes", 10, AW_PROXY_MORE, 0, NULL},
		{"a name with a NUL", "\5\1\0\3\6a\0test\1\xbb", 13, AW_PROXY_BAD,
			AW_SOCKS_FAILED, NULL},
		{"an empty name", "\5\1\0\3\0\1\xbb", 7, AW_PROXY_BAD, AW_SOCKS_FAILED,
			NULL},
		{"port 0", "\5\1\0\1\xc0\0\2\1\0\0", 10, AW_PROXY_BAD, AW_SOCKS_FAILED,
			NULL},
		{"BIND", "\5\2\0\1\xc0\0\2\1\1\xbb", 10, AW_PROXY_BAD,
			AW_SOCKS_NO_COMMAND, NULL},
		{"UDP", "\5\3\0\1\xc0\0\2\1\1\xbb", 10, AW_PROXY_BAD,
			AW_SOCKS_NO_COMMAND, NULL},
		{"another address type", "\5\1\0\2\xc0\0\2\1\1\xbb", 10, AW_PROXY_BAD,
			AW_SOCKS_NO_ADDRESS, NULL},
		{"a reserved byte", "\5\1\1\1", 4, AW_PROXY_BAD, AW_SOCKS_FAILED, NULL},
		{"version 4", "\4\1\1\xbb\xc0\0\2\1\0", 9, AW_PROXY_BAD,
			AW_SOCKS_FAILED, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned char *bytes = (const unsigned char *)cases[i].bytes;
		struct aw_proxy_to to;
		enum aw_socks_reply reply = AW_SOCKS_DONE;
		size_t len = 0;
		enum aw_proxy_said r =
			aw_socks_request_read(bytes, cases[i].len, &to, &len, &reply);

		ok(r == cases[i].read &&
				(r != AW_PROXY_BAD || (int)reply == cases[i].reply) &&
				(r != AW_PROXY_WHOLE ||
					(len == cases[i].len && to.port == 443 &&
						strcmp(to.host, cases[i].host) == 0)),
			"SOCKS: %s", cases[i].what);
	}
}

static void socks_greetings_are_read(void)
{
	size_t len = 0;
	bool open = false;

	ok(aw_socks_greeting_read((const void *)"\5\2\2\0x", 5, &len, &open) ==
				AW_PROXY_WHOLE &&
			len == 4 && open,
		"SOCKS: a greeting with and without a password");
	ok(aw_socks_greeting_read((const void *)"\5\1\2", 3, &len, &open) ==
				AW_PROXY_WHOLE &&
			!open,
		"SOCKS: a greeting with a password alone");
	ok(aw_socks_greeting_read((const void *)"\5\2\2", 3, &len, &open) ==
			AW_PROXY_MORE,
		"SOCKS: a greeting that goes on");
	ok(aw_socks_greeting_read((const void *)"\5\0", 2, &len, &open) ==
				AW_PROXY_BAD &&
			aw_socks_greeting_read((const void *)"\4", 1, &len, &open) ==
				AW_PROXY_BAD,
		"SOCKS: no method, or another version");
}

static void socks_answers_are_read(void)
{
	static const unsigned char good[] = {5, 0, 0, 1, 0, 0, 0, 0, 0, 0};
	unsigned char reply = 9;
	size_t len;

	ok(aw_socks_answer_read(good, sizeof(good), &len, &reply) == AW_PROXY_WHOLE &&
			!reply && len == sizeof(good),
		"SOCKS: an answer");
	ok(aw_socks_answer_read(good, 9, &len, &reply) == AW_PROXY_MORE,
		"SOCKS: an answer that goes on");
	ok(aw_socks_answer_read((const void *)"HTTP/1.1", 8, &len, &reply) ==
			AW_PROXY_BAD,
		"SOCKS: an answer of somebody else");
}

int main(void)
{
	hosts_are_names_or_addresses();
	authorities_have_ports();
	requests_are_read();
	a_request_that_goes_on_is_waited_for();
	much_is_refused();
	requests_are_written();
	socks_is_read();
	socks_greetings_are_read();
	socks_answers_are_read();
	return done();
}
