/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.h - what someone asks the policy about, in words, and the answer.
 */
#ifndef AW_SUPERVISOR_COMMANDS_POLICY_SUBJECT_H
#define AW_SUPERVISOR_COMMANDS_POLICY_SUBJECT_H

#include <limits.h>

#include "supervisor/decide/strength.h"

enum { AW_SUBJECT_WORDS = 64 };

/* Strings point into the struct or are borrowed from the question. */
struct aw_asked_subject {
	enum aw_action action;
	const char *asked;    /* as it was written */
	char path[PATH_MAX];  /* files and programs: absolute, links resolved */
	char words[PATH_MAX]; /* programs: the words of argv, each terminated */
	const char *argv[AW_SUBJECT_WORDS];
	size_t argc;
	struct aw_address address; /* network */
	char host[256];		   /* "" without a name */
	bool literal;		   /* names with a wildcard are not looked up */
};

struct aw_asking {
	const char *home;      /* what "~" stands for, or NULL */
	bool missing_programs; /* a program that is not there would be in /usr/bin */
	bool literal; /* nobody answers for names in the session: engine preload */
};

/*
 * Read what was asked: a path, relative ones from the working directory on; a program
 * with its arguments, separated by spaces; an address as in a policy ("host:443",
 * "10.0.0.7:22", "[::1]:80", "unix:/path", "unix:@name"), to listen on also a port
 * alone. A path need not exist; links on its way are followed, and at its end unless it
 * is to be deleted.
 */
int aw_subject_read(enum aw_action action, const char *asked,
	const struct aw_asking *how, struct aw_asked_subject *ret,
	struct aw_error *err);

/*
 * True, with the rule, when a name is admitted by one with a wildcard alone, and such
 * names are not looked up in the session, so that none of their addresses is known.
 */
bool aw_subject_is_unknown(const struct aw_asked_subject *subject,
	const struct aw_image *image, struct aw_rule *ret);

/* What an image answers a process in these profiles, as a session would know the
 * subject. */
void aw_subject_decide(const struct aw_asked_subject *subject,
	const struct aw_image *image, uint32_t profiles, struct aw_decision *ret);

/* By whom that answer is held or, when it allows, judged. */
void aw_subject_enforced(const struct aw_asked_subject *subject,
	const struct aw_strength_facts *facts, const struct aw_decision *decision,
	struct aw_enforced *ret);

#endif
