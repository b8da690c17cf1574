/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - what can be asked of a policy and what it can answer.
 */
#ifndef AW_POLICY_VERDICT_H
#define AW_POLICY_VERDICT_H

#include <stdint.h>

/* Ordered by strictness: of two verdicts the larger one holds. */
enum aw_verdict {
	AW_ALLOW,
	AW_ASK,
	AW_DENY,
	AW_HIDE, /* as if it were not there: ENOENT */
};

/* What a call does to its subject; the names are those of the log's "action". */
enum aw_action {
	AW_READ,
	AW_WRITE,
	AW_CREATE,
	AW_DELETE,
	AW_RENAME,
	AW_EXEC,
	AW_CONNECT,
	AW_BIND,
	AW_SEND,
	AW_SYSTEM_CALL, /* namespaces, other processes, what enforce refuses whatever a
		      rule says */
	AW_METADATA, /* stat, access, readlink: judged by hide only, logged as "read" */
	AW_ACTIONS
};

enum aw_mode { AW_AUDIT, AW_ENFORCE };

/* No rule matched: a default decided. */
#define AW_NO_RULE UINT32_MAX

struct aw_decision {
	enum aw_verdict verdict;
	uint32_t rule; /* index for aw_image_rule(), or AW_NO_RULE */
};

/* Lower-case names as in the log; "?" for a value out of range. */
const char *aw_verdict_name(enum aw_verdict verdict);
const char *aw_action_name(enum aw_action action);

#endif
