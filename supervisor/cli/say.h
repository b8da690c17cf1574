/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - what the mains of commands tell people on stderr.
 */
#ifndef AW_SUPERVISOR_CLI_SAY_H
#define AW_SUPERVISOR_CLI_SAY_H

#include <stddef.h>

#include "policy/error.h"

/* Exit statuses of the commands other than run. */
enum { AW_EXIT_FAILED = 1, AW_EXIT_USAGE = 2 };

/* One "agentwatch: ..." line; control characters in it are shown as \xNN. */
void aw_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Say err and give the exit status for it. */
int aw_say_failed(const struct aw_error *err);
int aw_say_usage(const struct aw_error *err);

/*
 * Copy len bytes to out as people may see them on a terminal: control characters, bytes
 * that are not UTF-8 and characters that turn the writing direction are shown as \xNN
 * or \u{NNNN}, a backslash as two.  Always terminated; returns the length, cut at a
 * whole character when it does not fit.
 */
size_t aw_show(const char *bytes, size_t len, char *out, size_t size);

/* As aw_show(), into memory that the caller owns; NULL when there is none. */
char *aw_shown(const char *bytes, size_t len);

#endif
