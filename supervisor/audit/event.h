/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - one thing that happened, as the audit log will tell it.
 *
 * An event only borrows its strings; they must live until aw_log_write() returns.  Zero
 * and NULL mean "not known" or "does not apply", and such fields are left out of the
 * line.
 */
#ifndef AW_SUPERVISOR_AUDIT_EVENT_H
#define AW_SUPERVISOR_AUDIT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/image/image.h"
#include "policy/verdict.h"

enum aw_event_kind {
	AW_EV_CALL,
	AW_EV_START, /* a session or a process first seen without an exec */
	AW_EV_EXEC,  /* a process became another program */
	AW_EV_EXIT,
	AW_EV_REGISTER,	 /* the shim of a process reported in */
	AW_EV_LOST_SHIM, /* it should have and did not */
	AW_EV_POLICY,	 /* loaded, reloaded, or a reload refused */
	AW_EV_SUMMARY,
	AW_EV_WARNING,
	AW_EV_CONNECTION, /* one to outside has ended */
};

enum aw_source { AW_FROM_SHIM = 1, AW_FROM_KERNEL };

struct aw_text {
	const char *bytes; /* borrowed, need not be terminated, any bytes */
	size_t len;
};

struct aw_event {
	enum aw_event_kind kind;
	uint64_t ts; /* CLOCK_REALTIME, nanoseconds */
	pid_t pid, ppid;
	struct aw_text exe;
	const char *mcp, *profile; /* of the process, or NULL */
	uint32_t profiles;	   /* the same as `profile` */

	const char *call;      /* calls: function or system call name */
	enum aw_action action; /* calls */
	struct aw_text path, path2;
	struct aw_text raw, raw2; /* what the program passed, when different */

	const struct aw_text *argv; /* exec: the whole vector */
	size_t argc;
	bool argv_truncated;
	struct aw_text cwd;

	int family;		/* network: AF_*, 0 when not a network call */
	struct aw_text address; /* "127.0.0.1", "::1", "/run/x.sock", "@abstract" */
	struct aw_text host;
	int port; /* -1 when there is none */

	enum aw_verdict verdict;
	bool ask_denied; /* verdict AW_ASK: nobody said yes ("ask-deny") */
	bool enforced;
	const struct aw_rule *rule; /* or NULL */
	uint32_t rule_index;	    /* of it, or AW_NO_RULE */
	bool judged;	    /* by aw_watch_judge(): the strength is still to be found */
	const char *why;    /* it was refused, where neither rule nor default says so */
	const char *reason; /* denials: what decided, in words; aw_reason() */
	const char *strength; /* "kernel", "supervisor", "supervisor-raced", "shim" */
	enum aw_source source;
	bool result_known;
	int result; /* 0 or an errno value */

	const char *status_signal; /* exit: signal name, or NULL */
	int status;		   /* exit: code; -1 when unknown */

	const char *text; /* policy, warning, hello, lost-shim, start: one sentence */
	const char *warning_kind; /* warning: short machine word, e.g. "io_uring" */
	const char
		*extra; /* ready-made JSON object members, "\"a\":1,\"b\":2", or NULL */
};

#endif
