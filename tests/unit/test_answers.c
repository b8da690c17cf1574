/* SPDX-License-Identifier: Apache-2.0 */
/* test_answers.c - which name an address was reached by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/audit/answers.h"
#include "tests/unit/tap.h"

typedef unsigned char address[AW_ANSWER_SIZE];

static void number(unsigned n, address ret)
{
	memset(ret, 0, AW_ANSWER_SIZE);
	memcpy(ret, &n, sizeof(n));
}

static void told(struct aw_answers *answers, pid_t pid, uint64_t ts, const char *host,
	unsigned where)
{
	struct aw_dns_report one = {
		.pid = pid, .ts = ts, .host = host, .len = strlen(host), .count = 1};
	address at;

	number(where, at);
	one.addresses = at;
	aw_answers_add(answers, &one);
}

static const char *name_of(struct aw_answers *answers, unsigned where, uint64_t ts,
	pid_t pid, pid_t parent)
{
	const pid_t pids[] = {pid, parent};
	const char *host;
	address at;

	number(where, at);
	host = aw_answers_find(answers, at, ts, pids, 2);
	return host ? host : "-";
}

#define IS(want, what, ...)                                                            \
	do {                                                                           \
		const char *got_ = name_of(__VA_ARGS__);                               \
		ok(strcmp(got_, want) == 0, "%s: %s", what, got_);                     \
	} while (0)

static void who_asked(void)
{
	struct aw_answers *a = aw_answers_new();

	told(a, 10, 100, "one.test", 1);
	told(a, 20, 200, "two.test", 1);
	told(a, 30, 300, "three.test", 1);
	IS("two.test", "its own look-up", a, 1, 400, 20, 10);
	IS("one.test", "else its parent's", a, 1, 400, 99, 10);
	IS("three.test", "else the latest", a, 1, 400, 98, 99);
	IS("two.test", "what came later does not count", a, 1, 250, 98, 99);
	IS("-", "nobody had asked yet", a, 1, 50, 10, 20);
	IS("-", "nobody asked for that", a, 2, 400, 10, 20);
	told(a, 10, 500, "again.test", 1);
	IS("again.test", "the last of several", a, 1, 600, 10, 1);
	IS("one.test", "and the one of that time", a, 1, 400, 10, 1);
	told(a, 10, 700, "one.test", 1);
	IS("one.test", "asked for again", a, 1, 800, 10, 1);
	aw_answers_free(a);
}

static void what_is_a_name(void)
{
	static const struct {
		const char *host, *kept;
	} cases[] = {{"Api.Example.COM", "api.example.com"}, {"api.test.", "api.test"},
		{"a", "a"}, {"xn--bcher-kva.test", "xn--bcher-kva.test"},
		{"_srv.a-b.test", "_srv.a-b.test"}, {"1.2.3.4a", "1.2.3.4a"}, {"", "-"},
		{".", "-"}, {"a..b", "-"}, {".a", "-"}, {"a..", "-"},
		{"192.0.2.1", "-"}, {"a.1", "-"}, {"2001:db8::1", "-"}, {"a b", "-"},
		{"*.test", "-"}, {"\xc3\xa4.test", "-"}, {"a/b", "-"}, {"a\n", "-"}};
	char longest[260];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aw_answers *a = aw_answers_new();

		told(a, 1, 1, cases[i].host, 1);
		ok(strcmp(name_of(a, 1, 2, 1, 1), cases[i].kept) == 0, "case %zu: %s",
			i, cases[i].kept);
		aw_answers_free(a);
	}
	for (size_t len = 253; len < 256; len++) {
		struct aw_answers *a = aw_answers_new();

		for (size_t i = 0; i < len; i++)
			longest[i] = i % 50 == 49 ? '.' : 'a';
		longest[len] = '\0';
		told(a, 1, 1, longest, 1);
		ok((strlen(name_of(a, 1, 2, 1, 1)) == len) == (len == 253),
			"a name of %zu bytes", len);
		aw_answers_free(a);
	}
}

static void bounds(void)
{
	struct aw_answers *a = aw_answers_new();
	char host[32];

	for (unsigned i = 0; i < 20; i++) {
		snprintf(host, sizeof(host), "n%u.test", i);
		told(a, (pid_t)(100 + i), i, host, 1);
	}
	IS("n12.test", "the eighth last name is there", a, 1, 100, 112, 1);
	IS("n19.test", "the ninth last is not", a, 1, 100, 111, 1);
	for (unsigned i = 2; i < AW_ANSWERS_MAX + 2; i++)
		told(a, 1, 1, "many.test", i);
	IS("-", "the oldest address has gone", a, 1, 100, 112, 1);
	IS("many.test", "the next is there", a, 2, 100, 1, 1);
	aw_answers_free(a);
	aw_answers_free(NULL);
}

int main(void)
{
	who_asked();
	what_is_a_name();
	bounds();
	return done();
}
