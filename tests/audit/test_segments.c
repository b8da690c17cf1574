/* SPDX-License-Identifier: Apache-2.0 */
/* test_segments.c - a log keeps to its limit, and what was denied stays in it. */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/audit/read/lines.h"
#include "supervisor/audit/segments.h"
#include "tests/audit/plain_event.h"
#include "tests/unit/tap.h"

enum { LIMIT = 1024 * 1024, EVENTS = 40000, DENIED_EVERY = 1000 };

static char dir[] = "/tmp/aw-segments.XXXXXX";
static char path[sizeof(dir) + 16];

/* Bytes of all files in dir; their number goes to *ret_count. */
static uint64_t used(unsigned *ret_count)
{
	DIR *all = opendir(dir);
	struct dirent *entry;
	struct stat st;
	uint64_t sum = 0;

	*ret_count = 0;
	while ((entry = readdir(all))) {
		if (entry->d_name[0] == '.' ||
			fstatat(dirfd(all), entry->d_name, &st, 0) < 0)
			continue;
		sum += (uint64_t)st.st_size;
		++*ret_count;
	}
	closedir(all);
	return sum;
}

static void remove_all(void)
{
	DIR *all = opendir(dir);
	struct dirent *entry;

	while ((entry = readdir(all)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(all), entry->d_name, 0);
	closedir(all);
}

static struct aw_log *open_log(uint64_t limit)
{
	struct aw_error err = {0};
	struct aw_log *log = NULL;

	if (aw_log_open(open(path, O_WRONLY | O_CREAT | O_APPEND, 0600), "s1", &log,
		    &err) < 0 ||
		aw_log_limit(log, path, limit, &err) < 0)
		note("%s", err.text);
	return log;
}

static void write_events(struct aw_log *log, unsigned first, unsigned count)
{
	struct aw_event event = plain;
	struct aw_error err = {0};

	for (unsigned i = first; i < first + count; i++) {
		event.verdict = i % DENIED_EVERY == 0 ? AW_DENY : AW_ALLOW;
		if (aw_log_write(log, &event, &err) < 0)
			note("%s", err.text);
	}
}

struct seen {
	unsigned lines, denied, gone;
	double last;
	bool in_order;
};

/* All lines that lines has now. */
static void read_on(struct aw_lines *lines, struct seen *seen)
{
	struct aw_error err = {0};
	char *text;
	size_t len;

	while (aw_lines_next(lines, &text, &len, &err) > 0) {
		cJSON *line = cJSON_Parse(text);
		double seq = cJSON_GetNumberValue(
			cJSON_GetObjectItemCaseSensitive(line, "seq"));

		seen->in_order &= seq > seen->last;
		seen->last = seq;
		seen->lines++;
		seen->denied += strstr(text, "\"verdict\":\"deny\"") != NULL;
		seen->gone += strstr(text, "\"kind\":\"log-size\"") != NULL;
		cJSON_Delete(line);
	}
}

static struct seen read_all(void)
{
	struct seen seen = {.in_order = true};
	struct aw_error err = {0};
	struct aw_lines lines;

	if (aw_lines_open(&lines, path, &err) < 0) {
		note("%s", err.text);
		return seen;
	}
	read_on(&lines, &seen);
	aw_lines_release(&lines);
	return seen;
}

static void a_log_keeps_to_its_limit(void)
{
	struct aw_log *log = open_log(LIMIT);
	struct seen seen;
	unsigned files;
	uint64_t bytes;

	write_events(log, 0, EVENTS);
	aw_log_close(log);
	bytes = used(&files);
	ok(bytes <= LIMIT + 256 * 1024 && files > 3,
		"what is written is not more than the limit and one buffer");
	seen = read_all();
	ok(seen.in_order, "all parts are read in the order in which they were written");
	ok(seen.denied == EVENTS / DENIED_EVERY, "every denial is still there");
	ok(seen.gone > 0 && seen.lines < EVENTS, "it says that events were removed");
	remove_all();
}

static void denials_have_a_limit(void)
{
	struct aw_event event = plain;
	struct aw_log *log = open_log(LIMIT);
	struct aw_error err = {0};
	unsigned files;

	event.verdict = AW_DENY;
	for (unsigned i = 0; i < EVENTS; i++)
		aw_log_write(log, &event, &err);
	aw_log_close(log);
	ok(used(&files) <= LIMIT + 256 * 1024, "denials alone keep to the limit, too");
	ok(read_all().denied >= 1000, "the first and the last of them are there");
	remove_all();
}

static void a_small_log_is_one_file(void)
{
	struct aw_log *log = open_log(AW_LOG_SIZE_DEFAULT);
	unsigned files;

	write_events(log, 0, 100);
	aw_log_close(log);
	used(&files);
	ok(files == 1, "a small log is one file");
	ok(read_all().lines == 100, "with all of its lines");
	remove_all();
}

/* A reader that follows sees each line once, over the ends of segments. */
static void a_reader_goes_over(void)
{
	struct aw_log *log = open_log(64ull * LIMIT);
	struct seen seen = {.in_order = true};
	struct aw_error err = {0};
	struct aw_lines lines;
	unsigned files;

	if (aw_lines_open(&lines, path, &err) < 0)
		note("%s", err.text);
	for (unsigned i = 0; i < 40; i++) {
		write_events(log, i * 1000 + 1, 1000);
		if (i % 5 != 4) /* now and then it comes late */
			read_on(&lines, &seen);
	}
	aw_log_flush(log, &err);
	read_on(&lines, &seen);
	used(&files);
	ok(files > 4, "there are several segments");
	ok(seen.lines == 40000, "a reader that follows sees each line once");
	ok(seen.in_order && !aw_lines_torn(&lines), "in their order");
	aw_lines_release(&lines);
	aw_log_close(log);
	remove_all();
}

/* What is no longer the log under its name is not renamed. */
static void a_log_that_was_replaced(void)
{
	struct aw_log *log = open_log(LIMIT);
	unsigned files;

	write_events(log, 1, 10);
	unlink(path);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	write_events(log, 1, 5000);
	aw_log_close(log);
	used(&files);
	ok(files == 1, "a file that took the log's name is left alone");
	remove_all();
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/events.jsonl", dir);
	a_log_keeps_to_its_limit();
	denials_have_a_limit();
	a_small_log_is_one_file();
	a_reader_goes_over();
	a_log_that_was_replaced();
	rmdir(dir);
	return done();
}
