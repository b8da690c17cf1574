/* SPDX-License-Identifier: Apache-2.0 */
/* epoch.c - two doors for readers, and who waits until they are through. */
#include "supervisor/session/epoch.h"

#include <stdlib.h>

#include "policy/load/load.h"
#include "supervisor/session/shared.h"

struct aw_epoch_garbage_one {
	struct aw_shared *shared; /* owned */
	struct aw_policy policy;  /* owned */
	struct aw_epoch_garbage_one *next;
};

unsigned aw_epoch_enter(struct aw_epoch *readers)
{
	unsigned door = atomic_load(&readers->open);

	atomic_fetch_add(&readers->inside[door], 1);
	return door;
}

void aw_epoch_leave(struct aw_epoch *readers, unsigned door)
{
	atomic_fetch_sub(&readers->inside[door], 1);
}

void aw_epoch_retire(struct aw_epoch_garbage *retired, struct aw_shared *shared,
	const struct aw_policy *policy)
{
	struct aw_epoch_garbage_one *one = calloc(1, sizeof(*one));

	if (!one)
		return;
	one->shared = shared;
	one->policy = *policy;
	one->next = retired->coming;
	retired->coming = one;
}

static void release_all(struct aw_epoch_garbage_one *one)
{
	while (one) {
		struct aw_epoch_garbage_one *next = one->next;

		if (one->shared)
			aw_shared_release(one->shared);
		free(one->shared);
		aw_policy_release(&one->policy);
		free(one);
		one = next;
	}
}

void aw_epoch_collect(struct aw_epoch_garbage *retired, struct aw_epoch *readers)
{
	unsigned open = atomic_load(&readers->open);

	/* those who came in by it before the last change: both batches wait for them */
	if ((!retired->coming && !retired->going) ||
		atomic_load(&readers->inside[!open]))
		return;
	release_all(retired->going);
	retired->going = retired->coming;
	retired->coming = NULL;
	if (retired->going)
		atomic_store(&readers->open, !open);
}
