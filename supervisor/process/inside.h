/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.h - does a process belong to a session?
 *
 * What is watched must not control what watches it: answer its questions, trust a
 * policy that it has written, stop a session or have one read its policy again.  This
 * is told by processes, never by the environment.
 */
#ifndef AW_SUPERVISOR_PROCESS_INSIDE_H
#define AW_SUPERVISOR_PROCESS_INSIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include "policy/error.h"

/* What a supervisor calls itself, and nothing else of ours (supervisor.c). */
#define AW_SUPERVISOR_NAME "aw-service"

/*
 * An operation that seccomp(2) does not have, answered with EALREADY by whoever watches
 * the caller by a filter, and with EINVAL by the kernel.
 */
#define AW_SECCOMP_INSIDE 0x61676e74u

/*
 * True when pid is alive, is neither self nor another supervisor, and has none of them
 * above itself.  What cannot be seen is not outside.
 */
bool aw_is_outside(pid_t pid, pid_t self);

/*
 * Keep others of the same user out of this process (prctl(2), PR_SET_DUMPABLE).  Not
 * where a filter's supervisor watches it, which has to look into it, and which refuses
 * others' looks itself.
 */
void aw_keep_others_out(void);

/*
 * 0 when this process is outside of all sessions, also where it has a pid namespace of
 * its own.  Else -1, with what (a command's name) in the sentence.
 */
int aw_refuse_inside(const char *what, struct aw_error *err);

#endif
