/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - the lines of a file that may still grow.
 *
 * A log that is written in segments (supervisor/audit/segments.h) is read as one: those
 * beside it come first, in their order, and one that begins while it is read is gone
 * over to.
 */
#ifndef AW_SUPERVISOR_AUDIT_READ_LINES_H
#define AW_SUPERVISOR_AUDIT_READ_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/error.h"

struct aw_lines {
	char *name;	     /* owned; as it was asked for */
	char *file;	     /* owned; what is read now, for messages */
	unsigned part, next; /* the segment that is read; the number of the next one */
	int fd;		     /* owned */
	int notify;	     /* owned; inotify, or -1 */
	char *bytes;	     /* owned; [start, len) is not given out yet */
	size_t start, len, size;
	size_t looked;	      /* bytes of it known to hold no newline */
	unsigned long number; /* of the line given out last, in `file` */
};

/* name is a path or "-" for stdin. */
int aw_lines_open(struct aw_lines *lines, const char *name, struct aw_error *err);

/*
 * The next whole line, without its newline, terminated, valid until the next call.
 * 1: there is one; 0: not now; -1: error.
 */
int aw_lines_next(
	struct aw_lines *lines, char **ret, size_t *ret_len, struct aw_error *err);

/* True when there is part of a line at the end; it becomes line number + 1. */
bool aw_lines_torn(const struct aw_lines *lines);

/* Wait until the file has probably grown, or for ms. */
void aw_lines_wait(struct aw_lines *lines, int ms);

void aw_lines_release(struct aw_lines *lines);

#endif
