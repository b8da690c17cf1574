/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor_reload.c - another policy while the command runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/image/profile.h"
#include "supervisor/cli/say.h"
#include "supervisor/launch/supervisor_internal.h"
#include "supervisor/net/egress/egress.h"

/* The files that are there now, and what they say. */
static int load_again(struct aw_run *run, struct aw_policy *ret, struct aw_error *err)
{
	const struct aw_layers_params params = aw_run_params(run);

	if (aw_layers_again(&params, &run->layers, err) < 0)
		return -1;
	return aw_run_load_policy(run, ret) == 0
		       ? 0
		       : aw_fail(err, EINVAL,
				 "the files have mistakes (see its terminal)");
}

/*
 * What Landlock grants, and the filter lets through, stays for as long as the processes
 * live: a policy that takes some of it back could not be held.
 */
static int keep_grants(
	const struct aw_run *run, const struct aw_policy *policy, struct aw_error *err)
{
	const char *path;

	if (atomic_load(&run->shared.page->work) != AW_WORK_READS)
		return 0;
	if (aw_image_profiles_refuse_reads(policy->image))
		return aw_fail(err, ENOTSUP,
			"it has a profile that refuses reads, which cannot be held in "
			"a session whose processes open files for reading by "
			"themselves; end it and start a new one");
	if (!aw_landlock_still(&run->holding.landlock, policy->image, &path))
		return aw_fail(err, ENOTSUP,
			"it refuses reading something at or below %s, which the "
			"processes of this session may open by themselves until they "
			"end; end the session and start a new one",
			path);
	return 0;
}

/* The same, handed to the watched processes; with an error nothing is left. */
static int read_again(struct aw_run *run, struct aw_policy *ret,
	struct aw_shared *shared, struct aw_error *err)
{
	if (load_again(run, ret, err) < 0)
		return -1;
	if (keep_grants(run, ret, err) == 0 && aw_run_share(run, ret, shared, err) == 0)
		return 0;
	aw_policy_release(ret);
	return -1;
}

int aw_supervisor_reload(struct service *s, char *text, size_t size)
{
	struct aw_shared *fresh = calloc(1, sizeof(*fresh)), *old;
	struct aw_policy policy;
	struct aw_policy_variables *v = &s->run->layers.variables;
	struct aw_error err = {.text = "out of memory"};

	v->before = v->before ? v->before : &s->run->policy;
	if (!fresh || read_again(s->run, &policy, fresh, &err) < 0) {
		free(fresh);
		snprintf(text, size, "the old policy stays: %s", err.text);
		aw_say("reload: %s", text);
		aw_supervisor_say_policy(&s->watch, s->run, text);
		return -1;
	}
	if (aw_names_reload(s->watch.names, policy.image, &err) < 0)
		aw_say("reload: %s", err.text); /* names that it adds are not known */
	if (aw_supervisor_answer_names(s, &policy, &err) < 0)
		aw_say("reload: %s",
			err.text); /* so names that it denies are reached */
	if (aw_egress_reload(s->watch.traffic, &policy, &err) < 0)
		aw_say("reload: %s", err.text); /* the old limits stay */
	old = atomic_load(&s->watch.shared);
	atomic_store(&s->watch.image, policy.image);
	atomic_store(&s->watch.origins, policy.origins);
	atomic_store(&s->watch.shared, fresh);
	atomic_store(&old->page->stale, 1);
	if (v->before == &s->latest) /* the session's first stays: others hold it */
		aw_epoch_retire(&s->retired, old, &s->latest);
	s->latest = policy;
	v->before = &s->latest;
	if (s->watch.queue) {
		aw_questions_set_deadline(s->watch.questions,
			s->run->options.ask_deadline ? s->run->ask_deadline
						     : policy.ask_deadline);
		aw_approval_queue_look_again(s->watch.queue);
	}
	snprintf(text, size, "the policy was read again%s",
		fresh->page->hides && !s->watch.hides
			? "; its hide rules hold for opens only, since metadata was "
			  "not watched from the start"
			: "");
	aw_supervisor_say_policy(&s->watch, s->run, text);
	return 0;
}
