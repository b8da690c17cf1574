/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - memory ends at each copy of a text: nothing is half done, or leaks. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/launch/run.h"
#include "supervisor/sandbox/plan_internal.h"
#include "tests/unit/tap.h"

extern char **environ;

static unsigned copies_left = -1;

static bool may_copy(void)
{
	return copies_left && copies_left--;
}

/* These stand in front of libc's. */
char *strndup(const char *text, size_t max)
{
	size_t len = strnlen(text, max);
	char *to = may_copy() ? malloc(len + 1) : NULL;

	if (!to)
		return NULL;
	memcpy(to, text, len);
	to[len] = '\0';
	return to;
}

char *strdup(const char *text)
{
	return strndup(text, strlen(text));
}

int asprintf(char **ret, const char *fmt, ...)
{
	va_list args;
	int n;

	if (!may_copy())
		return -1;
	va_start(args, fmt);
	n = vasprintf(ret, fmt, args);
	va_end(args);
	return n;
}

static bool has(char **list, const char *entry)
{
	while (*list && strcmp(*list, entry) != 0)
		list++;
	return *list != NULL;
}

static void free_list(char **list)
{
	for (char **e = list; e && *e; e++)
		free(*e);
	free(list);
}

static void an_environment_is_whole_or_none(void)
{
	static char one[] = "ONE=1", proxy[] = "HTTP_PROXY=http://proxy.test";
	char *outer[] = {one, proxy, NULL}, **old = environ, **made;
	struct aw_run run = {.instance = "/tmp/instance",
		.shim = "/tmp/shim.so",
		.engine = AW_PRELOAD,
		.socket = "/tmp/socket",
		.listeners = {.told = true, .proxy_port = 3128}};
	struct aw_error err = {.code = 0};
	unsigned copies = 0, told = 0;

	environ = outer;
	while (copies_left = copies, !(made = aw_run_environment(&run, &err))) {
		told += err.code == ENOMEM;
		err.code = 0;
		copies++;
	}
	copies_left = -1;
	environ = old;
	ok(copies >= 2 * 2 + 5 * 2 + 8 * 2 + 2, "it took %u copies", copies);
	ok(told == copies, "each that failed was told");
	ok(has(made, "ONE=1") && has(made, "HTTP_PROXY=http://127.0.0.1:3128") &&
			has(made, "no_proxy=localhost,127.0.0.1,::1") &&
			has(made, "HOME=/tmp/instance/home") &&
			has(made, "LD_PRELOAD=/tmp/shim.so") &&
			has(made, "AGENTWATCH_SOCKET=/tmp/socket"),
		"then everything is there");
	ok(!has(made, proxy), "a proxy of outside is replaced");
	free_list(made);
}

static void a_place_is_whole_or_aside(void)
{
	struct aw_plan_maker maker = {.count = 0};
	struct aw_plan_place *place;

	copies_left = 0;
	place = aw_plan_place_add(&maker, "/a", "test");
	ok(place && maker.failed && maker.count == 0,
		"a place without memory is aside");
	copies_left = -1;
	place = aw_plan_place_add(&maker, "/b", "test");
	ok(maker.count == 1 && place == maker.places && !strcmp(place->path, "/b"),
		"the next one is the first");
	free(place->path);
	free(maker.places);
}

int main(void)
{
	an_environment_is_whole_or_none();
	a_place_is_whole_or_aside();
	return done();
}
