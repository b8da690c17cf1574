/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_verdicts.h - what each source of a policy says by itself.
 *
 * A file is loaded alone, with the same variables, and nothing that holds without a
 * word in any file counts; presets and protections are those of the whole policy.
 */
#ifndef AW_SUPERVISOR_COMMANDS_POLICY_SOURCE_VERDICTS_H
#define AW_SUPERVISOR_COMMANDS_POLICY_SOURCE_VERDICTS_H

#include "policy/image/rules.h"
#include "supervisor/commands/policy/subject.h"
#include "supervisor/lint/effective_policy.h"

/* One source: a file, a preset, or the protections. */
struct aw_source_verdict {
	const char *layer, *file; /* borrowed; no file: NULL */
	bool trusted;
	enum aw_rules_of of;
	struct aw_policy policy; /* a file's own; none for presets and protections */
	struct aw_image *image;	 /* owned; what it says, and no more */
	uint32_t profiles;	 /* of that image, as asked about */
	bool unreadable;
};

struct aw_source_verdicts {
	struct aw_source_verdict *items; /* owned */
	size_t count;
};

/* Lowest layer first, protections last.  The standing must outlive *ret. */
int aw_source_verdicts_load(const struct aw_effective *standing,
	struct aw_source_verdicts *ret, struct aw_error *err);
void aw_source_verdicts_release(struct aw_source_verdicts *words);

/* An answer, with what gave it; strings belong to the source or to the struct. */
struct aw_source_line {
	struct aw_decision decision;
	bool says;    /* false: it has no word on this */
	bool by_rule; /* `rule` is filled in */
	struct aw_rule rule;
	const char *key; /* the default that decided: "filesystem.default", or NULL */
	const char *value;
	char key_text[160];    /* what `key` points to for a profile's */
	bool built_in;	       /* ... which no file gave */
	struct aw_given given; /* the place that gave it */
	const char *kept;      /* why it is refused whatever rules say, or NULL */
	bool inside;  /* the session has a network of its own, where it may do so */
	bool unknown; /* `wildcard` covers the name, but admits no address */
	struct aw_rule wildcard;
};

/* What the whole policy answers, and by which rule or whose default. */
void aw_source_verdicts_decide(const struct aw_effective *standing,
	const struct aw_asked_subject *subject, struct aw_source_line *ret);

/* What one source answers. */
void aw_source_verdicts_ask(const struct aw_source_verdict *source,
	const struct aw_asked_subject *subject, struct aw_source_line *ret);

#endif
