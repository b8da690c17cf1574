/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_file.h - the file of one policy layer while an entry is added to it.
 *
 * The new text stands in a file of its own beside the old one until it is known to be
 * right; then it takes the old one's place at once, with its mode.
 */
#ifndef AW_SUPERVISOR_APPROVAL_LAYER_FILE_H
#define AW_SUPERVISOR_APPROVAL_LAYER_FILE_H

#include <sys/stat.h>

#include "supervisor/approval/rule_text.h"
#include "supervisor/launch/run.h"

struct aw_layer_file {
	const char *layer;
	enum aw_trust trust;
	char *path;	/* owned; as the policy's messages name it */
	char *target;	/* owned; where links lead */
	char *fresh;	/* owned; the new text's file, or NULL */
	char *text;	/* owned; the old text */
	struct stat st; /* of the old one; st_ino 0: there is none yet */
};

/* By "global", "agent" or "workspace"; what is there is read. */
int aw_layer_file_find(const struct aw_run *run, const char *layer,
	struct aw_layer_file *ret, struct aw_error *err);

/* Write the old text with all entries into the new file. */
int aw_layer_file_edit(struct aw_layer_file *file,
	const struct aw_rule_entries *entries, const char *comment,
	struct aw_error *err);

/* Load the session's policy with the new file instead of the old one. */
int aw_layer_file_load(const struct aw_layer_file *file, const struct aw_run *run,
	struct aw_policy *ret, struct aw_error *err);

/* The new file takes the old one's place, unless that has changed meanwhile; one that
 * was not there is read by the session from now on. */
int aw_layer_file_replace(
	struct aw_layer_file *file, struct aw_run *run, struct aw_error *err);

/* Takes the new file away if it is still beside the old one. */
void aw_layer_file_release(struct aw_layer_file *file);

#endif
