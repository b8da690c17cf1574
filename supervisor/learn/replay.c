/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - every call of the logs, judged by the policy that was learnt. */
#include "supervisor/learn/replay.h"

#include <stdlib.h>
#include <string.h>

#include "supervisor/cli/say.h"

enum { SAID_MOST = 20 };

/* What all needs of one call come to; worst last. */
enum result { ADMITTED, LEFT, ASKED, WRONG };

static void say_wrong(const struct aw_replay *replay, const struct aw_seen *seen,
	const struct aw_access_need *need, bool admitted)
{
	char *path = aw_shown(need->path, strlen(need->path));

	if (replay->wrong < SAID_MOST)
		aw_say("replay: %s of %s would be %s, which is a mistake in "
		       "agentwatch; please report it",
			seen->call, path && *path ? path : "an address",
			admitted ? "admitted without a question" : "refused");
	free(path);
}

static enum result result_of(struct aw_learner *learner, const struct aw_policy *policy,
	const struct aw_seen *seen, const struct aw_access_need *need,
	const struct aw_replay *replay)
{
	struct aw_learn_reason reason;
	struct aw_decision decision;
	enum aw_access_outcome fate =
		aw_access_find_outcome(&learner->sieve, seen, need, &reason);
	bool admitted;

	aw_judge(policy, seen, need, &decision);
	admitted = decision.verdict == AW_ALLOW;
	if (fate == AW_OUTCOME_ASKED && !admitted)
		return ASKED;
	if (admitted && fate != AW_OUTCOME_ASKED)
		return ADMITTED;
	if (fate == AW_OUTCOME_LEFT)
		return LEFT;
	say_wrong(replay, seen, need, admitted);
	return WRONG;
}

static void replay_call(struct aw_learner *learner, const struct aw_policy *policy,
	const struct aw_seen *seen, struct aw_replay *replay)
{
	struct aw_access_need needs[AW_NEEDS_MAX];
	size_t count = aw_needs_of(&learner->sieve, seen, needs);
	enum result worst = ADMITTED;

	for (size_t i = 0; i < count; i++) {
		enum result result =
			result_of(learner, policy, seen, &needs[i], replay);

		if (result > worst)
			worst = result;
	}
	replay->calls++;
	replay->admitted += worst == ADMITTED;
	replay->left += worst == LEFT;
	replay->asked += worst == ASKED;
	replay->wrong += worst == WRONG;
}

int aw_replay_log(struct aw_learner *learner, const struct aw_policy *policy,
	const char *log, struct aw_replay *replay, struct aw_error *err)
{
	struct aw_log_reader reader;
	struct aw_seen seen;
	int r;

	if (aw_log_reader_open(&reader, log, err) < 0)
		return -1;
	reader.quiet = true;
	while ((r = aw_log_reader_next(&reader, &seen, err)) > 0)
		replay_call(learner, policy, &seen, replay);
	aw_log_reader_close(&reader);
	return r;
}
