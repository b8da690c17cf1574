/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - what `policy check` has found: mistakes, warnings and notes.
 */
#ifndef AW_SUPERVISOR_LINT_FINDINGS_H
#define AW_SUPERVISOR_LINT_FINDINGS_H

#include "policy/load/load.h"

enum aw_severity { AW_FOUND_ERROR, AW_FOUND_WARNING, AW_FOUND_NOTE };

struct aw_finding {
	enum aw_severity severity;
	const char *check; /* its name, a literal: "double", "overruled", ... */
	char *file, *text; /* owned */
	unsigned line, column;
};

struct aw_findings {
	struct aw_finding *items; /* owned */
	size_t count;
	bool failed; /* out of memory: not all are there */
};

void aw_findings_add(struct aw_findings *findings, enum aw_severity severity,
	const char *check, const char *file, unsigned line, unsigned column,
	const char *fmt, ...) __attribute__((format(printf, 7, 8)));

/* Those of the loader. */
void aw_findings_add_all(
	struct aw_findings *findings, const struct aw_diagnostics *diagnostics);

/* Keep only those that stand, for the same check, in others, too. */
void aw_findings_intersect(
	struct aw_findings *findings, const struct aw_findings *others);

/* By file, in the order in which files came first, then by line and column. */
void aw_findings_sort(struct aw_findings *findings);

/* One line or one JSON object each, on stdout; notes only when they are wanted. */
void aw_findings_print(const struct aw_findings *findings, bool notes, bool json);

size_t aw_findings_count(const struct aw_findings *findings, enum aw_severity severity,
	const char *file);
void aw_findings_free(struct aw_findings *findings);

#endif
