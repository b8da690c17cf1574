/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - which workspace policies their user has read and trusts.
 *
 * A workspace's .agentwatch.yaml comes with the repository, so it can only tighten
 * until `agentwatch trust` records the SHA-256 of its bytes.  The records are outside
 * all workspaces: trusted.jsonl in $XDG_STATE_HOME/agentwatch (0600 in 0700, one JSON
 * object a line), replaced as a whole under a lock, and protected from what agentwatch
 * runs.
 */
#ifndef AW_SUPERVISOR_LAUNCH_TRUST_H
#define AW_SUPERVISOR_LAUNCH_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "policy/error.h"
#include "policy/load/load.h"
#include "supervisor/util/sha256.h"

#define AW_TRUST_FILE ".agentwatch.yaml"

/* One workspace that was trusted. */
struct aw_trust_record {
	char *workspace; /* owned; its real path */
	char sha256[AW_SHA256_TEXT];
	char date[32];	/* RFC 3339, UTC */
	unsigned owner; /* of the file, at that time */
};

struct aw_trust_records {
	struct aw_trust_record *items; /* owned; in the order of their dates */
	size_t count;
};

/*
 * All records; none when nothing was ever trusted.  A file of records that belongs to
 * someone else, can be written by others or makes no sense is an error.
 */
int aw_trust_read(struct aw_trust_records *ret, struct aw_error *err);
void aw_trust_records_release(struct aw_trust_records *records);

/* The record of a workspace, or NULL; borrowed. */
const struct aw_trust_record *aw_trust_find(
	const struct aw_trust_records *records, const char *workspace);

/* Record these bytes of a workspace's file, in place of an earlier record. */
int aw_trust_record(
	const char *workspace, const char *sha256, uid_t owner, struct aw_error *err);

/* Take the record of a workspace away; *ret_found says whether there was one. */
int aw_trust_forget(const char *workspace, bool *ret_found, struct aw_error *err);

/*
 * Read a file that may be trusted: a regular file, no symbolic link, that belongs to
 * the user or root, that nobody else can write to, of at most 1 MiB.  *ret_bytes is
 * owned by the caller.  With an error whose code is EPERM the file is there but is none
 * of these.
 */
int aw_trust_read_file(const char *file, char **ret_bytes, size_t *ret_len,
	uid_t *ret_owner, struct aw_error *err);

enum aw_trust_state {
	AW_TRUST_NOTHING,    /* no record; the file may be there or not */
	AW_TRUST_HOLDS,	     /* the file is the one that was trusted */
	AW_TRUST_CHANGED,    /* its bytes are others now */
	AW_TRUST_UNFIT,	     /* it is a link, someone else's, writable, ... */
	AW_TRUST_GONE,	     /* it is not there any more */
	AW_TRUST_UNREADABLE, /* it cannot be read */
	AW_TRUST_NO_RECORDS, /* the file of records cannot be used */
};

/* What is known of a workspace's policy file. */
struct aw_trust_judgement {
	enum aw_trust_state state;
	char *file;   /* owned; it need not be there */
	char *bytes;  /* owned; when it holds: those that were judged */
	char *text;   /* owned; a sentence about the state, or NULL */
	char *advice; /* owned; how to trust, or NULL */
	char date[32];
	struct aw_policy_judged judged; /* for the loader; borrows from here */
};

/* Judge the policy of this workspace, now.  *ret is freed by aw_trust_free(). */
int aw_trust_judge(
	const char *workspace, struct aw_trust_judgement **ret, struct aw_error *err);
void aw_trust_free(struct aw_trust_judgement *judgement);

/* "trusted", "changed", ...: one word for a state. */
const char *aw_trust_word(enum aw_trust_state state);

/* One line about the file, with prefix in front; none where there is no file. */
void aw_trust_print(
	const struct aw_trust_judgement *judgement, const char *prefix, FILE *out);

#endif
