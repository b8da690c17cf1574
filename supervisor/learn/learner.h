/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learner.h - what a log's calls add up to.
 *
 * Calls go in one by one and are forgotten; what stays is the tree of files and
 * programs, the addresses, and the questions for a person.
 */
#ifndef AW_SUPERVISOR_LEARN_LEARNER_H
#define AW_SUPERVISOR_LEARN_LEARNER_H

#include "supervisor/learn/generalize.h"
#include "supervisor/learn/looked_up.h"
#include "supervisor/learn/access_need.h"
#include "supervisor/learn/preset.h"

/* An address that was spoken to or listened on. */
struct aw_destination {
	char *text; /* owned; as a policy has it */
	bool listen;
	struct aw_counter tally;
	uint64_t presets; /* those that admit each use */
	UT_hash_handle hh;
};

/* Something that only a person may allow. */
struct aw_learn_question {
	char *key;     /* owned */
	char *text;    /* owned; the entry that would allow it */
	char *subject; /* owned; the path, or the address */
	enum aw_access access;
	bool missing;
	bool covered; /* an entry of the policy admits it: it has to be denied */
	struct aw_learn_reason reason;
	struct aw_counter tally;
	UT_hash_handle hh;
};

/* For whom the policy is. */
enum aw_learn_for { AW_LEARN_POLICY, AW_LEARN_WORKSPACE, AW_LEARN_AGENT };

/* filesystem.default; chosen: read-only beside a program's preset, else deny. */
enum aw_learn_files { AW_LEARN_CHOSEN, AW_LEARN_DENY, AW_LEARN_READ_ONLY };

struct aw_learn_params {
	enum aw_learn_for for_whom;
	enum aw_learn_files files;
	unsigned siblings;
};

struct aw_learner {
	struct aw_learn_params params;
	const struct aw_policy_variables *variables; /* borrowed */
	struct aw_baseline sieve;
	struct aw_learn_tree tree;
	struct aw_programs programs;
	struct aw_presets presets;
	struct aw_lookups lookups;
	struct aw_destination *destinations; /* owned */
	struct aw_learn_question *questions; /* owned */
	uint64_t calls, sessions;
	size_t room;	/* branches of the tree; then it is folded while it grows */
	bool read_only; /* reading is left to the default */
};

/* variables and present (NULL: none) are borrowed. */
int aw_learner_init(struct aw_learner *learner, const struct aw_learn_params *params,
	const struct aw_policy_variables *variables, const struct aw_policy *present,
	struct aw_error *err);
void aw_learner_release(struct aw_learner *learner);

/* One more call. */
void aw_learner_add(struct aw_learner *learner, const struct aw_seen *seen);

/* All calls are in: choose presets, leave out what they admit, and fold. */
void aw_learner_complete(struct aw_learner *learner);

/* question.c: one more question, or one more time the same. */
void aw_question_add(struct aw_learner *learner, const struct aw_seen *seen,
	const struct aw_access_need *need, const struct aw_learn_reason *reason,
	const char *by);
/* Many about one directory, for one reason, become one. */
void aw_questions_generalize(struct aw_learner *learner);
void aw_question_free(struct aw_learn_question *question);

/* destination.c: the entry for the address of a call; owned by the caller. */
char *aw_destination_text(
	const struct aw_learner *learner, const struct aw_seen *seen, bool listen);
/* The pattern for a path outside of the tree; owned by the caller. */
char *aw_destination_path(
	const struct aw_learner *learner, const char *path, struct aw_name_maker maker);
struct aw_name_maker aw_name_maker_of(
	const struct aw_learner *learner, const struct aw_seen *seen);
/* Many ports of this machine become all of them. */
void aw_destinations_generalize(struct aw_learner *learner);

#endif
