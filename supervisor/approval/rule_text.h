/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_text.h - what was asked as entries of a policy, and what a policy says of it.
 */
#ifndef AW_SUPERVISOR_APPROVAL_RULE_TEXT_H
#define AW_SUPERVISOR_APPROVAL_RULE_TEXT_H

#include <stdbool.h>

#include "policy/error.h"
#include "supervisor/audit/event.h"

enum { AW_RULE_ENTRIES = 8 };

/* Entries to add, in order. */
struct aw_rule_entries {
	struct {
		const char *section, *list;
		char *text; /* owned */
	} items[AW_RULE_ENTRIES];
	size_t count;
};

/* "read", "write" and so on for path, or its whole vector or address, with "!". */
int aw_rule_add(struct aw_rule_entries *entries, const char *section, const char *list,
	const char *prefix, char *text, struct aw_error *err);
void aw_rule_release(struct aw_rule_entries *entries);

/* A path, all of a program's arguments, an address as a pattern that matches it alone;
 * owned. */
int aw_rule_of_path(const struct aw_text *path, char **ret, struct aw_error *err);
int aw_rule_of_exec(const struct aw_event *event, char **ret, struct aw_error *err);
int aw_rule_of_address(const struct aw_event *event, char **ret, struct aw_error *err);

/* What image says of the event. */
enum aw_verdict aw_rule_verdict(
	const struct aw_image *image, const struct aw_event *event);

/* The action that one of an event's two paths is judged by. */
enum aw_action aw_rule_action(const struct aw_event *event, bool second);

#endif
