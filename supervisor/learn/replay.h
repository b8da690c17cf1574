/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - the proof: every call of the logs, judged by the policy that was learnt.
 */
#ifndef AW_SUPERVISOR_LEARN_REPLAY_H
#define AW_SUPERVISOR_LEARN_REPLAY_H

#include "supervisor/learn/learner.h"

struct aw_replay {
	uint64_t calls;	   /* that a policy is asked about */
	uint64_t admitted; /* by this one */
	uint64_t asked;	   /* refused, until a person allows it */
	uint64_t left;	   /* refused; they failed anyway, or enforce answers them */
	uint64_t wrong;	   /* refused though wanted, or admitted though a question */
};

/* Add the calls of one log; what is wrong is said.  -1 on a read error. */
int aw_replay_log(struct aw_learner *learner, const struct aw_policy *policy,
	const char *log, struct aw_replay *replay, struct aw_error *err);

#endif
