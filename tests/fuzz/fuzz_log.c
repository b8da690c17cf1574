/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_log.c - a log of any bytes is given out line by line as it is, what is left over
 * included; a filter that asks nothing takes every line, and others only lines that say
 * what they ask for.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervisor/audit/read/lines.h"
#include "supervisor/audit/read/log_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One of each kind, with values that the corpus has. */
static struct aw_log_filter filters[] = {
	{.denied = true},
	{.since = "2026-01-01T00:00:00Z", .until = "2027-01-01T00:00:00Z"},
	{.pids = {.items = (const char *[]){"12345"}, .count = 1}},
	{.programs = {.items = (const char *[]){"node", "/usr/**"}, .count = 2}},
	{.actions = {.items = (const char *[]){"read"}, .count = 1}},
	{.paths = {.items = (const char *[]){"src", "/home/**/*.c"}, .count = 2}},
	{.verdicts = {.items = (const char *[]){"hide"}, .count = 1}},
	{.events = {.items = (const char *[]){"call"}, .count = 1}},
	{.mcps = {.items = (const char *[]){"doc*"}, .count = 1}},
	{.profiles = {.items = (const char *[]){"off*"}, .count = 1}},
};
enum { FILTERS = sizeof(filters) / sizeof(filters[0]) };

static void prepare(void)
{
	static bool done;
	struct aw_error err;

	for (size_t i = 0; !done && i < FILTERS; i++)
		if (aw_log_filter_prepare(&filters[i], &err) < 0)
			abort();
	done = true;
}

static void must_say(const cJSON *line, const char *key, const char *word)
{
	const char *said = aw_event_word(line, key);

	if (!said || strcmp(said, word) != 0)
		abort();
}

static void look_at(const cJSON *line)
{
	const struct aw_log_filter nothing = {.denied = false};
	char *text = aw_event_text(line, "path");
	const char *word = aw_event_word(line, "verdict");

	if (text && strlen(text) > strlen(aw_event_word(line, "path")))
		abort();
	free(text);
	if (!aw_log_filter_matches(&nothing, line))
		abort();
	if (aw_log_filter_matches(&filters[0], line) &&
		(!word || !aw_verdict_refuses(word)))
		abort();
	for (size_t i = 1; i < FILTERS; i++) {
		if (!aw_log_filter_matches(&filters[i], line))
			continue;
		if (filters[i].actions.count)
			must_say(line, "action", "read");
		if (filters[i].verdicts.count)
			must_say(line, "verdict", "hide");
		if (filters[i].events.count)
			must_say(line, "event", "call");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct aw_lines lines = {.fd = memfd_create("log", MFD_CLOEXEC), .notify = -1};
	size_t at = 0, len;
	struct aw_error err;
	char *line;

	prepare();
	if (lines.fd < 0 || pwrite(lines.fd, data, size, 0) != (ssize_t)size)
		abort();
	while (aw_lines_next(&lines, &line, &len, &err) == 1) {
		cJSON *event;

		if (at + len >= size || data[at + len] != '\n' ||
			memcmp(line, data + at, len) != 0 || line[len])
			abort();
		at += len + 1;
		event = cJSON_ParseWithLength(line, len);
		if (event)
			look_at(event);
		cJSON_Delete(event);
	}
	if (aw_lines_torn(&lines) != (at < size) ||
		lines.len - lines.start != size - at)
		abort();
	aw_lines_release(&lines);
	return 0;
}
