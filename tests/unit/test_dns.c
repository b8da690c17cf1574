/* SPDX-License-Identifier: Apache-2.0 */
/* test_dns.c - questions for names, names in all their shapes, and answers. */
#include <string.h>

#include "supervisor/net/proto/dns.h"
#include "tests/unit/tap.h"

#define HEAD(flags, extra) "\0\7" flags "\0\1\0\0\0\0\0" extra
#define LABEL63                                                                        \
	"\x3f"                                                                         \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LABEL61                                                                        \
	"\x3d"                                                                         \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A_IN "\0\1\0\1"
#define OPT "\0\0\x29\x10\0\0\0\0\0\0\0"

static void questions_are_read(void)
{
	static const struct {
		const char *what, *bytes;
		size_t len;
		int code;
		const char *name; /* when it could be read */
		bool odd;
	} cases[] = {
#define CASE(what, bytes, code, ...) {what, bytes, sizeof(bytes) - 1, code, __VA_ARGS__}
		CASE("nothing", "", -1, NULL, false),
		CASE("a part of a header", "\0\7\1\0\0\1", -1, NULL, false),
		CASE("an answer", HEAD("\x81\x80", "\0") "\3api\4test\0" A_IN, -1, NULL,
			false),
		CASE("a plain question", HEAD("\1\0", "\0") "\3api\4test\0" A_IN,
			AW_DNS_FINE, "api.test", false),
		CASE("capital letters", HEAD("\1\0", "\0") "\3ApI\4TEST\0" A_IN,
			AW_DNS_FINE, "api.test", false),
		CASE("one with EDNS", HEAD("\1\0", "\1") "\3api\4test\0" A_IN OPT,
			AW_DNS_FINE, "api.test", false),
		CASE("two records of EDNS",
			HEAD("\1\0", "\2") "\3api\4test\0" A_IN OPT OPT, AW_DNS_FORMAT,
			"api.test", false),
		CASE("bytes behind it", HEAD("\1\0", "\0") "\3api\4test\0" A_IN "x",
			AW_DNS_FORMAT, "api.test", false),
		CASE("EDNS of another version",
			HEAD("\1\0", "\1") "\3api\4test\0" A_IN
					   "\0\0\x29\x10\0\0\1\0\0\0\0",
			AW_DNS_VERSION, "api.test", false),
		CASE("a signature",
			HEAD("\1\0", "\1") "\3api\4test\0" A_IN
					   "\0\0\xfa\0\xff\0\0\0\0\0\0",
			AW_DNS_NOT_BUILT, "api.test", false),
		CASE("no question", "\0\7\1\0\0\0\0\0\0\0\0\0", AW_DNS_FORMAT, NULL,
			false),
		CASE("two questions", "\0\7\1\0\0\2\0\0\0\0\0\0\1a\0" A_IN "\1b\0" A_IN,
			AW_DNS_FORMAT, NULL, false),
		CASE("a notification", HEAD("\x20\0", "\0") "\1a\0" A_IN,
			AW_DNS_NOT_BUILT, NULL, false),
		CASE("a cut one", HEAD("\3\0", "\0") "\1a\0" A_IN, AW_DNS_FORMAT, NULL,
			false),
		CASE("another class", HEAD("\1\0", "\0") "\1a\0\0\1\0\3",
			AW_DNS_NOT_BUILT, "a", false),
		CASE("a whole zone", HEAD("\1\0", "\0") "\1a\0\0\xfc\0\1",
			AW_DNS_NOT_BUILT, "a", false),
		CASE("a pointer", HEAD("\1\0", "\0") "\xc0\x0c" A_IN, AW_DNS_FORMAT,
			NULL, false),
		CASE("a name without an end", HEAD("\1\0", "\0") "\3api", AW_DNS_FORMAT,
			NULL, false),
		CASE("a name of 253 bytes",
			HEAD("\1\0", "\0") LABEL63 LABEL63 LABEL63 LABEL61 "\0" A_IN,
			AW_DNS_FINE,
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			false),
		CASE("a longer one",
			HEAD("\1\0", "\0") LABEL63 LABEL63 LABEL63 LABEL63 "\0" A_IN,
			AW_DNS_FORMAT, NULL, false),
		CASE("a NUL", HEAD("\1\0", "\0") "\3a\0i\4test\0" A_IN, AW_DNS_FINE,
			"a?i.test", true),
		CASE("a dot in a label", HEAD("\1\0", "\0") "\3a.i\4test\0" A_IN,
			AW_DNS_FINE, "a?i.test", true),
		CASE("a look-alike as it is typed",
			HEAD("\1\0", "\0") "\4\xd0\xb0pi\4test\0" A_IN, AW_DNS_FINE,
			"??pi.test", true),
		CASE("the root", HEAD("\1\0", "\0") "\0" A_IN, AW_DNS_FINE, "", false),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct aw_dns_question q;
		int code = aw_dns_read(
			(const unsigned char *)cases[i].bytes, cases[i].len, &q);

		ok(code == cases[i].code &&
				(!cases[i].name ||
					(strcmp(q.name, cases[i].name) == 0 &&
						q.plain == !cases[i].odd)),
			"%s is %d (%d, '%s')", cases[i].what, cases[i].code, code,
			q.name);
	}
}

static void a_question_is_said_again_without_what_rode_along(void)
{
	static const char cookie[] =
		HEAD("\1\0", "\1") "\3aPi\4test\0" A_IN
				   "\0\0\x29\x10\0\0\0\0\0\0\x0c\0\x0a\0\x08password";
	unsigned char again[AW_DNS_QUERY];
	struct aw_dns_question q, back;
	size_t len;

	ok(aw_dns_read((const unsigned char *)cookie, sizeof(cookie) - 1, &q) ==
			AW_DNS_FINE,
		"an option of EDNS is no mistake");
	len = aw_dns_write(&q, again, sizeof(again));
	ok(len && !memmem(again, len, "password", 8), "but it is not passed on");
	ok(memmem(again, len, "aPi", 3) != NULL, "the letters are as they were");
	ok(aw_dns_read(again, len, &back) == AW_DNS_FINE && back.edns &&
			back.room == 4096 && back.id == 7,
		"the rest is the same");
	ok(aw_dns_write(&q, again, len - 1) == 0, "without room nothing is written");
}

static void names_are_made_plain(void)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {{"Api.Example.COM", "api.example.com"}, {"api.test.", "api.test"},
		{"a", "a"}, {"a_b-c.d", "a_b-c.d"},
		{"xn--pi-7kc.test", "xn--pi-7kc.test"}, {"", NULL}, {".", NULL},
		{"..", NULL}, {"a..b", NULL}, {".a", NULL}, {"a..", NULL},
		{"a b", NULL}, {"a/b", NULL}, {"\xd0\xb0pi.test", NULL},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			NULL}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char plain[AW_DNS_NAME] = "";
		bool good =
			aw_dns_plain_name(cases[i].text, strlen(cases[i].text), plain);

		ok(cases[i].plain ? good && strcmp(plain, cases[i].plain) == 0 : !good,
			"'%s' is %s", cases[i].text,
			cases[i].plain ? cases[i].plain : "no name");
	}
}

/* An answer to "api.test", by hand: an alias, an address, and what is left out. */
#define ANSWER                                                                         \
	"\0\7\x81\x80\0\1\0\2\0\1\0\0"                                                 \
	"\3api\4test\0\0\1\0\1"                                                        \
	"\xc0\x0c\0\5\0\1\0\0\0\x3c\0\4\1b\xc0\x10"                                    \
	"\xc0\x26\0\1\0\1\0\0\0\x1e\0\4\xc0\0\2\1"                                     \
	"\xc0\x10\0\6\0\1\0\0\0\5\0\x1a\1n\xc0\x10\xc0\x0c"                            \
	"\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5"

static void answers_are_read(void)
{
	static const unsigned char bytes[] = ANSWER;
	struct aw_dns_reader reader;
	struct aw_dns_record r;

	ok(aw_dns_open(&reader, bytes, sizeof(bytes) - 1) && reader.code == 0,
		"an answer");
	ok(aw_dns_next(&reader, &r) == 1 && r.type == AW_DNS_CNAME && r.ttl == 60 &&
			r.data_len == 8 && memcmp(r.data, "\1b\4test\0", 8) == 0,
		"an alias, its name written out");
	ok(aw_dns_next(&reader, &r) == 1 && r.type == AW_DNS_A && r.section == 1 &&
			r.owner_len == 8 && memcmp(r.data, "\xc0\0\2\1", 4) == 0,
		"its address");
	ok(aw_dns_next(&reader, &r) == 1 && r.type == AW_DNS_SOA && r.section == 2 &&
			r.data_len == 8 + 10 + 20,
		"two names and numbers");
	ok(aw_dns_next(&reader, &r) == 0, "and that is all");
	for (size_t len = 0, bad = 0; len < sizeof(bytes) - 1; len++) {
		int more = aw_dns_open(&reader, bytes, len) ? 1 : -1;

		while (more > 0)
			more = aw_dns_next(&reader, &r);
		bad += more == 0;
		if (len == sizeof(bytes) - 2)
			ok(bad == 0, "cut anywhere it cannot be read");
	}
}

static struct aw_dns_question asked(bool edns)
{
	struct aw_dns_question q = {.id = 7,
		.type = AW_DNS_A,
		.class = 1,
		.recursion = true,
		.edns = edns,
		.wire_len = 10,
		.wire = "\3API\4test"};

	return q;
}

static void answers_are_written(void)
{
	static const unsigned char bytes[] = ANSWER;
	struct aw_dns_question q = asked(true);
	unsigned char out[512], small[60];
	struct aw_dns_reader reader;
	struct aw_dns_writer w;
	struct aw_dns_record r;
	size_t len;

	aw_dns_begin(&w, &q, AW_DNS_FINE, out, sizeof(out));
	aw_dns_open(&reader, bytes, sizeof(bytes) - 1);
	while (aw_dns_next(&reader, &r) > 0)
		aw_dns_put(&w, &r, 9);
	len = aw_dns_end(&w, AW_DNS_NO_WHY, NULL);
	ok(memmem(out, len, "API", 3) && !(out[2] & 2) && out[1] == 7,
		"the question is repeated as it was asked");
	aw_dns_open(&reader, out, len);
	ok(aw_dns_next(&reader, &r) == 1 && r.type == AW_DNS_CNAME && r.ttl == 9,
		"with our own time to live");
	aw_dns_begin(&w, &q, AW_DNS_FINE, small, sizeof(small));
	aw_dns_open(&reader, bytes, sizeof(bytes) - 1);
	while (aw_dns_next(&reader, &r) > 0)
		aw_dns_put(&w, &r, 9);
	len = aw_dns_end(&w, AW_DNS_NO_WHY, NULL);
	ok(len <= sizeof(small) && small[2] & 2, "without room it says that it is cut");
	aw_dns_begin(&w, &q, AW_DNS_NO_NAME, out, sizeof(out));
	len = aw_dns_end(&w, AW_DNS_BLOCKED, "p.yaml:7: *.test");
	ok((out[3] & 0xf) == AW_DNS_NO_NAME &&
			memmem(out, len, "\0\x0f\0\x12\0\x0fp.yaml:7: *.test", 22),
		"a refusal has its reason");
	q = asked(false);
	aw_dns_begin(&w, &q, AW_DNS_NO_NAME, out, sizeof(out));
	len = aw_dns_end(&w, AW_DNS_BLOCKED, "p.yaml:7: *.test");
	ok(!memmem(out, len, "p.yaml", 6), "for those who can read it");
}

static void addresses_are_taken_out_of_service_records(void)
{
	static const struct {
		const char *what, *data;
		size_t len, left; /* 0: it is dropped */
	} cases[] = {
#define DATA(what, data, left) {what, data, sizeof(data) - 1, left}
		DATA("nothing to take out", "\0\1\0\0\1\0\3\2h2", 10),
		DATA("both families",
			"\0\1\0\0\1\0\3\2h2\0\4\0\4\1\2\3\4\0\6\0\x10"
			"0123456789abcdef",
			10),
		DATA("before another", "\0\1\0\0\4\0\4\1\2\3\4\0\5\0\2ab", 9),
		DATA("one that must be known", "\0\1\0\0\0\0\2\0\4\0\4\0\4\1\2\3\4", 0),
		DATA("a length past the end", "\0\1\0\0\4\0\x44\1\2\3\4", 0),
		DATA("a target without an end", "\0\1\7ab", 0),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct aw_dns_record r = {.type = AW_DNS_HTTPS,
			.data = (const unsigned char *)cases[i].data,
			.data_len = cases[i].len};
		bool kept = aw_dns_strip_hints(&r);

		ok(kept == (cases[i].left > 0) &&
				(!kept || r.data_len == cases[i].left),
			"%s: %zu bytes are left", cases[i].what, cases[i].left);
	}
}

static void types_have_words(void)
{
	char text[16];

	ok(strcmp(aw_dns_type_name(AW_DNS_HTTPS, text), "HTTPS") == 0, "HTTPS");
	ok(strcmp(aw_dns_type_name(65280, text), "TYPE65280") == 0, "or a number");
}

int main(void)
{
	questions_are_read();
	a_question_is_said_again_without_what_rode_along();
	names_are_made_plain();
	answers_are_read();
	answers_are_written();
	addresses_are_taken_out_of_service_records();
	types_have_words();
	return done();
}
