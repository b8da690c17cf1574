/* SPDX-License-Identifier: Apache-2.0 */
/* test_log_disk.c - the audit log on a full disk, a slow pipe, a file that may not
 * grow. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/audit/plain_event.h"
#include "tests/unit/tap.h"

static void a_full_disk_is_told_and_nothing_lost(void)
{
	AW_CLOSE int fd = scratch_file();
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	AW_FREE char *text = NULL;
	struct aw_error err = {0};
	struct aw_log *log;
	char *line;
	int lines = 0;

	aw_log_open(full, "s1", &log, &err);
	ok(!aw_log_write(log, &plain, &err), "an event is buffered");
	ok(aw_log_flush(log, &err) < 0 && err.code == ENOSPC,
		"a full disk is an error: %s", err.text);
	ok(aw_log_unwritten(log) == 1, "the event is kept");
	aw_log_write(log, &plain, &err);
	dup2(fd, full); /* now there is room */
	ok(!aw_log_flush(log, &err) && !aw_log_unwritten(log), "it is written later");
	aw_log_close(log);
	text = slurp(fd);
	for (line = text; (line = strchr(line, '\n')); line++)
		lines++;
	ok(lines == 2 && strstr(text, "\"seq\":1,") && strstr(text, "\"seq\":2,"),
		"both events are there");
}

static void the_buffer_has_a_bound(void)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct aw_error err = {0};
	struct aw_event event = plain;
	struct aw_log *log;
	char path[4095];
	uint64_t taken = 0;

	memset(path, 'p', sizeof(path));
	event.path = (struct aw_text){path, sizeof(path)};
	aw_log_open(full, "s1", &log, &err);
	while (taken < 100000) {
		if (aw_log_write(log, &event, &err) < 0 && err.code == ENOBUFS)
			break;
		taken++;
	}
	ok(taken > 3000 && taken < 10000,
		"about 16 MB are kept, then events are refused");
	ok(aw_log_counts(log)->events == taken, "a refused event is not counted");
	ok(aw_log_write(log, &event, &err) < 0 && err.code == ENOBUFS,
		"and a refused one can be tried again");
	aw_log_close(log);
}

/* The file may grow to limit bytes: write(2) stops in the middle of a line. */
static void a_line_is_completed_later(void)
{
	AW_CLOSE int fd = scratch_file();
	AW_FREE char *text = NULL;
	struct rlimit old, small;
	struct aw_error err = {0};
	struct aw_log *log;
	int failed, whole = 0;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 1000;
	aw_log_open(dup(fd), "s1", &log, &err);
	for (int i = 0; i < 10; i++)
		aw_log_write(log, &plain, &err);
	setrlimit(RLIMIT_FSIZE, &small);
	failed = aw_log_flush(log, &err) < 0 && aw_log_flush(log, &err) < 0;
	setrlimit(RLIMIT_FSIZE, &old);
	ok(failed && err.code == EFBIG, "a file that may not grow stops within a line");
	aw_log_write(log, &plain, &err);
	aw_log_close(log);
	text = slurp(fd);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		cJSON *root = cJSON_Parse(line);

		whole += cJSON_IsObject(root);
		cJSON_Delete(root);
	}
	ok(whole == 11, "later the line goes on where it stopped (%d whole lines)",
		whole);
}

static void a_torn_line_is_taken_back(void)
{
	AW_CLOSE int fd = scratch_file();
	AW_FREE char *text = NULL;
	struct rlimit old, small;
	struct aw_error err = {0};
	struct aw_log *log;

	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 1000;
	aw_log_open(dup(fd), "s1", &log, &err);
	for (int i = 0; i < 10; i++)
		aw_log_write(log, &plain, &err);
	setrlimit(RLIMIT_FSIZE, &small);
	aw_log_close(log);
	setrlimit(RLIMIT_FSIZE, &old);
	text = slurp(fd);
	ok(text[0] && text[strlen(text) - 1] == '\n',
		"a log that is closed on a full disk ends with a whole line");
}

static void a_slow_pipe_gets_everything(void)
{
	enum { MANY = 3000 };
	struct aw_error err = {0};
	struct aw_log *log;
	int ends[2], status;
	pid_t reader;

	if (pipe(ends) < 0)
		abort();
	reader = fork();
	if (!reader) {
		char bytes[777];
		int lines = 0;
		ssize_t n;

		close(ends[1]);
		while ((n = read(ends[0], bytes, sizeof(bytes))) > 0)
			for (ssize_t i = 0; i < n; i++)
				lines += bytes[i] == '\n';
		_exit(lines == MANY ? 0 : 1);
	}
	close(ends[0]);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	aw_log_open(ends[1], "s1", &log, &err);
	for (int i = 0; i < MANY; i++)
		aw_log_write(log, &plain, &err);
	aw_log_close(log);
	waitpid(reader, &status, 0);
	ok(status == 0, "a non-blocking pipe with a slow reader gets every line");
}

int main(void)
{
	a_full_disk_is_told_and_nothing_lost();
	the_buffer_has_a_bound();
	a_line_is_completed_later();
	a_torn_line_is_taken_back();
	a_slow_pipe_gets_everything();
	return done();
}
