/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.h - what someone asks the policy about, in words, and the answer.
 */
#ifndef AW_SUPERVISOR_POLICY_SUBJECT_H
#define AW_SUPERVISOR_POLICY_SUBJECT_H

#include <limits.h>

#include "supervisor/strength.h"

enum { AW_SUBJECT_WORDS = 64 };

/* Strings point into the struct or are borrowed from the question. */
struct aw_subject {
	enum aw_action action;
	const char *asked;    /* as it was written */
	char path[PATH_MAX];  /* files and programs: absolute, links resolved */
	char words[PATH_MAX]; /* programs: the words of argv, each terminated */
	const char *argv[AW_SUBJECT_WORDS];
	size_t argc;
	struct aw_address address; /* network */
	char host[256];		   /* "" without a name */
};

/*
 * Read what was asked: a path; a program with its arguments, parted by blanks; an
 * address as in a policy ("host:443", "10.0.0.7:22", "[::1]:80", "unix:/path",
 * "unix:@name"), to listen on also a port alone.
 */
int aw_subject_read(enum aw_action action, const char *asked, struct aw_subject *ret,
	struct aw_error *err);

/* The policy's verdict, and by whom it is held (or, when allowed, judged). */
void aw_subject_judge(const struct aw_subject *subject,
	const struct aw_strength_facts *facts, struct aw_decision *ret_decision,
	struct aw_held *ret_held);

#endif
