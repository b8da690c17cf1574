/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject_key.h - when two questions are the same one.
 *
 * A key holds the rule and what it was asked about: the kind of access, both paths, the
 * whole argument vector, the address.  Bytes, so that they can be compared and hashed.
 */
#ifndef AW_SUPERVISOR_APPROVAL_SUBJECT_KEY_H
#define AW_SUPERVISOR_APPROVAL_SUBJECT_KEY_H

#include <stdbool.h>
#include <stddef.h>

struct aw_asked;

struct aw_subject_key {
	char *bytes; /* owned */
	size_t len;
};

/* What an action is for a human: some are asked about together. */
enum aw_subject_access {
	AW_ACCESS_READ,
	AW_ACCESS_CHANGE, /* write, create, delete, rename */
	AW_ACCESS_EXEC,
	AW_ACCESS_CONNECT, /* and send */
	AW_ACCESS_LISTEN,
};
enum aw_subject_access aw_access_of(int action);

/* False: out of memory. */
bool aw_key_make(const struct aw_asked *asked, struct aw_subject_key *ret);
bool aw_key_copy(const struct aw_subject_key *key, struct aw_subject_key *ret);
bool aw_key_equal(const struct aw_subject_key *a, const struct aw_subject_key *b);
void aw_key_release(struct aw_subject_key *key);

/* Turn a key about reading into the one about changing, or back; false: it is neither. */
bool aw_key_as_change(struct aw_subject_key *key, bool change);

#endif
