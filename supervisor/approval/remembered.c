/* SPDX-License-Identifier: Apache-2.0 */
/* remembered.c - answers for the rest of a session. */
#include "supervisor/approval/remembered.h"
#include "supervisor/util/hash.h"

#include <stdlib.h>

struct aw_remembered {
	struct aw_subject_key key; /* owned */
	bool yes;
	uid_t uid;
	UT_hash_handle hh;
};

static struct aw_remembered *find(
	struct aw_remembered *all, const struct aw_subject_key *key)
{
	struct aw_remembered *found = NULL;

	HASH_FIND(hh, all, key->bytes, key->len, found);
	return found;
}

bool aw_remembered_find(
	struct aw_remembered *all, struct aw_subject_key *key, struct aw_answered *ret)
{
	const struct aw_remembered *found = find(all, key);

	if (!found && aw_key_as_change(key, true)) {
		found = find(all, key);
		if (found && !found->yes)
			found = NULL;
		aw_key_as_change(key, false);
	}
	if (found)
		*ret = (struct aw_answered){
			.state = found->yes ? AW_ANSWER_YES : AW_ANSWER_NO,
			.how = AW_HOW_SESSION,
			.by_human = true,
			.uid = found->uid};
	return found;
}

void aw_remembered_add(struct aw_remembered **all, const struct aw_subject_key *key,
	bool yes, uid_t uid)
{
	struct aw_remembered *r = find(*all, key);

	if (!r) {
		r = calloc(1, sizeof(*r));
		if (!r || !aw_key_copy(key, &r->key)) {
			free(r);
			return;
		}
		HASH_ADD_KEYPTR(hh, *all, r->key.bytes, r->key.len, r);
		if (!r->hh.tbl) {
			aw_key_release(&r->key);
			free(r);
			return;
		}
	}
	r->yes = yes;
	r->uid = uid;
}

void aw_remembered_free(struct aw_remembered *all)
{
	struct aw_remembered *r, *next;

	HASH_ITER(hh, all, r, next)
	{
		HASH_DEL(all, r);
		aw_key_release(&r->key);
		free(r);
	}
}
