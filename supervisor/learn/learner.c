/* SPDX-License-Identifier: Apache-2.0 */
/* learner.c - what a log's calls add up to. */
#include "supervisor/learn/learner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 20000 };

int aw_learner_init(struct aw_learner *learner, const struct aw_learn_params *params,
	const struct aw_policy_variables *variables, const struct aw_policy *present,
	struct aw_error *err)
{
	memset(learner, 0, sizeof(*learner));
	learner->params = *params;
	learner->room = ROOM;
	learner->variables = variables;
	if (aw_baseline_init(&learner->sieve, variables, present, err) < 0)
		return aw_while(err, "what no policy changes");
	aw_learn_tree_init(&learner->tree, &learner->sieve.anchors);
	learner->tree.style.whole_workspace = params->for_whom == AW_LEARN_AGENT;
	if (params->for_whom != AW_LEARN_WORKSPACE)
		aw_presets_load(&learner->presets, variables);
	return 0;
}

void aw_learner_release(struct aw_learner *learner)
{
	struct aw_destination *d, *next_destination;
	struct aw_learn_question *q, *next_question;

	HASH_ITER(hh, learner->destinations, d, next_destination)
	{
		HASH_DEL(learner->destinations, d);
		free(d->text);
		free(d);
	}
	HASH_ITER(hh, learner->questions, q, next_question)
	{
		HASH_DEL(learner->questions, q);
		aw_question_free(q);
	}
	aw_learn_tree_free(&learner->tree);
	aw_lookups_free(&learner->lookups);
	aw_programs_free(&learner->programs);
	aw_presets_release(&learner->presets);
	aw_baseline_release(&learner->sieve);
}

static void want_address(struct aw_learner *learner, const struct aw_seen *seen,
	const struct aw_access_need *need, const char *by)
{
	bool listen = need->access == AW_GRANT_LISTEN;
	char *text = aw_destination_text(learner, seen, listen);
	char *key = aw_learn_text("%s%s", listen ? "listen " : "", text);
	uint64_t presets = aw_presets_admit(&learner->presets, seen, need);
	struct aw_destination *d;

	HASH_FIND_STR(learner->destinations, key, d);
	if (!d) {
		d = aw_learn_new(sizeof(*d));
		d->text = key; /* the key, until all calls are in */
		d->listen = listen;
		d->presets = presets;
		HASH_ADD_KEYPTR(hh, learner->destinations, d->text, strlen(d->text), d);
	} else {
		free(key);
	}
	free(text);
	d->presets &= presets;
	aw_counter_add(&d->tally, 1, by);
}

/* No preset is asked about what is installed: they leave reading to the default. */
static bool may_be_preset(const struct aw_learn_tree *tree,
	const struct aw_branch *branch, enum aw_access access)
{
	const struct aw_branch *top = branch;

	while (top->up)
		top = top->up;
	return access == AW_GRANT_WRITE ||
	       (access == AW_GRANT_READ && top != tree->tops[0]);
}

static void want_file(struct aw_learner *learner, const struct aw_seen *seen,
	const struct aw_access_need *need, const char *by)
{
	struct aw_branch *branch;
	struct aw_use *use;
	bool whole;

	if (learner->params.files == AW_LEARN_READ_ONLY &&
		need->access == AW_GRANT_READ)
		return;
	branch = aw_learn_tree_find(&learner->tree, need->path, need->access,
		aw_name_maker_of(learner, seen), &whole);
	use = &branch->uses[need->access];
	if (!use->needed) {
		use->needed = use->folder = use->missing = true;
		use->presets = UINT64_MAX;
	}
	use->whole |= whole;
	use->folder &= need->folder;
	use->listed |= need->folder && !need->entered && !need->made &&
		       !need->unnamed && !need->missing;
	use->made |= need->made;
	use->unnamed |= need->unnamed;
	use->missing &= need->missing;
	if (use->presets)
		use->presets &=
			may_be_preset(&learner->tree, branch, need->access)
				? aw_presets_admit(&learner->presets, seen, need)
				: 0;
	aw_counter_add(&use->tally, 1, by);
}

static void fold_all(struct aw_learner *learner)
{
	aw_generalize(&learner->tree, AW_GRANT_EXEC, learner->params.siblings);
	aw_generalize(&learner->tree, AW_GRANT_WRITE, learner->params.siblings);
	aw_generalize(&learner->tree, AW_GRANT_READ, learner->params.siblings);
}

/* More names can only fold more, so folding early changes nothing but the size. */
static void keep_small(struct aw_learner *learner)
{
	if (learner->tree.count <= learner->room)
		return;
	fold_all(learner);
	aw_learn_tree_prune(&learner->tree);
	if (learner->tree.count > learner->room / 2)
		learner->room *= 2;
}

void aw_learner_add(struct aw_learner *learner, const struct aw_seen *seen)
{
	struct aw_access_need needs[AW_NEEDS_MAX];
	size_t count = aw_needs_of(&learner->sieve, seen, needs);
	const char *by = aw_program_name_of(&learner->programs, seen->exe);
	struct aw_learn_reason reason;

	learner->calls++;
	aw_lookups_add(&learner->lookups, seen);
	if (seen->action == AW_EXEC && seen->outcome != AW_OUTCOME_FAILED) {
		aw_program_name_of(&learner->programs, seen->path);
		aw_program_name_of(&learner->programs, seen->raw);
		if (seen->argc)
			aw_program_name_of(&learner->programs, seen->argv[0]);
	}
	for (size_t i = 0; i < count; i++) {
		switch (aw_access_find_outcome(
			&learner->sieve, seen, &needs[i], &reason)) {
		case AW_OUTCOME_WANTED:
			if (needs[i].access >= AW_GRANT_CONNECT)
				want_address(learner, seen, &needs[i], by);
			else
				want_file(learner, seen, &needs[i], by);
			break;
		case AW_OUTCOME_ASKED:
			aw_question_add(learner, seen, &needs[i], &reason, by);
			break;
		default:
			break;
		}
	}
	keep_small(learner);
}

struct masks {
	uint64_t *items; /* owned */
	size_t count;
};

static void add_mask(struct masks *masks, uint64_t mask)
{
	masks->items =
		aw_learn_grow(masks->items, (masks->count + 1) * sizeof(*masks->items));
	masks->items[masks->count++] = mask;
}

static void collect_masks(struct masks *masks, const struct aw_branch *branch)
{
	const struct aw_use *use = &branch->uses[AW_GRANT_WRITE];
	struct aw_branch *child, *next;

	if (use->needed && use->presets)
		add_mask(masks, use->presets);
	HASH_ITER(hh, branch->below, child, next)
	collect_masks(masks, child);
}

/* What a chosen preset admits needs no entry. */
static void leave_out(const struct aw_presets *presets, struct aw_branch *branch)
{
	struct aw_branch *child, *next;

	for (int i = 0; i < AW_GRANT_EXEC; i++)
		if (branch->uses[i].presets & presets->chosen)
			branch->uses[i] = (struct aw_use){.needed = false};
	HASH_ITER(hh, branch->below, child, next)
	leave_out(presets, child);
}

static void choose_presets(struct aw_learner *learner)
{
	struct aw_destination *d, *next;
	struct masks masks = {0};

	for (size_t i = 0; i < learner->sieve.anchors.count; i++)
		collect_masks(&masks, learner->tree.tops[i]);
	HASH_ITER(hh, learner->destinations, d, next)
	add_mask(&masks, d->presets);
	aw_presets_choose(
		&learner->presets, &learner->programs, masks.items, masks.count);
	free(masks.items);
	for (size_t i = 0; i < learner->sieve.anchors.count; i++)
		leave_out(&learner->presets, learner->tree.tops[i]);
	HASH_ITER(hh, learner->destinations, d, next)
	{
		if (d->presets & learner->presets.chosen) {
			HASH_DEL(learner->destinations, d);
			free(d->text);
			free(d);
		}
	}
}

static int by_text(const struct aw_destination *a, const struct aw_destination *b)
{
	return strcmp(a->text, b->text);
}

void aw_learner_complete(struct aw_learner *learner)
{
	static const char listen[] = "listen ";
	struct aw_destination *d, *next;

	choose_presets(learner);
	/* presets leave reading to the default, and so does what stands beside them */
	learner->read_only = learner->params.files == AW_LEARN_READ_ONLY ||
			     (learner->params.files == AW_LEARN_CHOSEN &&
				     aw_presets_are_of_program(&learner->presets));
	HASH_SORT(learner->destinations, by_text);
	HASH_ITER(hh, learner->destinations, d, next)
	if (d->listen)
		memmove(d->text, d->text + sizeof(listen) - 1,
			strlen(d->text) - sizeof(listen) + 2);
	aw_destinations_generalize(learner);
	aw_questions_generalize(learner);
	aw_learn_tree_sort(&learner->tree);
	fold_all(learner);
}
