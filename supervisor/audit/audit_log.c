/* SPDX-License-Identifier: Apache-2.0 */
/* audit_log.c - numbers events, buffers their lines and writes them, all of them. */
#include "supervisor/audit/audit_log.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/audit/line.h"
#include "supervisor/audit/segments.h"

enum {
	WRITE_AT = 128 * 1024,	     /* buffered bytes that cause a write */
	KEEP_MAX = 16 * 1024 * 1024, /* unwritten bytes that are kept */
	LOOK_EVERY = 16, /* flushes between two looks whether the file is there */
	ROOM_MAX = 1024 * 1024, /* memory kept when nothing is buffered */
	SLOW_READER_MS = 1000,	/* how long to wait for a full pipe */
};

struct aw_log {
	int fd;		     /* owned; -1: count only */
	struct aw_json text; /* bytes [done, text.len) are not written yet */
	size_t done;
	off_t torn_size; /* the file's size when it ended in part of a line, else -1 */
	bool named;	 /* a file with a name, when it was opened */
	struct aw_segments *segments; /* owned; NULL: one file without a limit */
	unsigned flushes;
	uint64_t refused; /* events that were not taken: too much waited already */
	uint64_t seq;
	struct aw_clock_text clock;
	struct aw_json session; /* the id as a JSON string */
	struct aw_log_counts counts;
};

static bool has_name(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 0;
}

int aw_log_open(int fd, const char *session, struct aw_log **ret, struct aw_error *err)
{
	struct aw_log *log = calloc(1, sizeof(*log));

	if (!log)
		return aw_fail(err, ENOMEM, "opening the audit log: out of memory");
	log->fd = fd;
	log->torn_size = -1;
	log->named = has_name(fd);
	aw_json_string(&log->session, session, strlen(session));
	if (log->session.failed) {
		free(log);
		return aw_fail(err, ENOMEM, "opening the audit log: out of memory");
	}
	*ret = log;
	return 0;
}

int aw_log_limit(
	struct aw_log *log, const char *path, uint64_t limit, struct aw_error *err)
{
	return aw_segments_open(path, limit, &log->segments, err);
}

static bool is_denied(const struct aw_event *event)
{
	return event->verdict == AW_DENY || event->verdict == AW_HIDE ||
	       (event->verdict == AW_ASK && event->ask_denied);
}

static void count(struct aw_log_counts *counts, const struct aw_event *event)
{
	counts->events++;
	switch (event->kind) {
	case AW_EV_CALL:
		counts->calls++;
		counts->denied += is_denied(event);
		counts->enforced += is_denied(event) && event->enforced;
		break;
	case AW_EV_EXEC:
		counts->execs++;
		if (!event->call)
			break;
		counts->calls++;
		counts->denied += is_denied(event);
		counts->enforced += is_denied(event) && event->enforced;
		break;
	case AW_EV_EXIT:
		counts->exits++;
		break;
	case AW_EV_WARNING:
		counts->warnings++;
		break;
	case AW_EV_LOST_SHIM:
		counts->lost_shim++;
		break;
	default:
		break;
	}
}

/* Note whether the file now ends within a line. */
static void note_torn(struct aw_log *log)
{
	struct stat st;

	log->torn_size = -1;
	if (log->done && log->text.bytes[log->done - 1] != '\n' &&
		!fstat(log->fd, &st) && S_ISREG(st.st_mode))
		log->torn_size = st.st_size;
}

static bool wait_for_reader(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};

	return poll(&ready, 1, SLOW_READER_MS) > 0 && (ready.revents & POLLOUT);
}

/* Say in the log itself that lines are missing from it. */
static void tell_gone(struct aw_log *log, const struct aw_segments_gone *gone)
{
	struct aw_event event = {.kind = AW_EV_WARNING, .warning_kind = "log-size"};
	struct aw_text session = {log->session.bytes, log->session.len};
	struct timespec now;
	char text[160];

	clock_gettime(CLOCK_REALTIME, &now);
	event.ts = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	event.pid = getpid();
	snprintf(text, sizeof(text),
		"the log reached limits.log_size; the oldest %" PRIu64
		" events were removed, %" PRIu64 " of them denials",
		gone->lines, gone->denials);
	event.text = text;
	aw_line_write(&log->text, &log->clock, ++log->seq, &session, &event);
	count(&log->counts, &event);
}

/* All is written: begin another segment when this one is full. */
static int turn(struct aw_log *log, struct aw_error *err)
{
	struct aw_segments_gone gone;

	if (!log->segments)
		return 0;
	if (aw_segments_turn(log->segments, log->fd, &gone, err) < 0)
		return -1;
	if (gone.lines)
		tell_gone(log, &gone);
	return 0;
}

/* Keep what is unwritten, from the start of its line: note_torn() may need that. */
static void drop_written(struct aw_log *log)
{
	size_t line = log->done;

	while (line > 0 && log->text.bytes[line - 1] != '\n')
		line--;
	if (!line)
		return;
	memmove(log->text.bytes, log->text.bytes + line, log->text.len - line);
	log->text.len -= line;
	log->done -= line;
}

int aw_log_flush(struct aw_log *log, struct aw_error *err)
{
	int code = 0;

	while (log->done < log->text.len) {
		ssize_t n = write(log->fd, log->text.bytes + log->done,
			log->text.len - log->done);

		if (n > 0) {
			log->done += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && wait_for_reader(log->fd))
			continue;
		code = n < 0 ? errno : EIO;
		break;
	}
	if (!code) {
		log->text.len = log->done = 0;
		log->torn_size = -1;
		if (log->text.size > ROOM_MAX)
			aw_json_free(&log->text);
		return turn(log, err);
	}
	note_torn(log);
	drop_written(log);
	return aw_fail(err, code, "writing the audit log: %s", strerror(code));
}

bool aw_log_was_deleted(struct aw_log *log)
{
	return log->named && log->flushes++ % LOOK_EVERY == 0 && !has_name(log->fd);
}

int aw_log_write(struct aw_log *log, const struct aw_event *event, struct aw_error *err)
{
	struct aw_text session = {log->session.bytes, log->session.len};
	size_t before = log->text.len;

	if (log->fd < 0) {
		log->seq++;
		count(&log->counts, event);
		return 0;
	}
	if (before - log->done >= KEEP_MAX && aw_log_flush(log, err) < 0) {
		log->refused++;
		if (err)
			err->code = ENOBUFS;
		return -1;
	}
	before = log->text.len;
	aw_line_write(&log->text, &log->clock, log->seq + 1, &session, event);
	if (log->text.failed) {
		log->text.failed = false;
		log->text.len = before;
		log->refused++;
		return aw_fail(err, ENOMEM, "writing the audit log: out of memory");
	}
	log->seq++;
	count(&log->counts, event);
	return log->text.len >= WRITE_AT ? aw_log_flush(log, err) : 0;
}

const struct aw_log_counts *aw_log_counts(const struct aw_log *log)
{
	return &log->counts;
}

uint64_t aw_log_unwritten(const struct aw_log *log)
{
	uint64_t lines = log->refused;

	for (size_t at = log->done; at < log->text.len; at++)
		lines += log->text.bytes[at] == '\n';
	return lines;
}

/* The file ends within a line that will never be completed: cut it off, if we can. */
static void take_back_torn(struct aw_log *log)
{
	struct stat st;

	if (log->torn_size < 0 || fstat(log->fd, &st) < 0 ||
		st.st_size != log->torn_size)
		return;
	if (ftruncate(log->fd, st.st_size - (off_t)log->done) < 0)
		return; /* an append-only file keeps it; readers report the line */
}

void aw_log_close(struct aw_log *log)
{
	if (!log)
		return;
	if (log->fd >= 0) {
		if (aw_log_flush(log, NULL) < 0)
			take_back_torn(log);
		close(log->fd);
	}
	aw_segments_close(log->segments);
	aw_json_free(&log->text);
	aw_json_free(&log->session);
	free(log);
}

bool aw_summary_line(const struct aw_log_counts *counts, enum aw_mode mode,
	const char *session, char *out, size_t size)
{
	const char *calls = counts->calls == 1 ? "call" : "calls";
	const char *was = counts->denied == 1 ? "was" : "were";

	if (!counts->denied || !size)
		return false;
	snprintf(out, size,
		"%" PRIu64 " of %" PRIu64
		" %s %s denied; see: agentwatch log --denied %s",
		counts->denied, counts->calls, calls,
		mode == AW_AUDIT ? "would have been" : was, session);
	return true;
}
