/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_log.h - the audit log: events in, JSON lines out.
 *
 * One writer thread owns a log at a time (the caller locks).  Lines are numbered here,
 * so seq has no gaps.  Nothing is dropped: when the file cannot be written,
 * aw_log_write() and aw_log_flush() return -1 and keep what is unwritten for a later
 * try, which goes on in the middle of a line if need be.  At most 16 MB are kept:
 * beyond that aw_log_write() does not take the event (code ENOBUFS, seq is not used up)
 * and the caller must wait or stop.
 */
#ifndef AW_SUPERVISOR_AUDIT_AUDIT_LOG_H
#define AW_SUPERVISOR_AUDIT_AUDIT_LOG_H

#include "policy/error.h"
#include "supervisor/audit/event.h"

struct aw_log;

struct aw_log_counts {
	uint64_t events, calls;
	uint64_t denied;   /* calls whose verdict was deny, hide or ask-deny */
	uint64_t enforced; /* of those, the ones that were carried out */
	uint64_t execs, exits, warnings, lost_shim;
};

/* fd is owned by the log from now on (-1: count only, write nowhere). */
int aw_log_open(int fd, const char *session, struct aw_log **ret, struct aw_error *err);

/*
 * From now on the log, whose file is at path, is written in segments and keeps to limit
 * bytes (supervisor/audit/segments.h).  An event "warning" says what was removed.
 */
int aw_log_limit(
	struct aw_log *log, const char *path, uint64_t limit, struct aw_error *err);

/*
 * Format and buffer one event; writes when the buffer is full.  After -1 the event is
 * taken all the same, unless the code is ENOBUFS or ENOMEM.
 */
int aw_log_write(
	struct aw_log *log, const struct aw_event *event, struct aw_error *err);

/* Write what is buffered. */
int aw_log_flush(struct aw_log *log, struct aw_error *err);

/*
 * Was the file deleted, so that nobody will read what is written?  Looks now and then
 * alone; call it behind a flush.
 */
bool aw_log_was_deleted(struct aw_log *log);

const struct aw_log_counts *aw_log_counts(const struct aw_log *log);

/* Events that no reader can see: those that wait, and those that were not taken. */
uint64_t aw_log_unwritten(const struct aw_log *log);

/* Flush and close; NULL is fine.  A line that cannot be completed is taken back. */
void aw_log_close(struct aw_log *log);

/*
 * The line for people after a run, without the "agentwatch: " in front; false when
 * nothing was denied and there is nothing to say.
 */
bool aw_summary_line(const struct aw_log_counts *counts, enum aw_mode mode,
	const char *session, char *out, size_t size);

#endif
