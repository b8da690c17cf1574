/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_words.h - the words of the log for what C has as numbers.
 */
#ifndef AW_SUPERVISOR_AUDIT_LOG_WORDS_H
#define AW_SUPERVISOR_AUDIT_LOG_WORDS_H

#include <stddef.h>

#include "supervisor/audit/event.h"

/* "ENOENT", or NULL for a number that has no name here. */
const char *aw_errno_name(int number);

/* "inet", "inet6", "unix", or NULL. */
const char *aw_family_name(int family);

/* "call", "lost-shim", ...; NULL past the last. */
const char *aw_event_name(enum aw_event_kind kind);

/* "shim" or "kernel", else NULL. */
const char *aw_source_name(enum aw_source source);

/* As aw_verdict_name(), an answered question included: "ask-allow", "ask-deny". */
const char *aw_event_verdict(const struct aw_event *event);

#endif
