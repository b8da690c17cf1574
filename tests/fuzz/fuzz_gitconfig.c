/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_gitconfig.c - what is read of a configuration can be said again, and is the same
 * then; a text may always take its own place, and that of none only when nothing in it
 * runs a program.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/git/gitconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *room(size_t size)
{
	void *room = malloc(size);

	if (!room)
		abort();
	return room;
}

static size_t say_quoted(char *to, const char *text, size_t len, bool value)
{
	size_t n = 0;

	to[n++] = '"';
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\' || (value && text[i] == '\n'))
			to[n++] = '\\';
		to[n++] = value && text[i] == '\n' ? 'n' : text[i];
	}
	to[n++] = '"';
	return n;
}

/* One entry with a section of its own, but where it has none. */
static size_t say(char *to, const struct aw_gitconfig *c)
{
	const char *first = memchr(c->name, '.', c->name_len),
		   *last = memrchr(c->name, '.', c->name_len);
	const char *key = last ? last + 1 : c->name;
	size_t n = 0;

	if (first) {
		n += (size_t)sprintf(to, "[%.*s", (int)(first - c->name), c->name);
		if (first != last) {
			to[n++] = ' ';
			n += say_quoted(
				to + n, first + 1, (size_t)(last - first - 1), false);
		}
		to[n++] = ']';
	}
	memcpy(to + n, key, (size_t)(c->name + c->name_len - key));
	n += (size_t)(c->name + c->name_len - key);
	if (c->has_value) {
		to[n++] = '=';
		n += say_quoted(to + n, c->value, c->value_len, true);
	}
	to[n++] = '\n';
	return n;
}

/* All entries; *ret_runs counts those that run a program. */
static size_t say_all(const char *text, size_t len, char *to, size_t size, int *ret_end,
	unsigned *ret_runs)
{
	char *scratch = room(AW_GITCONFIG_SCRATCH(len));
	struct aw_gitconfig c;
	size_t n = 0;
	unsigned line = 1;

	*ret_runs = 0;
	aw_gitconfig_open(&c, text, len, scratch);
	while ((*ret_end = aw_gitconfig_next(&c)) == 1) {
		if (c.line < line || strlen(c.value) != (c.has_value ? c.value_len : 0))
			abort();
		line = c.line;
		*ret_runs +=
			aw_gitconfig_effect(c.name, c.name_len,
				c.has_value ? c.value : NULL) != AW_GITCONFIG_NOTHING;
		if (size - n < 2 * (c.name_len + c.value_len) + 16)
			break;
		n += say(to + n, &c);
	}
	if (*ret_end == -1 && c.line < line)
		abort();
	free(scratch);
	return n;
}

static void replace(const char *text, size_t len, bool good, unsigned runs)
{
	char *scratch = room(2 * AW_GITCONFIG_SCRATCH(len));
	struct aw_gitconfig_finding finding;

	if (aw_gitconfig_may_replace(text, len, text, len, NULL, scratch, &finding) !=
		(good && runs <= 200))
		abort();
	if (aw_gitconfig_may_replace(text, len, NULL, 0, NULL, scratch, &finding) !=
		(good && !runs))
		abort();
	free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t room_size = 64 * size + 1024, n, again;
	unsigned runs, runs_again;
	char *said, *twice;
	int end, end_again;

	if (size > 65536)
		return 0;
	said = room(room_size);
	twice = room(room_size);
	n = say_all(text, size, said, room_size, &end, &runs);
	if (end != 1) {
		again = say_all(said, n, twice, room_size, &end_again, &runs_again);
		if (end_again == 0 &&
			(again != n || memcmp(said, twice, n) || runs != runs_again))
			abort();
		if (end_again < 0)
			abort();
		replace(text, size, end == 0, runs);
	}
	free(said);
	free(twice);
	return 0;
}
