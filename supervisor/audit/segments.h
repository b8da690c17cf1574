/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segments.h - a log in parts, so that it never outgrows its limit.
 *
 * A log that has grown to the size of a segment is renamed from NAME to NAME.000001,
 * NAME.000002 and so on, and NAME begins anew.  When all of them would be more than the
 * limit, the oldest segment is removed.  What it says of calls that were allowed, of
 * processes that ended and of shims that reported in goes with it; all other lines
 * (denials first of all) are kept in NAME.000000, in their order, until that is a
 * quarter of the limit.  Thus whoever floods the log cannot flood out what he was
 * denied before.
 *
 * Read NAME.000000, NAME.000001, ... and NAME, one after another: aw_lines_open() does.
 * Not for two threads at a time.
 */
#ifndef AW_SUPERVISOR_AUDIT_SEGMENTS_H
#define AW_SUPERVISOR_AUDIT_SEGMENTS_H

#include <stdint.h>

#include "policy/error.h"

#define AW_LOG_SIZE_DEFAULT (1ull << 30)

/* What stands behind the name of a log: a dot and the number, which begins at 1. */
#define AW_SEGMENT_DIGITS 6

struct aw_segments;

/* What went when a segment was removed. */
struct aw_segments_gone {
	uint64_t lines;	  /* 0: nothing was removed */
	uint64_t denials; /* of them, lines that would have been kept */
};

/* path is the log's own, absolute; limit is in bytes. */
int aw_segments_open(const char *path, uint64_t limit, struct aw_segments **ret,
	struct aw_error *err);

/*
 * Begin a new segment if the file of fd, which ends with a whole line, is big enough;
 * fd is then another file.  When that fails the log goes on in the file that it has.
 */
int aw_segments_turn(struct aw_segments *segments, int fd,
	struct aw_segments_gone *ret_gone, struct aw_error *err);

/* NULL is fine. */
void aw_segments_close(struct aw_segments *segments);

#endif
